package dialog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// model is a naive account of what a task's dialogs may do, beside the machine
// under test.
type model struct {
	*rapid.T
	m   *dialog.Machine
	now time.Time

	issued  int
	gone    mail.Generation // newest lost link
	open    map[messages.DialogID]messages.Dialog
	gens    map[messages.DialogID]mail.Generation
	orders  map[messages.DialogID]bool // HandleDialog without an outcome
	memory  mail.DialogMemory          // as last told
	shut    map[messages.DialogID]bool // closed, and our own outcome not yet known
	done    map[messages.DialogID]bool // answered with success
	timers  map[string]bool
	asked   int
	replies map[int]int
	poison  map[messages.TargetID]int
}

func (s *model) step(in any) {
	s.now = s.now.Add(time.Second)
	effects := slices.Clone(s.m.Step(s.now, in))
	for _, e := range effects {
		if e, ok := e.(dialog.ToSupervisor); ok {
			s.told(e.Msg)
		}
	}
	for _, e := range effects {
		switch e := e.(type) {
		case dialog.ToSession:
			id := e.Msg.Dialog
			d, ok := s.open[id]
			switch {
			case !ok:
				s.Fatalf("%T answers %s, which is not open", in, id)
			case s.orders[id]:
				s.Fatalf("%T answers %s while an answer is on its way", in, id)
			case s.done[id]:
				s.Fatalf("%T answers %s again", in, id)
			case e.Msg.Session != d.SessionID:
				s.Fatalf("%s is answered on session %s, not its own %s", id, e.Msg.Session, d.SessionID)
			case s.gens[id] <= s.gone:
				s.Fatalf("%s of a link that is gone is answered", id)
			case e.Msg.MustAccept && d.Type == "prompt" && e.Msg.Text == nil:
				s.Fatalf("prompt %s is accepted without a text (C3)", id)
			case d.Type != "prompt" && e.Msg.Text != nil:
				s.Fatalf("%s %s is given a text (D13)", d.Type, id)
			}
			s.orders[id] = true
		case dialog.Arm:
			s.timers[e.Name] = true
		case dialog.Disarm:
			delete(s.timers, e.Name)
		case dialog.Answer:
			calls.Answer(e.To, e.Value, e.Err)
		}
	}
	for id := range s.open {
		if !s.timers["watchdog:"+string(id)] {
			s.Fatalf("%s is open and nobody watches it after %T", id, in)
		}
	}
	for name := range s.timers {
		_, id, _ := strings.Cut(name, ":")
		if _, ok := s.open[messages.DialogID(id)]; !ok {
			s.Fatalf("timers %v for open dialogs %v", s.timers, s.open)
		}
	}
}

func (s *model) told(msg any) {
	switch c := msg.(type) {
	case mail.DialogsChanged:
		if len(c.Memory.Recent) > messages.MaxRecentDialogs {
			s.Fatalf("%d dialogs are remembered", len(c.Memory.Recent))
		}
		if c.Opened != nil {
			s.issued++
			if want := messages.NewDialogID(uint64(s.issued)); c.Opened.ID != want {
				s.Fatalf("opened %s, want %s", c.Opened.ID, want)
			}
		}
		if c.Closed != nil {
			if s.open[c.Closed.ID].WaitsFor == messages.AnswererHuman && (c.Closed.ClosedBy == messages.ClosedByAgent || c.Closed.ClosedBy == messages.ClosedByRule) {
				s.Fatalf("%s waits for a person and is closed by %s", c.Closed.ID, c.Closed.ClosedBy)
			}
			if last := c.Memory.Recent[len(c.Memory.Recent)-1]; last != *c.Closed {
				s.Fatalf("closed %+v, remembered %+v", *c.Closed, last)
			}
			delete(s.open, c.Closed.ID)
		}
		s.memory = c.Memory
		clear(s.open)
		for _, o := range c.Memory.Open {
			s.open[o.Dialog.ID] = o.Dialog
			if len(o.Ways) > 0 { // the last way may have gone, and its other dialogs be ended first
				s.gens[o.Dialog.ID] = o.Ways[0].Gen
			}
		}
		for _, d := range c.Pending {
			if _, ok := s.open[d.ID]; !ok {
				s.Fatalf("%s is pending and not open", d.ID)
			}
		}
	case mail.PageUnreachable:
		s.poison[c.Page]++
	}
}

