package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestTheEndOfALostDialogIsNotTheNextOnes: both links fell while a dialog stood
// open. The links that come tell of its end, each at its own pace, and one of
// them does so after the other has told of the page's next dialog.
func TestTheEndOfALostDialogIsNotTheNextOnes(t *testing.T) {
	t.Parallel()
	m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
	now := time.Unix(1000, 0)
	var closed []messages.DialogID
	var pending []messages.Dialog
	step := func(in any) {
		for _, e := range slices.Clone(m.Step(now, in)) {
			if e, ok := e.(dialog.ToSupervisor); ok {
				if c, ok := e.Msg.(mail.DialogsChanged); ok {
					pending = c.Pending
					if c.Closed != nil {
						closed = append(closed, c.Closed.ID)
					}
				}
			}
		}
	}
	roles := []messages.Role{messages.RolePrimary, messages.RoleAnchor}
	session := func(r messages.Role, gen mail.Generation) messages.SessionID {
		return messages.SessionID([]string{"P", "A"}[r] + string('0'+rune(gen)))
	}
	watch := func(gen mail.Generation) {
		for _, r := range roles {
			step(mail.PageWatched{Role: r, Gen: gen, Page: "T", Session: session(r, gen)})
			step(mail.PageCovered{Role: r, Gen: gen, Page: "T", Session: session(r, gen)})
		}
	}
	opened := func(r messages.Role, gen mail.Generation, text string) {
		step(mail.DialogOpened{Role: r, Gen: gen, Session: session(r, gen), Page: "T", Frame: "T", Type: "alert", Message: text})
	}
	over := func(r messages.Role, gen mail.Generation) {
		step(mail.DialogClosed{Role: r, Gen: gen, Session: session(r, gen), Page: "T", Frame: "T"})
	}

	step(dialog.Start{})
	watch(1)
	opened(messages.RolePrimary, 1, "first")
	opened(messages.RoleAnchor, 1, "first")
	for _, r := range roles {
		step(mail.LinkLost{Role: r, Gen: 1})
	}
	if !slices.Equal(closed, []messages.DialogID{"d-1"}) {
		t.Fatalf("closed %v", closed)
	}
	watch(2)
	over(messages.RolePrimary, 2) // a person answers the first at the screen,
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
	m := dialog.NewMachine(messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept}.WithDefaults(), mail.DialogMemory{})
	var opened, closed []messages.DialogID
	step := func(in any) {
		for _, e := range slices.Clone(m.Step(time.Unix(1000, 0), in)) {
			if e, ok := e.(dialog.ToSupervisor); ok {
				if c, ok := e.Msg.(mail.DialogsChanged); ok {
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
		step(mail.DialogOpened{Role: r, Gen: 1, Session: s, Page: "T", Frame: "F", Type: "alert", Message: "again"})
	}
	over := func(r messages.Role, s messages.SessionID) {
		step(mail.DialogClosed{Role: r, Gen: 1, Session: s, Page: "T", Frame: "F", IsAccepted: true})
	}
	step(dialog.Start{})
	step(mail.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"})
	step(mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
	step(mail.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "T", Session: "A"})
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

// TestTheNextDialogAfterAFailureCanBeAnswered: the end of a dialog was in the mailbox of an
// actor that failed. The page's next one is not taken for a second one at once, which could
// not be answered (C14).
func TestTheNextDialogAfterAFailureCanBeAnswered(t *testing.T) {
	t.Parallel()
	var memory mail.DialogMemory
	var pending []messages.Dialog
	var closed []messages.ClosedDialog
	run := func(m *dialog.Machine, inputs ...any) {
		for _, in := range inputs {
			for _, e := range slices.Clone(m.Step(time.Unix(1000, 0), in)) {
				if e, ok := e.(dialog.ToSupervisor); ok {
					c, ok := e.Msg.(mail.DialogsChanged)
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
	opened := func(frame messages.FrameID, text string) mail.DialogOpened {
		return mail.DialogOpened{Role: messages.RolePrimary, Gen: 1, Session: "P", Page: "T", Frame: frame, Type: "alert", Message: text}
	}
	watched := mail.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"}
	covered := mail.PageCovered{Role: messages.RolePrimary, Gen: 1, Page: "T", Session: "P"}
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

// TestALinkTellsLateOfWhatOpenedBeforeItWasKnownToListen: the primary has come
// back, and its renderer is free again at last. Before the answer to its
// Page.enable is heard of, the anchor has told of a dialog from beginning to end,
// and of the next.
func TestALinkTellsLateOfWhatOpenedBeforeItWasKnownToListen(t *testing.T) {
	t.Parallel()
	s := newTeller()
	s.watch(messages.RoleAnchor)
	s.cover(messages.RoleAnchor)
	s.watch(messages.RolePrimary)
	s.asks(messages.RoleAnchor, "first")
	s.over(messages.RoleAnchor)
	s.asks(messages.RoleAnchor, "second")
	s.cover(messages.RolePrimary)
	s.asks(messages.RolePrimary, "first")
	s.over(messages.RolePrimary)
	s.asks(messages.RolePrimary, "second")
	if len(s.opened) != 2 || len(s.closed) != 1 {
		t.Fatalf("opened %v, closed %v", s.opened, s.closed)
	}
	s.over(messages.RolePrimary)
	s.over(messages.RoleAnchor)
	if len(s.opened) != 2 || len(s.closed) != 2 {
		t.Errorf("opened %v, closed %v", s.opened, s.closed)
	}
}

// TestALinkMayTellLateOfSeveral: what it tells of belatedly takes nothing from the
// next one, of which it tells belatedly too.
func TestALinkMayTellLateOfSeveral(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{"one", "other"}, {"same", "same"}} {
		s := newTeller()
		s.watch(messages.RoleAnchor)
		s.cover(messages.RoleAnchor)
		s.watch(messages.RolePrimary)
		for _, role := range []messages.Role{messages.RoleAnchor, messages.RolePrimary} {
			for _, text := range texts {
				s.asks(role, text)
				s.over(role)
			}
		}
		if len(s.opened) != 2 || len(s.closed) != 2 {
			t.Errorf("%v: opened %v, closed %v", texts, s.opened, s.closed)
		}
	}
}

// TestALinkMayBeKnownBeforeItTellsLate: the dialog actor has failed, and the anchor
// says to the new one that it listens before it tells of a dialog that the primary has
// told of already. That takes nothing from the next one, which looks the same.
func TestALinkMayBeKnownBeforeItTellsLate(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3} {
		for name, open := range map[string]bool{"the last stands open": true, "all are over": false} {
			s := newTeller()
			for _, role := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
				s.watch(role)
				s.cover(role)
			}
			s.restart()
			s.cover(messages.RolePrimary)
			s.asks(messages.RolePrimary, "same")
			s.cover(messages.RoleAnchor)
			for range n - 1 {
				s.over(messages.RolePrimary)
				s.asks(messages.RolePrimary, "same")
			}
			if !open {
				s.over(messages.RolePrimary)
			}
			closed := len(s.closed)
			for range n - 1 {
				s.asks(messages.RoleAnchor, "same")
				s.over(messages.RoleAnchor)
			}
			s.asks(messages.RoleAnchor, "same")
			if len(s.opened) != n || len(s.closed) != closed {
				t.Fatalf("%d, %s: opened %v, closed %v, %d before", n, name, s.opened, s.closed, closed)
			}
			s.over(messages.RoleAnchor)
			if len(s.closed) != n {
				t.Errorf("%d, %s: closed %v", n, name, s.closed)
			}
		}
	}
}

// TestBothLinksMayListenUnknown: the page's main frame hangs, so that neither link's
// Page.enable is answered, and both tell of what an iframe of another process asks
// (C22).
func TestBothLinksMayListenUnknown(t *testing.T) {
	t.Parallel()
	for _, first := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
		second := messages.Roles - 1 - first
		s := newTeller()
		s.watch(messages.RoleAnchor)
		s.watch(messages.RolePrimary)
		for n := 1; n <= 2; n++ {
			s.now = s.now.Add(time.Minute)
			for _, role := range []messages.Role{first, second} {
				s.asks(role, "same")
				s.over(role)
			}
			if len(s.opened) != n || len(s.closed) != n {
				t.Fatalf("role %d first: opened %v, closed %v", first, s.opened, s.closed)
			}
		}
	}
}

// TestTheEndOfADialogThatNobodyToldOfIsNotTheNextOnes: a dialog stood open when both links
// came, and neither had its opening. When a person at the screen ends it, the page asks
// again at once, and one link reports all that before the other does.
func TestTheEndOfADialogThatNobodyToldOfIsNotTheNextOnes(t *testing.T) {
	t.Parallel()
	for _, first := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
		second := messages.Roles - 1 - first
		for name, told := range map[string]func(*teller){
			"while the next one is open": func(*teller) {},
			"after the next one":         func(s *teller) { s.over(first) },
		} {
			s := newTeller()
			s.watch(messages.RolePrimary)
			s.watch(messages.RoleAnchor)
			s.over(first)
			s.asks(first, "next")
			told(s)
			closed := len(s.closed)
			s.over(second)
			if len(s.closed) != closed {
				t.Fatalf("%s, role %d first: closed %v by what was not its end", name, first, s.closed)
			}
			s.asks(second, "next")
			s.over(first)
			s.over(second)
			if len(s.opened) != 1 || len(s.closed) != 1 {
				t.Errorf("%s, role %d first: opened %v, closed %v", name, first, s.opened, s.closed)
			}
		}
	}
}

// TestALinkThatCameUnderADialogTellsOfTheNextFirst: it tells of the end of the one
// and of the next before the other link does, which is no second one at once (C14).
func TestALinkThatCameUnderADialogTellsOfTheNextFirst(t *testing.T) {
	t.Parallel()
	for _, first := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
		second := messages.Roles - 1 - first
		for _, falls := range []bool{false, true} {
			s := newTeller()
			s.watch(second)
			s.cover(second)
			s.asks(second, "one")
			s.watch(first)
			s.cover(first)
			s.over(first)
			if falls {
				s.step(mail.LinkLost{Role: second, Gen: 1})
			}
			s.asks(first, "other")
			if !falls {
				s.over(second)
				s.asks(second, "other")
			}
			if len(s.opened) != 2 || !slices.Equal(s.closed, []messages.DialogID{"d-1"}) || s.by[0] == messages.ClosedByLost {
				t.Errorf("role %d first, the other falls %t: opened %v, closed %v by %v", first, falls, s.opened, s.closed, s.by)
			}
		}
	}
}

// TestWhatALinkNeverToldIsNotTakenForItsNext: a dialog came and went before the
// primary's session listened. Long after, one that looks the same is announced by
// the primary first, and is a dialog of its own.
func TestWhatALinkNeverToldIsNotTakenForItsNext(t *testing.T) {
	t.Parallel()
	s := newTeller()
	s.watch(messages.RoleAnchor)
	s.cover(messages.RoleAnchor)
	s.watch(messages.RolePrimary)
	s.asks(messages.RoleAnchor, "same")
	s.over(messages.RoleAnchor)
	s.cover(messages.RolePrimary)
	s.now = s.now.Add(time.Minute)
	s.asks(messages.RolePrimary, "same")
	if want := []messages.DialogID{"d-1", "d-2"}; !slices.Equal(s.opened, want) {
		t.Errorf("opened %v, want %v", s.opened, want)
	}
}

// TestWhoTakesAFailedActorsPlaceKnowsWhoLooksOn: one link tells of a dialog from
// beginning to end before the other has said again that it looks on.
func TestWhoTakesAFailedActorsPlaceKnowsWhoLooksOn(t *testing.T) {
	t.Parallel()
	for _, first := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
		second := messages.Roles - 1 - first
		s := newTeller()
		for role := range messages.Roles {
			s.watch(role)
			s.cover(role)
		}
		s.restart()
		s.watch(first)
		s.cover(first)
		s.asks(first, "late")
		s.over(first)
		s.watch(second)
		s.cover(second)
		s.asks(second, "late")
		s.over(second)
		if want := []messages.DialogID{"d-1"}; !slices.Equal(s.opened, want) || !slices.Equal(s.closed, want) {
			t.Errorf("role %d first: opened %v, closed %v", first, s.opened, s.closed)
		}
	}
}

// TestWhoTakesAFailedActorsPlaceKnowsWhatWasTold: both links have told of a dialog.
// The next one looks the same, and is another.
func TestWhoTakesAFailedActorsPlaceKnowsWhatWasTold(t *testing.T) {
	t.Parallel()
	for _, closed := range []int{0, 1, 2} { // so many links have told of its end, too
		s := newTeller()
		for role := range messages.Roles {
			s.watch(role)
			s.cover(role)
		}
		for role := range messages.Roles {
			s.asks(role, "same")
		}
		for role := range messages.Roles {
			if int(role) == closed {
				s.restart()
			}
			s.over(role)
		}
		if closed == int(messages.Roles) {
			s.restart()
		}
		s.step(mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
		s.asks(messages.RoleAnchor, "same")
		if want := []messages.DialogID{"d-1", "d-2"}; !slices.Equal(s.opened, want) {
			t.Errorf("%d: opened %v, want %v", closed, s.opened, want)
		}
	}
}

// TestTheEndOfWhatFollowsALostEndIsItsOwn: the end of a dialog was in the mailbox of
// an actor that failed, and the frame asks again. What ends next is that.
func TestTheEndOfWhatFollowsALostEndIsItsOwn(t *testing.T) {
	t.Parallel()
	s := newTeller()
	s.watch(messages.RolePrimary)
	s.cover(messages.RolePrimary)
	s.asks(messages.RolePrimary, "same")
	s.restart()
	s.asks(messages.RolePrimary, "same")
	s.over(messages.RolePrimary)
	if want := []messages.DialogID{"d-1", "d-2"}; !slices.Equal(s.opened, want) || !slices.Equal(s.closed, want) {
		t.Errorf("opened %v, closed %v", s.opened, s.closed)
	}
}

// TestWhoTakesAFailedActorsPlaceKnowsBothWays: what one link tells of can be
// answered by the other at once, which was there when it opened.
func TestWhoTakesAFailedActorsPlaceKnowsBothWays(t *testing.T) {
	t.Parallel()
	s := newTeller()
	for role := range messages.Roles {
		s.watch(role)
		s.cover(role)
	}
	s.restart()
	s.asks(messages.RolePrimary, "both")
	if len(s.memory.Open) != 1 || len(s.memory.Open[0].Ways) != int(messages.Roles) {
		t.Errorf("open %+v", s.memory.Open)
	}
}
