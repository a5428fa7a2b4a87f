package house

import (
	"strings"
	"testing"

	"holdfast/transport/quirks"
)

// Chrome's error texts and its lists of methods by behaviour change with Chrome. They
// stand in one package, so that a change there is a change in one place.
func TestChromesTextsStandInQuirks(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if strings.HasPrefix(s.name, "transport/quirks/") || !isProduction(s.name) {
			continue
		}
		for _, text := range quirks.Texts() {
			if strings.Contains(s.text, text) {
				t.Errorf("%s knows Chrome's text %q: it belongs in transport/quirks", s.name, text)
			}
		}
	}
}

// isProduction reports whether the file is part of a node, not of what tests stand on.
func isProduction(name string) bool {
	if strings.HasPrefix(name, "actors/session/sessiontest/") {
		return false // it plays Chrome in the tests of machines
	}
	for _, dir := range []string{"actors/", "cmd/", "messages/", "metrics/", "transport/", "internal/node/", "internal/api/", "internal/guard/", "internal/rawcdp/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}