func (s *model) ids() []messages.DialogID {
	ids := make([]messages.DialogID, 0, s.issued+2)
	for n := range s.issued + 2 { // d-0 and one to come never were
		ids = append(ids, messages.NewDialogID(uint64(n)))
	}
	return append(ids, "")
}

func (s *model) reply() mail.Call {
	n := s.asked
	s.asked++
	return calls.Open(func(value any, err error) {
		if s.replies[n]++; s.replies[n] > 1 {
			s.Fatalf("answer %d is given %d replies", n, s.replies[n])
		}
		if (value == nil) == (err == nil) {
			s.Fatalf("answer %d: %v and %v", n, value, err)
		}
	})
}

var outcomes = []error{
	nil, nil, nil,
	messages.Errorf(messages.CodeCDPError, "No dialog is showing"),
	messages.Errorf(messages.CodeDeadline, "the browser did not answer in time"),
}

func TestDialogsHoldTheirInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		spec := messages.TaskSpec{
			DialogPolicy: rapid.SampledFrom([]messages.DialogPolicy{"must_respond", "auto_dismiss", "auto_accept"}).Draw(t, "policy"),
			BeforeUnload: rapid.SampledFrom([]messages.BeforeUnload{"ask", "accept", "dismiss"}).Draw(t, "beforeunload"),
			DialogRules: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) messages.DialogRule {
				return messages.DialogRule{
					Type:   rapid.SampledFrom([]messages.DialogType{"", "alert", "confirm", "prompt", "beforeunload"}).Draw(t, "type"),
					Action: rapid.SampledFrom([]messages.RuleAction{"accept", "dismiss", "ask", "human"}).Draw(t, "action"),
				}
			}), 0, 3).Draw(t, "rules"),
		}.WithDefaults()
		s := &model{
			T: t, m: dialog.NewMachine(spec, mail.DialogMemory{}), now: time.Unix(1000, 0),
			open: map[messages.DialogID]messages.Dialog{}, gens: map[messages.DialogID]mail.Generation{},
			orders: map[messages.DialogID]bool{}, shut: map[messages.DialogID]bool{}, done: map[messages.DialogID]bool{}, timers: map[string]bool{},
			replies: map[int]int{}, poison: map[messages.TargetID]int{},
		}
		gen := mail.Generation(1)
		pages := []messages.TargetID{"P1", "P2"}
		attached := map[messages.TargetID]int{}
		page := func() messages.TargetID { return rapid.SampledFrom(pages).Draw(t, "page") }
		frame := func(p messages.TargetID) messages.FrameID {
			return messages.FrameID(p) + rapid.SampledFrom([]messages.FrameID{"", "/f"}).Draw(t, "frame")
		}
		session := func(p messages.TargetID, g mail.Generation) messages.SessionID {
			return messages.SessionID(fmt.Sprintf("S%d%s%d", g, p, attached[p]))
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				p, g := page(), gen
				if rapid.IntRange(0, 4).Draw(t, "late") == 0 && gen > 1 {
					g-- // the last word of the link before
				}
				before := s.issued
				s.step(mail.DialogOpened{
					Gen: g, Session: session(p, g), Page: p, Frame: frame(p), Message: "m", Default: "d",
					Type: rapid.SampledFrom([]messages.DialogType{"alert", "confirm", "prompt", "beforeunload"}).Draw(t, "type"),
				})
				if g <= s.gone && s.issued != before {
					s.Fatalf("a dialog of link %d is taken up after the end of link %d", g, s.gone)
				}
			},
			"close": func(*rapid.T) {
				p := page()
				f := frame(p)
				s.step(mail.DialogClosed{Gen: gen, Session: session(p, gen), Page: p, Frame: f})
				for id, d := range s.open {
					// Closed, and only the outcome of our answer is awaited.
					if d.TargetID == p && d.FrameID == f && s.orders[id] {
						s.shut[id] = true
					}
				}
			},
			"answer": func(t *rapid.T) {
				text := "typed"
				s.step(mail.AnswerDialog{
					Answer: messages.DialogAnswer{
						Action:     rapid.SampledFrom([]messages.Action{"accept", "dismiss"}).Draw(t, "action"),
						DialogID:   rapid.SampledFrom(s.ids()).Draw(t, "id"),
						PromptText: rapid.SampledFrom([]*string{nil, &text}).Draw(t, "text"),
						By:         rapid.SampledFrom([]messages.Answerer{"", "agent", "human"}).Draw(t, "by"),
					},
					Reply: s.reply(),
				})
			},
			"outcome": func(t *rapid.T) {
				if len(s.orders) == 0 {
					return
				}
				id := rapid.SampledFrom(sorted(s.orders)).Draw(t, "id")
				err := rapid.SampledFrom(outcomes).Draw(t, "err")
				delete(s.orders, id)
				if err == nil {
					s.done[id] = true
				}
				s.step(mail.DialogHandled{Dialog: id, Session: s.open[id].SessionID, Err: err})
			},
			"bark": func(t *rapid.T) {
				if len(s.timers) == 0 {
					return
				}
				name := rapid.SampledFrom(sorted(s.timers)).Draw(t, "timer")
				delete(s.timers, name)
				s.step(dialog.TimerFired{Name: name})
			},
			"remove a frame": func(*rapid.T) {
				p := page()
				f := frame(p)
				var held int
				for id, d := range s.open {
					if d.TargetID == p && d.FrameID == f && !s.shut[id] {
						held++
					}
				}
				before := s.poison[p]
				s.step(mail.FramesRemoved{Gen: gen, Page: p, Frames: []messages.FrameID{f}})
				if s.poison[p]-before != held {
					s.Fatalf("%d dialogs of a removed frame, %d reports of poison", held, s.poison[p]-before)
				}
				for id, d := range s.open {
					if d.TargetID == p && d.FrameID == f && !s.shut[id] {
						s.Fatalf("%s of a removed frame is open (C15)", id)
					}
				}
			},
			"close a page": func(*rapid.T) {
				s.step(mail.PageGone{Page: page()})
			},
			"attach a page anew": func(*rapid.T) {
				p := page()
				attached[p]++
				s.step(mail.PageWatched{Page: p, Gen: gen, Session: session(p, gen)})
				for id, d := range s.open {
					if d.TargetID == p && d.SessionID != session(p, gen) {
						s.Fatalf("%s of a replaced session is open", id)
					}
				}
			},
			"lose the link": func(*rapid.T) {
				s.gone = gen
				s.step(mail.LinkLost{Gen: gen})
				if len(s.open) != 0 {
					s.Fatalf("open after the link was lost: %v", s.open)
				}
				clear(s.orders) // its session went with it
				gen++
			},
			"leave": func(*rapid.T) { s.step(dialog.Leave{}) },
			"restart": func(*rapid.T) {
				// From the memory of the last change; a new actor has no orders, and the
				// callers got the end of the old one.
				for n := range s.asked {
					if s.replies[n] == 0 {
						s.replies[n] = 1
					}
				}
				clear(s.orders)
				clear(s.timers)
				s.m = dialog.NewMachine(spec, s.memory)
				s.step(dialog.Start{})
				s.step(mail.LinkLost{Gen: s.gone})
			},
		})
		s.step(mail.LinkLost{Gen: gen})
		for n := range s.asked {
			if s.replies[n] != 1 {
				s.Fatalf("answer %d has %d replies", n, s.replies[n])
			}
		}
	})
}

func sorted[K ~string](m map[K]bool) []K { return sortedKeys(m) }

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
