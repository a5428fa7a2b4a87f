package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// doomBench is a machine whose one page both links watch, and what it has said.
type doomBench struct {
	m      *dialog.Machine
	now    time.Time
	probes []mail.ProbeDialog
	moves  []mail.MovePage
	doomed []mail.PageDoomed
	closed []messages.ClosedDialog
	memory mail.DialogMemory
	order  []string // of what the supervisor is told
	left   bool
	timer  string
}

func newDoomBench(policy messages.DialogPolicy, memory mail.DialogMemory) *doomBench {
	b := &doomBench{m: dialog.NewMachine(messages.TaskSpec{DialogPolicy: policy, DialogTimeoutS: 60}, memory), now: time.Unix(1000, 0), memory: memory}
	b.step(dialog.Start{})
	for role, session := range []messages.SessionID{"P", "A"} {
		b.step(mail.PageWatched{Role: messages.Role(role), Gen: 1, Page: "T", Session: session})
		b.step(mail.PageCovered{Role: messages.Role(role), Gen: 1, Page: "T", Session: session})
	}
	return b
}

func (b *doomBench) step(in any) {
	for _, e := range slices.Clone(b.m.Step(b.now, in)) {
		switch e := e.(type) {
		case dialog.ProbeSession:
			b.probes = append(b.probes, e.Msg)
		case dialog.MoveSession:
			b.moves = append(b.moves, e.Msg)
		case dialog.Arm:
			b.timer = e.Name
		case dialog.ToSupervisor:
			switch msg := e.Msg.(type) {
			case mail.PageDoomed:
				b.doomed = append(b.doomed, msg)
				b.order = append(b.order, "doomed")
			case mail.DialogsChanged:
				b.memory = msg.Memory
				if msg.Closed != nil {
					b.closed = append(b.closed, *msg.Closed)
					b.order = append(b.order, string(msg.Closed.ClosedBy))
				}
			case dialog.Left:
				b.left = true
			}
		}
	}
}

var (
	inactive = messages.Errorf(messages.CodeCDPError, "Not attached to an active page")
	active   = messages.Errorf(messages.CodeCDPError, "No entry with passed id")
)

// A dialog that no answer reaches is lost at once, whether a policy finds it out or a
// probe, and its page is moved on while the supervisor keeps every session on it (C58).
func TestADoomedDialogIsLostAndItsPageMovedOn(t *testing.T) {
	t.Parallel()
	for policy, find := range map[messages.DialogPolicy]any{
		messages.PolicyMustRespond: mail.DialogProbed{Dialog: "d-1", Session: "P", Page: "T", Err: inactive},
		messages.PolicyAutoAccept:  mail.DialogHandled{Dialog: "d-1", Session: "P", Err: inactive},
		messages.PolicyAutoDismiss: mail.DialogHandled{Dialog: "d-1", Session: "P", Err: inactive},
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			b := newDoomBench(policy, mail.DialogMemory{})
			b.step(openedAtPrimary)
			if !b.memory.Open[0].IsUnproved {
				t.Error("the page may be left before it is known whether the dialog is doomed")
			}
			b.step(find)
			if !slices.Equal(b.order, []string{"doomed", "lost"}) {
				t.Fatalf("told %v", b.order)
			}
			if len(b.moves) != 1 || b.moves[0] != (mail.MovePage{Session: "P", Page: "T"}) {
				t.Fatalf("moves %+v", b.moves)
			}
			b.probes = nil
			b.step(mail.PageMoved{Session: "P", Page: "T"})
			if len(b.probes) != 1 || b.probes[0].Dialog != "" {
				t.Fatalf("it is not asked whether the next document is there: %+v", b.probes)
			}
			b.step(mail.DialogProbed{Session: "P", Page: "T", Err: inactive})
			if len(b.doomed) != 1 {
				t.Fatal("the page may be left before its next document is there")
			}
			b.step(dialog.TimerFired{Name: b.timer})
			b.step(mail.DialogProbed{Session: "P", Page: "T", Err: active})
			if len(b.doomed) != 2 || b.doomed[1].Is {
				t.Errorf("told %+v", b.doomed)
			}
		})
	}
}

func TestAProbedDialogThatIsNotDoomedWaits(t *testing.T) {
	t.Parallel()
	b := newDoomBench(messages.PolicyMustRespond, mail.DialogMemory{})
	b.step(openedAtPrimary)
	b.step(mail.DialogProbed{Dialog: "d-1", Session: "P", Page: "T", Err: active})
	if len(b.closed)+len(b.doomed)+len(b.moves) != 0 || b.memory.Open[0].IsUnproved {
		t.Errorf("closed %+v, doomed %+v, open %+v", b.closed, b.doomed, b.memory.Open)
	}
}

