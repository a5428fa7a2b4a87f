package acceptance_test

import (
	"testing"

	"holdfast/messages"
)

func bridged(s *messages.TaskSpec) { s.Bridge = messages.BridgeOn }

func TestD19_TheBridgeAnswersWithoutANativeDialog(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d19", bridged)
	for _, c := range []struct {
		typ, page, message, prompt, accepted, dismissed string
	}{
		{"alert", "/alert", "hello", "", `"returned"`, `"returned"`},
		{"confirm", "/confirm", "sure?", "", "true", "false"},
		{"prompt", "/prompt", "name?", "dflt", `"dflt"`, "null"},
	} {
		k.goTo("http://a.test" + c.page)
		for action, want := range map[string]string{"accept": c.accepted, "dismiss": c.dismissed} {
			k.later("", "ask()")
			d := k.dialog()
			s := k.snapshot()
			if d.Type != c.typ || d.Message != c.message || d.DefaultPrompt != c.prompt || d.Path != "bridge" {
				t.Errorf("dialog %+v", d)
			}
			if d.TargetID != s.PageTargetID || d.FrameID != s.FrameTree.Top.FrameID || d.SessionID != s.Pages[0].SessionID || s.PageState != messages.PageDialog {
				t.Errorf("dialog %+v on page %+v, %s", d, s.Pages[0], s.PageState)
			}
			if got := k.eval("", "1+1"); got != "2" {
				t.Errorf("a page that waits says %s", got)
			}
			k.respond(messages.DialogAnswer{Action: action})
			if got := k.eval("", "window.got"); got != want {
				t.Errorf("%s, %s: the page received %s, want %s", c.typ, action, got, want)
			}
		}
	}
}
