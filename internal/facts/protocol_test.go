package facts_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/rawcdp"
)

// Rule: task and tenant tokens run what is on a list, method by method. What
// Chromium has that is not on it is refused to them, and is to be decided here.
func TestEveryMethodOfChromiumIsDecided(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(chromiumtest.Shared(t).WS())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + u.Host + "/json/protocol") //nolint:noctx // a test's own browser
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var protocol struct {
		Domains []struct {
			Domain   string
			Commands []struct{ Name string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&protocol); err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, d := range protocol.Domains {
		for _, c := range d.Commands {
			if known++; rawcdp.Of(d.Domain+"."+c.Name) == "" {
				t.Errorf("%s.%s has no decision: add it to internal/rawcdp/decisions.txt", d.Domain, c.Name)
			}
		}
	}
	if known < 500 {
		t.Errorf("Chromium tells of %d methods: that is not its protocol", known)
	}
}