// A task does not end before the page of a doomed dialog has been moved on.
func TestLeavingWaitsForADoomedPage(t *testing.T) {
	t.Parallel()
	b := newDoomBench(messages.PolicyMustRespond, mail.DialogMemory{})
	b.step(openedAtPrimary)
	b.step(dialog.Leave{})
	b.step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: inactive})
	if b.left {
		t.Fatal("the page is left with its doomed dialog")
	}
	b.step(mail.PageMoved{Session: "P", Page: "T"})
	b.step(mail.DialogProbed{Session: "P", Page: "T", Err: active})
	if !b.left {
		t.Error("no session leaves")
	}
}

// What one link was asked the other is asked when that one falls, and an actor that takes
// the place of a failed one continues.
func TestADoomedPageIsMovedOnByWhoIsLeft(t *testing.T) {
	t.Parallel()
	b := newDoomBench(messages.PolicyAutoAccept, mail.DialogMemory{})
	b.step(openedAtPrimary)
	b.step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: inactive})
	b.step(mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
	if n := len(b.moves); n != 2 || b.moves[1].Session != "A" {
		t.Fatalf("moves %+v", b.moves)
	}
	again := newDoomBench(messages.PolicyAutoAccept, b.memory)
	if len(again.moves) != 1 || again.moves[0].Session != "A" {
		t.Fatalf("after a failure: %+v", again.moves)
	}
	again.step(mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
	again.step(mail.LinkLost{Role: messages.RoleAnchor, Gen: 1})
	if n := len(again.doomed); n == 0 || again.doomed[n-1].Is {
		t.Errorf("no session is left that could leave, and told was %+v", again.doomed)
	}
}

// A page that asks without end is closed, and so is one that the browser does not move.
func TestADoomedPageThatDoesNotMoveIsClosed(t *testing.T) {
	t.Parallel()
	isClosed := func(b *doomBench) bool {
		return slices.ContainsFunc(b.doomed, func(d mail.PageDoomed) bool { return d.MustClose })
	}
	t.Run("without end", func(t *testing.T) {
		t.Parallel()
		b := newDoomBench(messages.PolicyAutoAccept, mail.DialogMemory{})
		asks := func(n uint64) {
			t.Helper()
			if isClosed(b) {
				t.Fatalf("closed after %d", n-1)
			}
			b.step(openedAtPrimary)
			b.step(mail.DialogHandled{Dialog: messages.NewDialogID(n), Session: "P", Err: inactive})
			b.step(mail.DialogClosed{Role: messages.RolePrimary, Gen: 1, Session: "P", Page: "T", Frame: "T"})
		}
		// On a busy machine many come before the next document does.
		asks(1)
		n, end := uint64(1), b.now.Add(dialog.DoomedPatience)
		for ; b.now.Before(end); b.now = b.now.Add(100 * time.Millisecond) {
			n++
			asks(n)
		}
		asks(n + 1)
		if !isClosed(b) || n < 2*dialog.MaxDoomed || len(b.closed) != int(n)+1 {
			t.Errorf("told %+v of %d", b.doomed, len(b.closed))
		}
	})
	t.Run("few, for long", func(t *testing.T) {
		t.Parallel()
		b := newDoomBench(messages.PolicyAutoAccept, mail.DialogMemory{})
		for n := uint64(1); n <= dialog.MaxDoomed; n++ {
			b.step(openedAtPrimary)
			b.step(mail.DialogHandled{Dialog: messages.NewDialogID(n), Session: "P", Err: inactive})
			b.step(mail.DialogClosed{Role: messages.RolePrimary, Gen: 1, Session: "P", Page: "T", Frame: "T"})
			b.now = b.now.Add(dialog.DoomedPatience / 11)
		}
		if isClosed(b) {
			t.Errorf("told %+v", b.doomed)
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		b := newDoomBench(messages.PolicyAutoAccept, mail.DialogMemory{})
		b.step(openedAtPrimary)
		b.step(mail.DialogHandled{Dialog: "d-1", Session: "P", Err: inactive})
		for range 3 {
			b.step(mail.PageMoved{Session: b.moves[len(b.moves)-1].Session, Page: "T", Err: inactive})
		}
		if !isClosed(b) {
			t.Errorf("moves %+v, told %+v", b.moves, b.doomed)
		}
		if b.moves[1].Session != "A" {
			t.Errorf("the other link is not tried: %+v", b.moves)
		}
	})
}
