package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
)

// TestTheEndOfALostDialogIsNotTheNextOnes: both links fell while a dialog stood
// open. The links that come tell of its end, each at its own pace, and one of
// them does so after the other has told of the page's next dialog.
func TestTheEndOfALostDialogIsNotTheNextOnes(t *testing.T) {
	t.Parallel()
	m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), messages.DialogMemory{})
	now := time.Unix(1000, 0)
	var closed []messages.DialogID
	var pending []messages.Dialog
	step := func(in any) {
		for _, e := range slices.Clone(m.Step(now, in)) {
			if e, ok := e.(dialog.ToSupervisor); ok {
				if c, ok := e.Msg.(messages.DialogsChanged); ok {
					pending = c.Pending
					if c.Closed != nil {
						closed = append(closed, c.Closed.ID)
					}
				}
			}
		}
	}
	roles := []messages.Role{messages.RolePrimary, messages.RoleAnchor}
	session := func(r messages.Role, gen messages.Generation) messages.SessionID {
		return messages.SessionID([]string{"P", "A"}[r] + string('0'+rune(gen)))
	}
	watch := func(gen messages.Generation) {
		for _, r := range roles {
			step(messages.PageWatched{Role: r, Gen: gen, Page: "T", Session: session(r, gen)})
			step(messages.PageCovered{Role: r, Gen: gen, Page: "T", Session: session(r, gen)})
		}
	}
	opened := func(r messages.Role, gen messages.Generation, text string) {
		step(messages.DialogOpened{Role: r, Gen: gen, Session: session(r, gen), Page: "T", Frame: "T", Type: "alert", Message: text})
	}
	over := func(r messages.Role, gen messages.Generation) {
		step(messages.DialogClosed{Role: r, Gen: gen, Session: session(r, gen), Page: "T", Frame: "T"})
	}

	step(dialog.Start{})
	watch(1)
	opened(messages.RolePrimary, 1, "first")
	opened(messages.RoleAnchor, 1, "first")
	for _, r := range roles {
		step(messages.LinkLost{Role: r, Gen: 1})
	}
	if !slices.Equal(closed, []messages.DialogID{"d-1"}) {
		t.Fatalf("closed %v", closed)
	}
	watch(2)
	over(messages.RolePrimary, 2) // somebody answers the first at the screen,
	opened(messages.RolePrimary, 2, "second")
	over(messages.RoleAnchor, 2) // and the anchor is slower
	opened(messages.RoleAnchor, 2, "second")
	if len(closed) != 1 || len(pending) != 1 || pending[0].ID != "d-2" || pending[0].Message != "second" {
		t.Fatalf("closed %v, pending %+v", closed, pending)
	}
	over(messages.RolePrimary, 2)
	over(messages.RoleAnchor, 2)
	if !slices.Equal(closed, []messages.DialogID{"d-1", "d-2"}) || len(pending) != 0 {
		t.Errorf("closed %v, pending %+v", closed, pending)
	}
}

// TestALinkThatIsNotKnownToListenTellsLate: the main frame hangs, so the primary's
// Page.enable works and is not answered (C22). An iframe of another process asks,
// the anchor tells of that and of its end, and then the primary does.
func TestALinkThatIsNotKnownToListenTellsLate(t *testing.T) {
	t.Parallel()
	m := dialog.NewMachine(messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept}.WithDefaults(), messages.DialogMemory{})
	var opened, closed []messages.DialogID
	step := func(in any) {
		for _, e := range slices.Clone(m.Step(time.Unix(1000, 0), in)) {
			if e, ok := e.(dialog.ToSupervisor); ok {
				if c, ok := e.Msg.(messages.DialogsChanged); ok {
					if c.Opened != nil {
						opened = append(opened, c.Opened.ID)
					}
					if c.Closed != nil {
						closed = append(closed, c.Closed.ID)
					}
				}
			}
		}
	}
	asks := func(r messages.Role, s messages.SessionID) {
		step(messages.DialogOpened{Role: r, Gen: 1, Session: s, Page: "T", Frame: "F", Type: "alert", Message: "again"})
	}
	over := func(r messages.Role, s messages.SessionID) {
		step(messages.DialogClosed{Role: r, Gen: 1, Session: s, Page: "T", Frame: "F", Accepted: true})
	}
	step(dialog.Start{})
	step(messages.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"})
	step(messages.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
	step(messages.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
	for n := 1; n <= 2; n++ { // the second looks the same
		asks(messages.RoleAnchor, "A")
		over(messages.RoleAnchor, "A")
		asks(messages.RolePrimary, "P")
		over(messages.RolePrimary, "P")
		if len(opened) != n || len(closed) != n {
			t.Fatalf("after %d dialogs: opened %v, closed %v", n, opened, closed)
		}
	}
	// Of a third the primary tells first.
	asks(messages.RolePrimary, "P")
	asks(messages.RoleAnchor, "A")
	over(messages.RoleAnchor, "A")
	over(messages.RolePrimary, "P")
	if len(opened) != 3 || len(closed) != 3 {
		t.Errorf("opened %v, closed %v", opened, closed)
	}
}

// TestTheNextDialogAfterAFailureCanBeAnswered: the end of a dialog was in the
// mailbox of an actor that failed. The page's next one is not taken for a second
// one at once, which nobody could answer (C14).
func TestTheNextDialogAfterAFailureCanBeAnswered(t *testing.T) {
	t.Parallel()
	var memory messages.DialogMemory
	var pending []messages.Dialog
	var closed []messages.ClosedDialog
	run := func(m *dialog.Machine, inputs ...any) {
		for _, in := range inputs {
			for _, e := range slices.Clone(m.Step(time.Unix(1000, 0), in)) {
				if e, ok := e.(dialog.ToSupervisor); ok {
					c, ok := e.Msg.(messages.DialogsChanged)
					if !ok {
						t.Fatalf("the supervisor is told %+v", e.Msg)
					}
					memory, pending = c.Memory, c.Pending
					if c.Closed != nil {
						closed = append(closed, *c.Closed)
					}
				}
			}
		}
	}
	opened := func(frame messages.FrameID, text string) messages.DialogOpened {
		return messages.DialogOpened{Role: messages.RolePrimary, Gen: 1, Session: "P", Page: "T", Frame: frame, Type: "alert", Message: text}
	}
	watched := messages.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"}
	covered := messages.PageCovered{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"}
	spec := messages.TaskSpec{}.WithDefaults()

	run(dialog.NewMachine(spec, memory), dialog.Start{}, watched, covered, opened("F", "first"))
	run(dialog.NewMachine(spec, memory), dialog.Start{}, watched, covered, opened("T", "second"))
	if len(pending) != 1 || pending[0].Message != "second" {
		t.Errorf("pending %+v", pending)
	}
	if len(closed) != 1 || closed[0].ID != "d-1" || closed[0].ClosedBy != messages.ClosedByRemote {
		t.Errorf("closed %+v", closed)
	}
}
