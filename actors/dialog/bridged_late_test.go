package dialog_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// bridged is a machine with two links, on which calls are told of.
type bridged struct {
	t       *testing.T
	m       *dialog.Machine
	timers  map[string]bool
	pending []messages.Dialog
	recent  []messages.ClosedDialog
	memory  mail.DialogMemory
	orders  []mail.HandleDialog
}

func newBridged(t *testing.T, memory mail.DialogMemory) *bridged {
	t.Helper()
	b := &bridged{t: t, m: dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), memory), timers: map[string]bool{}}
	b.step(dialog.Start{})
	for _, r := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
		b.step(mail.PageWatched{Role: r, Gen: 1, Page: "P", Session: sessionOf(r)})
	}
	return b
}

func sessionOf(r messages.Role) messages.SessionID {
	return map[messages.Role]messages.SessionID{messages.RolePrimary: "primary", messages.RoleAnchor: "anchor"}[r]
}

func (b *bridged) step(in any) []dialog.Effect {
	effects := b.m.Step(time.Unix(1000, 0), in)
	for _, e := range effects {
		switch e := e.(type) {
		case dialog.Arm:
			b.timers[e.Name] = true
		case dialog.Disarm:
			delete(b.timers, e.Name)
		case dialog.ToSession:
			b.orders = append(b.orders, e.Msg)
		case dialog.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		case dialog.ToSupervisor:
			if c, ok := e.Msg.(mail.DialogsChanged); ok {
				b.pending, b.recent, b.memory = c.Pending, c.Memory.Recent, c.Memory
			}
		}
	}
	return effects
}

// fires has the grace of a dialog pass.
func (b *bridged) fires(id string) {
	if name := "wayless:" + id; b.timers[name] {
		delete(b.timers, name)
		b.step(dialog.TimerFired{Name: name})
	}
}

func (b *bridged) tell(r messages.Role) {
	b.step(mail.DialogOpened{
		Role: r, Gen: 1, Session: sessionOf(r), Page: "P", Frame: "P", Type: "confirm", Message: "m",
		Pause: mail.Pause{Key: "k", CallFrame: "1.1.0"},
	})
}

func (b *bridged) over(r messages.Role) {
	b.step(mail.BridgedOver{Role: r, Session: sessionOf(r), Key: "k"})
}

// is holds what is pending, and how the last dialog ended.
func (b *bridged) is(pending int, closed messages.ClosedBy) {
	b.t.Helper()
	var last messages.ClosedBy
	if n := len(b.recent); n > 0 {
		last = b.recent[n-1].ClosedBy
	}
	if len(b.pending) != pending || last != closed {
		b.t.Errorf("%d pending, the last closed by %q; want %d, %q", len(b.pending), last, pending, closed)
	}
}

