package acceptance_test

import (
	"fmt"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// Every task of a shared browser holds each new page for a moment. The first resume lets it
// run, so a task leaves another's popups alone.
func TestM14_APopupsFirstDialogIsSeenAmongManyTasks(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chromiumtest.Launch(t))
	var asking *task
	for i := range 6 {
		k := r.task(messages.TaskID(fmt.Sprintf("m14-%d", i)))
		if i == 2 {
			asking = k
		}
	}
	asking.goTo("http://a.test/popup")
	opener := asking.snapshot().PageTargetID
	for i := range 8 {
		asking.later("", "openChild()")
		d := asking.dialog()
		if d.Message != "who?" || d.TargetID == opener {
			t.Fatalf("round %d: %+v", i, d)
		}
		if _, err := r.node.Respond(r.ctx, asking.id, messages.DialogAnswer{Action: "accept", DialogID: d.ID}); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		// Same site, same process: the opener waits with its popup.
		if got, err := evalOn(r.ctx, r.node, asking.id, messages.CDPRequest{TargetID: opener}, "child.got"); err != nil || got != `"unknown"` {
			t.Fatalf("round %d: the popup received %s, %v", i, got, err)
		}
		if _, err := evalOn(r.ctx, r.node, asking.id, messages.CDPRequest{TargetID: opener}, "child.close()"); err != nil {
			t.Fatal(err)
		}
		asking.await("the popup to be gone", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
	}
}

// Any client that looks at the frames of a page takes those away that are held for
// another (C33): such a frame would not load, nor would its page.
func TestC33_AFrameThatAnotherClientTearsFromTheTaskLoads(t *testing.T) {
	t.Parallel()
	k := setup(t).task("torn")
	k.site.Set("/four", `<title>/four</title><iframe src="http://b.test/prompt"></iframe><iframe src="http://c.test/oopif-prompt"></iframe><iframe src="http://d.test/plain"></iframe>`)
	w, session := k.witness(k.snapshot().PageTargetID)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = w.Call(session, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true})
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	for range 5 {
		k.goTo("http://a.test/four")
		f := k.frame("/prompt")
		if got := k.eval(f.FrameID, "document.readyState"); got != `"complete"` {
			t.Errorf("the frame is %s", got)
		}
		k.goTo("http://a.test/plain")
	}
}
