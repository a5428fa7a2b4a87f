package dialog_test

import (
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// standingBy is the machine of a standby: an anchor has seen the page from the begin, and the node may
// not decide.
func standingBy(t *testing.T, policy messages.DialogPolicy) *leased {
	now := time.Unix(1000, 0)
	l := &leased{T: t, m: dialog.NewMachine(messages.TaskSpec{DialogPolicy: policy, DialogTimeoutS: 60}, mail.DialogMemory{LapsedAt: now}), now: now}
	l.step(dialog.Start{})
	l.step(mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
	l.step(mail.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
	return l
}

func opensAt(frame messages.FrameID, text string) mail.DialogOpened {
	return mail.DialogOpened{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: frame, Type: messages.DialogConfirm, Message: text}
}

// TestInheritedDialogsKeepTheirIDs: what a caller knows under an id is answered under it, once.
func TestInheritedDialogsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	l := standingBy(t, messages.PolicyMustRespond)
	for range 3 { // the task's node has answered them
		l.step(opensAt("F", "early"))
		l.step(mail.DialogClosed{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: "F"})
	}
	l.step(opensAt("F", "pay?"))
	l.after(20 * time.Second)
	at := messages.SecondsOf(l.now.Add(-10 * time.Second))
	known := messages.Dialog{ID: "d-9", Type: messages.DialogConfirm, Message: "pay?", TargetID: "T", FrameID: "F", OpenedAt: at, ExpiresAt: messages.SecondsOf(l.now.Add(50 * time.Second))}
	l.step(mail.InheritDialogs{Open: []messages.Dialog{known}, Recent: []messages.ClosedDialog{{ID: "d-8", ClosedBy: messages.ClosedByAgent}}})
	if len(l.pending) != 1 || l.pending[0].ID != "d-9" || l.pending[0].OpenedAt != at || len(l.memory.Recent) != 1 || l.memory.Recent[0].ID != "d-8" {
		t.Fatalf("%+v, recent %+v", l.pending, l.memory.Recent)
	}
	outcomeOf := func(id messages.DialogID) error {
		got := make(chan error, 1)
		call := calls.Open(func(_ any, err error) { got <- err })
		l.step(mail.AnswerDialog{Answer: messages.DialogAnswer{DialogID: id, Action: messages.ActionAccept}, Reply: call})
		select {
		case err := <-got:
			return err
		default:
			return nil
		}
	}
	if err := outcomeOf("d-9"); messages.CodeOf(err) != messages.CodeLeaseLapsed {
		t.Errorf("without the lease: %v", err)
	}
	l.after(time.Second)
	if _, armed := l.step(mail.Lease{IsHeld: true}); armed["watchdog:d-9"] != 50*time.Second {
		t.Errorf("timers %v", armed)
	}
	// What the last node may have given out and no other has heard of is not said to be answered.
	if err := outcomeOf("d-10"); messages.CodeOf(err) != messages.CodeDialogNotFound {
		t.Errorf("an id that is not known: %v", err)
	}
	if err := outcomeOf("d-7"); messages.CodeOf(err) != messages.CodeDialogAlreadyAnswered {
		t.Errorf("an id of long ago: %v", err)
	}
	if err := outcomeOf("d-9"); err != nil {
		t.Error(err)
	}
	l.step(mail.DialogHandled{Dialog: "d-9", Session: "A"})
	if len(l.closed) == 0 || l.closed[len(l.closed)-1].ID != "d-9" || l.closed[len(l.closed)-1].ClosedBy != messages.ClosedByAgent {
		t.Errorf("%+v", l.closed)
	}
}

// TestInheritedDialogsThatAreOver: what the last node had told of and is open no more has closed by
// something that is not known; where this node cannot see, it is lost. One that opened behind the
// last word gets an id that was never used.
func TestInheritedDialogsThatAreOver(t *testing.T) {
	t.Parallel()
	l := standingBy(t, messages.PolicyMustRespond)
	l.step(opensAt("F", "new"))
	l.step(mail.InheritDialogs{Open: []messages.Dialog{
		{ID: "d-3", Type: messages.DialogAlert, Message: "closed", TargetID: "T", FrameID: "F"},
		{ID: "d-4", Type: messages.DialogAlert, Message: "unseen", TargetID: "U", FrameID: "U"},
	}})
	if len(l.pending) != 1 || l.pending[0].ID.Number() <= 4 {
		t.Errorf("%+v", l.pending)
	}
	by := map[messages.DialogID]messages.ClosedBy{}
	for _, c := range l.closed {
		by[c.ID] = c.ClosedBy
	}
	if by["d-3"] != messages.ClosedByRemote || by["d-4"] != messages.ClosedByLost {
		t.Errorf("%v", by)
	}
}

// TestAnInheritedDialogIsForThePolicy once the node may decide.
func TestAnInheritedDialogIsForThePolicy(t *testing.T) {
	t.Parallel()
	l := standingBy(t, messages.PolicyAutoDismiss)
	if sent, _ := l.step(opensAt("F", "go?")); sent != 0 {
		t.Fatal("a standby has answered")
	}
	l.step(mail.InheritDialogs{Open: []messages.Dialog{{ID: "d-1", Type: messages.DialogConfirm, Message: "go?", TargetID: "T", FrameID: "F"}}})
	if sent, _ := l.step(mail.Lease{IsHeld: true}); sent != 1 {
		t.Errorf("%d answers", sent)
	}
}