func TestWhatIsSaidLateOfABridgedDialog(t *testing.T) {
	t.Parallel()
	t.Run("the slower link's word of what is over opens nothing", func(t *testing.T) {
		t.Parallel()
		b := newBridged(t, mail.DialogMemory{})
		b.tell(messages.RolePrimary)
		b.over(messages.RolePrimary)
		b.tell(messages.RoleAnchor)
		b.is(0, messages.ClosedByRemote)
		b.tell(messages.RolePrimary) // it asks again, and the faster one says so
		b.is(1, messages.ClosedByRemote)
	})
	t.Run("nor does that of a session that has ended", func(t *testing.T) {
		t.Parallel()
		b := newBridged(t, mail.DialogMemory{})
		b.step(mail.SessionGone{Role: messages.RolePrimary, Session: "primary"})
		b.tell(messages.RolePrimary)
		b.is(0, "")
	})
	t.Run("who hears of an end before the answer's outcome leaves it to that", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			err  error
			want messages.ClosedBy
		}{
			"given":   {nil, messages.ClosedByAgent},
			"unknown": {messages.Errorf(messages.CodeDeadline, "late"), messages.ClosedByRemote},
		} {
			b := newBridged(t, mail.DialogMemory{})
			b.tell(messages.RolePrimary)
			outcomes := 0
			b.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(any, error) { outcomes++ })})
			b.over(messages.RolePrimary)
			b.is(1, "")
			b.step(mail.DialogHandled{Dialog: "d-1", Session: "primary", Err: c.err})
			if b.is(0, c.want); outcomes != 1 {
				t.Errorf("%s: %d outcomes", name, outcomes)
			}
		}
	})
	t.Run("where a link stands, and nobody tells of it again, it is over and not lost", func(t *testing.T) {
		t.Parallel()
		b := newBridged(t, mail.DialogMemory{})
		b.tell(messages.RolePrimary)
		b.step(mail.SessionGone{Role: messages.RolePrimary, Session: "primary"})
		b.is(1, "")
		b.fires("d-1")
		b.is(0, messages.ClosedByRemote)
	})
	t.Run("a request that has not passed to the link that stands is lost, and has longer for it", func(t *testing.T) {
		t.Parallel()
		m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
		b := &bridged{t: t, m: m, timers: map[string]bool{}}
		for _, r := range []messages.Role{messages.RolePrimary, messages.RoleAnchor} {
			b.step(mail.PageWatched{Role: r, Gen: 1, Page: "P", Session: sessionOf(r)})
		}
		b.step(mail.DialogOpened{
			Role: messages.RolePrimary, Gen: 1, Session: "primary", Page: "P", Frame: "P", Type: "confirm", Message: "m",
			Pause: mail.Pause{Key: "k", Request: "job", Holder: messages.RolePrimary, HolderGen: 1},
		})
		armed := m.Step(time.Unix(1000, 0), mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
		if !slices.Contains(armed, dialog.Effect(dialog.Arm{Name: "wayless:d-1", After: dialog.WaylessRequestGrace})) {
			t.Errorf("effects %+v", armed)
		}
		b.step(dialog.TimerFired{Name: "wayless:d-1"})
		b.is(0, messages.ClosedByLost)
	})
	t.Run("what happens on other pages lengthens nobody's grace", func(t *testing.T) {
		t.Parallel()
		b := newBridged(t, mail.DialogMemory{})
		arms := func(in any) (n int) {
			for _, e := range b.step(in) {
				if a, ok := e.(dialog.Arm); ok && a.Name == "wayless:d-1" {
					n++
				}
			}
			return n
		}
		arms(mail.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "Q", Session: "other"})
		b.tell(messages.RolePrimary)
		if n := arms(mail.SessionGone{Role: messages.RolePrimary, Session: "primary"}); n != 1 {
			t.Fatalf("armed %d times as its way went", n)
		}
		for _, in := range []any{
			mail.SessionGone{Role: messages.RolePrimary, Session: "other"},
			mail.PageWatched{Role: messages.RolePrimary, Gen: 1, Page: "Q", Session: "next"},
			mail.LinkLost{Role: messages.RolePrimary, Gen: 1},
			mail.PageWatched{Role: messages.RolePrimary, Gen: 2, Page: "R", Session: "later"},
		} {
			if n := arms(in); n != 0 {
				t.Errorf("armed %d times by %+v", n, in)
			}
		}
		if n := arms(mail.PageWatched{Role: messages.RolePrimary, Gen: 2, Page: "P", Session: "again"}); n != 1 {
			t.Errorf("armed %d times for who comes to the page", n)
		}
		b.step(mail.DialogOpened{
			Role: messages.RolePrimary, Gen: 2, Session: "again", Page: "P", Frame: "P", Type: "confirm", Message: "m",
			Pause: mail.Pause{Key: "k", CallFrame: "1.1.0"},
		})
		if b.timers["wayless:d-1"] {
			t.Error("the grace goes on though a way is found")
		}
		if n := arms(mail.SessionGone{Role: messages.RolePrimary, Session: "again"}); n != 1 {
			t.Errorf("armed %d times as its second way went", n)
		}
		b.fires("d-1")
		b.is(0, messages.ClosedByRemote)
	})
	t.Run("where none stands it is lost at once", func(t *testing.T) {
		t.Parallel()
		b := newBridged(t, mail.DialogMemory{})
		b.tell(messages.RolePrimary)
		b.step(mail.LinkLost{Role: messages.RoleAnchor, Gen: 1})
		b.step(mail.LinkLost{Role: messages.RolePrimary, Gen: 1})
		b.is(0, messages.ClosedByLost)
	})
}

