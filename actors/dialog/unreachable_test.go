package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Who waits for a page to be well again after its dialog was lost must not find
// it so before it was said to be unreachable.
func TestAPageIsUnreachableBeforeItsDialogIsLost(t *testing.T) {
	t.Parallel()
	opened := func(frame messages.FrameID) mail.DialogOpened {
		return mail.DialogOpened{Gen: 1, Session: "S", Page: "T", Frame: frame, Type: "alert", Message: string(frame)}
	}
	for name, last := range map[string]any{
		"its frame is removed":         mail.FramesRemoved{Page: "T", Frames: []messages.FrameID{"F"}},
		"it is the second one at once": opened("T"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
			now := time.Unix(1000, 0)
			m.Step(now, dialog.Start{})
			m.Step(now, mail.PageWatched{Gen: 1, Page: "T", Session: "S"})
			m.Step(now, opened("F"))
			var told []string
			for _, e := range m.Step(now, last) {
				if e, ok := e.(dialog.ToSupervisor); ok {
					switch msg := e.Msg.(type) {
					case mail.PageUnreachable:
						told = append(told, "unreachable")
					case mail.DialogsChanged:
						if msg.Closed != nil {
							told = append(told, string(msg.Closed.ClosedBy))
						}
					}
				}
			}
			if !slices.Equal(told, []string{"unreachable", "lost"}) {
				t.Errorf("told %v", told)
			}
		})
	}
}

// The primary that comes back under an iframe's dialog has not told of its opening. When the page
// then navigates, it may tell of the end and of the removal before the anchor tells of the end.
func TestADialogWhoseEndWasToldIsNotLostWithItsFrame(t *testing.T) {
	t.Parallel()
	const frame = messages.FrameID("F")
	step := anchored(messages.PolicyMustRespond)
	step(mail.DialogOpened{Role: messages.RoleAnchor, Gen: 1, Session: "A", Page: "T", Frame: frame, Type: "alert"})
	step(mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
	step(mail.PageWatched{Role: messages.RolePrimary, Gen: 2, Page: "T", Session: "P2"})
	step(mail.PageCovered{Role: messages.RolePrimary, Gen: 2, Page: "T", Session: "P2"})
	step(mail.DialogClosed{Role: messages.RolePrimary, Gen: 2, Session: "P2", Page: "T", Frame: frame})
	_, closed := step(mail.FramesRemoved{Gen: 2, Page: "T", Frames: []messages.FrameID{frame}})
	if len(closed) != 1 || closed[0].ClosedBy != messages.ClosedByRemote {
		t.Errorf("closed %+v", closed)
	}
}

// A page that hangs lets no Page.enable be answered: whether the anchor hears of what opens is known
// only as it tells of it. By then the second of two dialogs at once is lost (C14).
func TestALinkThatTellsLateOfALostDialogTellsOfNoOther(t *testing.T) {
	t.Parallel()
	m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
	now := time.Unix(1000, 0)
	var opened []messages.DialogID
	step := func(in any) {
		for _, e := range m.Step(now, in) {
			if e, ok := e.(dialog.ToSupervisor); ok {
				if c, ok := e.Msg.(mail.DialogsChanged); ok && c.Opened != nil {
					opened = append(opened, c.Opened.ID)
				}
			}
		}
	}
	step(dialog.Start{})
	step(mail.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"})
	step(mail.PageCovered{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"})
	step(mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
	for role, session := range []messages.SessionID{"P", "A"} {
		for _, frame := range []messages.FrameID{"T", "F"} {
			step(mail.DialogOpened{Role: messages.Role(role), Gen: 1, Session: session, Page: "T", Frame: frame, Type: "confirm", Message: string(frame)})
		}
		step(mail.DialogClosed{Role: messages.Role(role), Gen: 1, Session: session, Page: "T", Frame: "T"})
	}
	if !slices.Equal(opened, []messages.DialogID{"d-1", "d-2"}) {
		t.Errorf("opened %v", opened)
	}
}
