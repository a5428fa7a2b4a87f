package task_test

import (
	"reflect"
	"testing"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// shownToClients is what the clients of the gateway were shown last, nil where it was nothing.
func shownToClients(effects []step.Effect) (shown *step.ClientPages) {
	for _, e := range effects {
		if p, ok := e.(step.ClientPages); ok {
			shown = &p
		}
	}
	return shown
}

func closes(effects []step.Effect) (n int) {
	for _, e := range effects {
		if b, ok := e.(step.ToBrowser); ok {
			if _, ok := b.Msg.(mail.ClosePage); ok {
				n++
			}
		}
	}
	return n
}

// withClients is a task without an anchor, on which the gateway has clients.
func withClients(t *testing.T) *bench {
	b := attached(t)
	b.step(step.AnchorGaveUp{})
	b.step(mail.ClientsAttached{IsOn: true})
	return b
}

// wantShown fails the test unless the clients are told to keep off these pages.
func wantShown(t *testing.T, effects []step.Effect, off ...messages.TargetID) {
	t.Helper()
	if p := shownToClients(effects); p == nil || !reflect.DeepEqual(p.Off, off) {
		t.Fatalf("the clients are shown %+v, want to be off %v", p, off)
	}
}

func TestClientsLeaveBeforeARelease(t *testing.T) {
	t.Parallel()
	b := withClients(t)
	b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageDialogUnreachable})
	effects := b.step(mail.RecoverPage{Request: messages.RecoverRequest{Action: messages.RecoverRelease}})
	if n := releases(effects); n != 0 {
		t.Fatal("the page is released while clients are on it")
	}
	wantShown(t, effects, "P")
	if n := releases(b.step(mail.ClientsLeft{Page: "P"})); n != 1 {
		t.Fatalf("%d releases once they have left", n)
	}
	b.step(mail.TargetDetached{Gen: 1, Session: "S"})
	b.step(mail.TargetAttached{Gen: 1, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
	wantShown(t, b.step(mail.PageReleased{Gen: 1, Page: "P"}))
}

// TestClientsThatStay are waited for half a second, and no longer once they have gone.
func TestClientsThatStay(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]any{
		"too long": step.TimerFired{Name: "anchor:P"}, "and go": mail.ClientsAttached{},
	} {
		b := withClients(t)
		b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageDialogUnreachable})
		b.step(mail.RecoverPage{Request: messages.RecoverRequest{Action: messages.RecoverRelease}})
		if n := releases(b.step(end)); n != 1 {
			t.Errorf("%s: %d releases", what, n)
		}
	}
}

// TestClientsStayAtAnOrdinaryClose: they hear of it as of any page that closes.
func TestClientsStayAtAnOrdinaryClose(t *testing.T) {
	t.Parallel()
	b := withClients(t)
	effects := b.step(mail.ClosePage{Page: "P"})
	if shownToClients(effects) != nil || closes(effects) != 1 {
		t.Errorf("%+v", effects)
	}
}

// TestClientsLeaveBeforeTheEnd: a page that holds a dialog is closed with the task, which the
// clients' sessions on the same link would not survive, nor the browser (C15).
func TestClientsLeaveBeforeTheEnd(t *testing.T) {
	t.Parallel()
	u, err := messages.ParseCDPURL("ws://h/devtools/browser/b")
	if err != nil {
		t.Fatal(err)
	}
	for what, end := range map[string]any{
		"they leave": mail.ClientsLeft{Page: "P"}, "they stay": step.TimerFired{Name: "anchor"}, "they go": mail.ClientsAttached{},
	} {
		b := attachedAs(t, messages.TaskSpec{CDPURL: u, Scope: messages.ScopeOwn})
		b.step(step.AnchorGaveUp{})
		b.step(mail.ClientsAttached{IsOn: true})
		b.step(mail.PageUnreachable{Page: "P"})
		effects := b.step(mail.StopTask{ID: "t"})
		wantShown(t, effects, "P")
		if closes(effects) != 0 {
			t.Errorf("%s: it is closed before", what)
		}
		if n := closes(b.step(end)); n != 1 {
			t.Errorf("%s: %d closes", what, n)
		}
	}
}