// TestACallThatHasItsAnswerGoesOnWithIt: whatever resumes it, also the end of the last
// debugger (C47). Only its document's end is faster.
func TestACallThatHasItsAnswerGoesOnWithIt(t *testing.T) {
	t.Parallel()
	taken := mail.AnswerTaken{Dialog: "d-1", Session: "primary"}
	died := mail.DialogHandled{Dialog: "d-1", Session: "primary", Err: linkDied}
	falls := func(r messages.Role) any { return mail.LinkLost{Role: r, Gen: 1} }
	gone := func(r messages.Role, after bool) any {
		return mail.BridgedOver{Role: r, Session: sessionOf(r), Key: "k", IsGone: after}
	}
	none := func(r messages.Role) any {
		return mail.DialogHandled{Dialog: "d-1", Session: sessionOf(r), Err: messages.Errorf(messages.CodeCDPError, "No dialog is showing")}
	}
	const anchor = messages.RoleAnchor
	for name, c := range map[string]struct {
		told bool // by the anchor as well
		ins  []any
		want messages.ClosedBy
	}{
		"the anchor finds it gone on":                  {true, []any{taken, falls(0), died, none(anchor)}, messages.ClosedByAgent},
		"the anchor tells of that before":              {true, []any{taken, gone(anchor, false), falls(0), died, none(anchor)}, messages.ClosedByAgent},
		"the anchor lets it go":                        {true, []any{taken, falls(0), died, mail.DialogHandled{Dialog: "d-1", Session: "anchor"}}, messages.ClosedByAgent},
		"its document went first":                      {true, []any{taken, gone(anchor, true), falls(0), died, none(anchor)}, messages.ClosedByRemote},
		"its document went first, by its own session":  {true, []any{taken, none(0)}, messages.ClosedByRemote},
		"it was not known to have it":                  {true, []any{falls(0), died, none(anchor)}, messages.ClosedByRemote},
		"no link is left":                              {true, []any{taken, falls(anchor), falls(0), died}, messages.ClosedByAgent},
		"no link is left, and it was not known":        {true, []any{falls(anchor), falls(0), died}, messages.ClosedByLost},
		"no link is left, and its document had gone":   {true, []any{taken, gone(0, true), falls(anchor), falls(0), died}, messages.ClosedByLost},
		"the anchor is not told of it":                 {false, []any{taken, falls(0), died, dialog.TimerFired{Name: "wayless:d-1"}}, messages.ClosedByAgent},
		"the anchor is not told, and it was not known": {false, []any{falls(0), died, dialog.TimerFired{Name: "wayless:d-1"}}, messages.ClosedByRemote},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBridged(t, mail.DialogMemory{})
			b.tell(messages.RolePrimary)
			if c.told {
				b.tell(anchor)
			}
			var outcomes []error
			b.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(_ any, err error) { outcomes = append(outcomes, err) })})
			for _, in := range c.ins {
				b.step(in)
			}
			if b.is(0, c.want); len(outcomes) != 1 || (outcomes[0] == nil) != (c.want == messages.ClosedByAgent) {
				t.Errorf("outcomes %v", outcomes)
			}
		})
	}
	for who, fails := range map[string]bool{"the same actor": false, "one that goes on from its memory": true} {
		t.Run("one that waits still is let go, and nobody is asked again: by "+who, func(t *testing.T) {
			t.Parallel()
			b := newBridged(t, mail.DialogMemory{})
			b.tell(messages.RolePrimary)
			b.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(any, error) {})})
			for _, in := range []any{taken, falls(anchor), falls(0)} {
				b.step(in)
			}
			if b.is(0, messages.ClosedByAgent); fails {
				b = newBridged(t, b.memory)
			}
			b.orders = nil
			again := mail.DialogOpened{
				Role: messages.RolePrimary, Gen: 2, Session: "again", Page: "P", Frame: "P", Type: "confirm", Message: "m",
				Pause: mail.Pause{Key: "k", CallFrame: "1.1.0"},
			}
			b.step(again)
			if want := []mail.HandleDialog{{Session: "again", Page: "P", Pause: again.Pause}}; len(b.pending) != 0 || !slices.Equal(b.orders, want) {
				t.Errorf("pending %+v, orders %+v; want %+v", b.pending, b.orders, want)
			}
		})
	}
}

