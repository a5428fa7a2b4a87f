package messages_test

import (
	"strings"
	"testing"

	"holdfast/messages"
)

// TestSecurity22_AnUnknownFieldThatMayBeASecretIsNotRepeated: a credential may stand
// where a name belongs.
func TestSecurity22_AnUnknownFieldThatMayBeASecretIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, isRepeated := range map[string]bool{
		"cdpurl": true, "CDP_URL": true, "wait_until2": true, "TimeoutS": true,
		"sk-abcdefghijklmnopqrstuvwxyz": false, "hunter2 is it": false, "a1b2c3d4e5f6": false, "wss://u:p@h/": false,
		strings.Repeat("x", 41): false, "ghp_abcdefghijklmnop": false, "AKIAABCDEFGHIJKLMNOP": false, "é": false,
	} {
		var v struct{}
		err := messages.DecodeStrict(strings.NewReader(`{"`+name+`":1}`), &v)
		if messages.CodeOf(err) != messages.CodeInvalidArgument || strings.Contains(err.Error(), name) != isRepeated || !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
