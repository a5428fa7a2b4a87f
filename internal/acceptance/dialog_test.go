package acceptance_test

import (
	"testing"

	"holdfast/messages"
)

func TestD8_TheFullLoopOnAPrompt(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d8")
	k.goTo("http://a.test/prompt")
	k.later("", "ask()")
	d := k.dialog()
	if d.Type != "prompt" || d.Message != "name?" || d.DefaultPrompt != "dflt" || d.ID != "d-1" {
		t.Fatalf("dialog %+v", d)
	}
	closed, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", PromptText: text("Ada")})
	if err != nil || closed.ClosedBy != messages.ClosedByAgent || closed.ID != d.ID {
		t.Fatalf("respond: %+v, %v", closed, err)
	}
	if got := k.eval("", "window.got"); got != `"Ada"` {
		t.Fatalf("the page received %s", got)
	}
}

func TestD18_ADialogOfAnOOPIF(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d18")
	k.goTo("http://a.test/oopif-prompt")
	f := k.frame("/prompt")
	if !f.IsOOPIF {
		t.Fatalf("not out of process: %+v", f)
	}
	k.later(f.FrameID, "ask()")
	d := k.dialog()
	if d.FrameID != f.FrameID || d.TargetID != k.snapshot().PageTargetID {
		t.Fatalf("dialog %+v of frame %+v", d, f)
	}
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", PromptText: text("x")}); err != nil {
		t.Fatal(err)
	}
	if got := k.eval(f.FrameID, "window.got"); got != `"x"` {
		t.Fatalf("the frame received %s", got)
	}
}