func TestAnActorThatGoesOnFromMemoryDoubtsBridgedDialogs(t *testing.T) {
	t.Parallel()
	old := newBridged(t, mail.DialogMemory{})
	old.tell(messages.RolePrimary)
	old.tell(messages.RoleAnchor)
	t.Run("one that nobody tells of again is over", func(t *testing.T) {
		t.Parallel()
		b := newBridged(t, old.memory)
		b.fires("d-1")
		b.is(0, messages.ClosedByRemote)
	})
	t.Run("one that is told of again stays, by the sessions that tell", func(t *testing.T) {
		t.Parallel()
		b := newBridged(t, old.memory)
		b.tell(messages.RoleAnchor)
		b.fires("d-1")
		b.is(1, "")
		b.step(mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionAccept}, Reply: calls.Open(func(any, error) {})})
		if len(b.orders) != 1 || b.orders[0].Session != "anchor" {
			t.Errorf("answered by %+v", b.orders)
		}
	})
}

// TestARequestThatNobodyIsAskedAboutIsLetGo: it is reported once, and its page waits until
// it has ended. A debugger's pause ends by itself.
func TestARequestThatNobodyIsAskedAboutIsLetGo(t *testing.T) {
	t.Parallel()
	opened := func(request string) mail.DialogOpened {
		return mail.DialogOpened{
			Role: messages.RolePrimary, Gen: 1, Session: "primary", Page: "P", Frame: "P", Type: "confirm", Message: "m",
			Pause: mail.Pause{Key: "k", Request: request, Holder: messages.RolePrimary, HolderGen: 1},
		}
	}
	over := func(s messages.SessionID) any { return mail.BridgedOver{Session: s, Key: "k"} }
	wordless := opened("job-2")
	wordless.Type = ""
	for name, c := range map[string]struct {
		before  []any
		late    mail.DialogOpened
		dropped bool
		pending int
	}{
		"of a session that has ended":         {[]any{mail.SessionGone{Role: messages.RolePrimary, Session: "primary"}}, opened("job-2"), true, 0},
		"without a word, of one that has":     {[]any{mail.SessionGone{Role: messages.RolePrimary, Session: "primary"}}, wordless, true, 0},
		"a pause of a session that has ended": {[]any{mail.SessionGone{Role: messages.RolePrimary, Session: "primary"}}, opened(""), false, 0},
		"another has told of the end":         {[]any{opened("job-1"), over("anchor")}, opened("job-2"), true, 0},
		"a pause whose end is told of":        {[]any{opened(""), over("anchor")}, opened(""), false, 0},
		"again, of a session that has ended":  {[]any{opened("job-1"), mail.SessionGone{Role: messages.RolePrimary, Session: "primary"}}, opened("job-1"), false, 1},
		"of a link that is gone":              {[]any{mail.LinkLost{Role: messages.RolePrimary, Gen: 1}}, opened("job-2"), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBridged(t, mail.DialogMemory{})
			for _, in := range c.before {
				b.step(in)
			}
			b.orders = nil
			b.step(c.late)
			if len(b.pending) != c.pending {
				t.Errorf("pending %+v", b.pending)
			}
			want := []mail.HandleDialog{{Session: "primary", Page: "P", Pause: c.late.Pause}}
			if !c.dropped {
				want = nil
			}
			if !slices.Equal(b.orders, want) {
				t.Errorf("orders %+v, want %+v", b.orders, want)
			}
		})
	}
}

// TestAnEndThatOneSessionHasToldOfIsRemembered: the session of a silent link tells a
// restarted actor of a call whose end it has not seen.
func TestAnEndThatOneSessionHasToldOfIsRemembered(t *testing.T) {
	t.Parallel()
	opened := func(session messages.SessionID) mail.DialogOpened {
		return mail.DialogOpened{
			Role: messages.RolePrimary, Gen: 1, Session: session, Page: "P", Frame: "P", Type: "confirm", Message: "m",
			Pause: mail.Pause{Key: "k", Holder: messages.RolePrimary, HolderGen: 1},
		}
	}
	for name, c := range map[string]struct {
		before  []any
		late    messages.SessionID
		pending int
	}{
		"the silent one tells late":                    {nil, "silent", 0},
		"the one that told of the end tells again":     {nil, "lively", 1},
		"the one that told of the end has ended since": {[]any{mail.SessionGone{Role: messages.RolePrimary, Session: "lively"}}, "silent", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBridged(t, mail.DialogMemory{})
			b.step(opened("silent"))
			b.step(mail.BridgedOver{Session: "lively", Key: "k"})
			for _, in := range c.before {
				b.step(in)
			}
			after := newBridged(t, b.memory)
			after.step(opened(c.late))
			if len(after.pending) != c.pending {
				t.Errorf("pending %+v, want %d", after.pending, c.pending)
			}
		})
	}
}
