package acceptance_test

import (
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// A page that waits in the debugger stops the timers of its renderer (C47), which frames of
// one site share (C59). A call that awaits one there ends by its deadline, which says why:
// the task's own dialog, or that there is one elsewhere.
func TestC59_ADeadlineNamesAPauseInTheSameRenderer(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chromiumtest.Launch(t))
	shared := func(s *messages.TaskSpec) { s.Isolation = messages.IsolationShared }
	asks, waits := r.task("asks", bridged, shared), r.task("waits", shared)
	asks.goTo("http://a.test/oopif-prompt")
	waits.goTo("http://c.test/plain")
	for _, k := range []*task{asks, waits} {
		k.eval("", "const more = document.createElement('iframe'); more.src = '"+r.site.URL("http://b.test/plain")+"'; document.body.append(more); 0")
	}
	timer := func(k *task, f messages.FrameID) error {
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{
			Method: "Runtime.evaluate", Params: []byte(`{"expression":"new Promise(done => setTimeout(done, 10))","awaitPromise":true}`), FrameID: f, TimeoutS: 2,
		})
		return err
	}
	asker, beside, elsewhere := asks.frame("/prompt").FrameID, asks.frame("/plain").FrameID, waits.frame("/plain").FrameID
	asks.later(asker, "ask()")
	asks.dialog()
	e := wantCode(t, timer(waits, elsewhere), messages.CodeDeadline)
	if e.Details["page_state"] != messages.PageBlockedElsewhere || e.Details["pending_dialogs"] != nil || e.Sent != messages.SentYes {
		t.Errorf("of another task's dialog the deadline says %v, %v", e, e.Details)
	}
	e = wantCode(t, timer(asks, beside), messages.CodeDeadline)
	if dialogs, _ := e.Details["pending_dialogs"].([]messages.Dialog); len(dialogs) != 1 || dialogs[0].FrameID != asker {
		t.Errorf("of the task's own dialog the deadline says %v, %v", e, e.Details)
	}
	if _, err := asks.node.Respond(asks.ctx, asks.id, messages.DialogAnswer{Action: "accept"}); err != nil {
		t.Fatal(err)
	}
	if err := timer(waits, elsewhere); err != nil {
		t.Errorf("once it is answered: %v", err)
	}
}
