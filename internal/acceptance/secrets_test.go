package acceptance_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdfast/messages"
)

// TestSecurity15_AddressesAndTitlesAreMasked: what a page's address and title hold is
// masked wherever the node tells of them, as texts are.
func TestSecurity15_AddressesAndTitlesAreMasked(t *testing.T) {
	t.Parallel()
	const canary = "canaryK3y0123456789"
	r := setup(t)
	r.site.Set("/secrets", `<!doctype html><title>password: `+canary+`</title><iframe src="/blank?client_secret=`+canary+`"></iframe>
		<script>console.error("plain")</script><button onclick="alert('plain')">x</button>`)
	r.site.Set("/blank", "<!doctype html>")
	k := r.task("secrets")
	plain := strings.Replace(k.site.URL("http://a.test/secrets?api_key="+canary+"&view=1#access_token="+canary), "://", "://user:"+canary+"@", 1)
	res, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: plain})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(res.URL, canary) || !strings.Contains(res.URL, "view=1") {
		t.Errorf("navigate says %s", res.URL)
	}
	k.later("", `console.error("later"); document.querySelector("button").click()`)
	s := k.await("a dialog, a title, a frame and an error", func(s *messages.Snapshot) bool {
		return len(s.PendingDialogs) == 1 && len(s.ConsoleErrors) > 0 && s.Pages[0].Title != "" && s.FrameTree != nil && len(s.FrameTree.Children) == 1
	})
	full, err := k.node.Snapshot(k.id, messages.SnapshotOptions{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	events, err := k.node.Changes(k.id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]any{"the snapshot": s, "the full one": full, "an event": events, "the list": k.node.Tasks()} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), canary) {
			t.Errorf("%s holds it: %s", what, b)
		}
	}
	if strings.Contains(r.log.String(), canary) {
		t.Error("the log holds it")
	}
	if s.Pages[0].Title != "password: ***" || !strings.Contains(s.Pages[0].URL, "view=1#access_token=***") {
		t.Errorf("%+v", s.Pages[0])
	}
	// The page itself has it all.
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept}); err != nil {
		t.Fatal(err)
	}
	if got := k.eval("", "location.href"); !strings.Contains(got, "api_key="+canary) {
		t.Errorf("the page is at %s", got)
	}
}
