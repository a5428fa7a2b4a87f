package link_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// fate is what became of a session that the browser attached.
type fate struct {
	isLate   bool // reported while auto-attach was being turned off
	target   messages.TargetID
	adopted  bool
	resumed  bool
	detached bool
}

// bench is a browser machine with everything it is waiting for.
type bench struct {
	*rapid.T
	m                 *link.Primary
	fates             map[messages.SessionID]*fate
	pending           []effect.Command // without a reply
	again             []effect.Timer   // timers of what is tried again
	targets           map[messages.TargetID]bool
	rooted            bool
	exited            bool
	seq               int
	asked             int
	replies           map[int]int
	isStopping, isOff bool // auto-attach
}

func (b *bench) step(in any) {
	if b.exited {
		return
	}
	for _, e := range slices.Clone(b.m.Step(time.Unix(0, 0), in)) {
		switch e := e.(type) {
		case effect.Command:
			b.command(e)
		case effect.ToSupervisor:
			switch msg := e.Msg.(type) {
			case mail.TargetAttached:
				f := b.fates[msg.Session]
				if f.adopted || f.resumed || f.detached {
					b.Fatalf("session %s is adopted as %+v", msg.Session, f)
				}
				f.adopted = true
			case mail.RootAttached:
				if b.rooted {
					b.Fatal("attached twice")
				}
				b.rooted = true
				for _, p := range msg.Pages {
					if !slices.ContainsFunc(b.sessions(), func(s messages.SessionID) bool { return b.fates[s].target == p && b.fates[s].adopted }) {
						b.Fatalf("page %s is among those attached and was never announced", p)
					}
				}
			}
		case effect.Arm:
			if e.Timer.Name == "free" {
				b.again = append(b.again, e.Timer)
			}
		case effect.Answer:
			sessiontest.Calls.Answer(e.To, e.Value, e.Err)
		case effect.Exit:
			b.exited = true
		}
	}
}

func (b *bench) command(c effect.Command) {
	switch c.Method {
	case "Runtime.runIfWaitingForDebugger":
		b.fates[c.Session].resumed = true
		return
	case "Target.detachFromTarget":
		var p struct {
			SessionID messages.SessionID `json:"sessionId"`
		}
		if err := json.Unmarshal(c.Params, &p); err != nil {
			b.Fatal(err)
		}
		f := b.fates[p.SessionID]
		if !f.adopted && !f.resumed {
			b.Fatalf("session %s is left without having been resumed (C33)", p.SessionID)
		}
		f.detached = true
	case "Target.setAutoAttach":
		b.isStopping = c.Tag.Kind == link.TagOff
	}
	if c.Tag.Kind != effect.TagNone {
		b.pending = append(b.pending, c)
	}
}

func (b *bench) sessions() []messages.SessionID {
	var list []messages.SessionID
	for s := range b.fates {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func (b *bench) attach(t messages.TargetID, opener messages.TargetID) {
	if b.exited {
		return
	}
	b.seq++
	s := messages.SessionID(fmt.Sprintf("S%03d", b.seq))
	b.fates[s] = &fate{target: t, isLate: b.isStopping && !b.isOff}
	b.targets[t] = true
	b.step(mail.TargetAttached{Gen: 1, Session: s, Info: mail.TargetInfo{ID: t, Type: "page", Opener: opener}, IsWaiting: true})
}

func (b *bench) newTarget() messages.TargetID {
	b.seq++
	return messages.TargetID(fmt.Sprintf("T%03d", b.seq))
}

// reply answers the i-th command that waits.
func (b *bench) reply(i int, fail bool) {
	c := b.pending[i]
	b.pending = slices.Delete(b.pending, i, i+1)
	result := `{}`
	if c.Method == "Target.createTarget" && !fail {
		t := b.newTarget()
		b.attach(t, "") // reported before the reply
		result = fmt.Sprintf(`{"targetId":%q}`, t)
	}
	if c.Method == "Target.attachToTarget" && !fail {
		b.attach(c.Tag.Page, "")
	}
	if c.Method == "Target.closeTarget" && !fail {
		for _, s := range b.sessions() {
			if b.fates[s].target == c.Tag.Page {
				b.fates[s].resumed = true // closed: nothing is left to resume
			}
		}
	}
	if c.Tag.Kind == link.TagOff {
		b.isOff = true
		for _, s := range b.sessions() {
			if f := b.fates[s]; !f.detached {
				f.detached = true
				b.step(mail.TargetDetached{Gen: 1, Session: s})
			}
		}
	}
	r := effect.Replied{Tag: c.Tag, Result: []byte(result)}
	if fail {
		r.Result, r.Err = nil, messages.Errorf(messages.CodeDeadline, "no answer")
	}
	b.step(r)
	if c.Method == "Target.closeTarget" && !fail {
		b.step(decode.TargetDestroyed{Target: c.Tag.Page})
	}
}

func (b *bench) owe() mail.Call {
	n := b.asked
	b.asked++
	return sessiontest.Calls.Open(func(any, error) {
		if b.replies[n]++; b.replies[n] > 1 {
			b.Fatalf("order %d is answered %d times", n, b.replies[n])
		}
	})
}

func TestEveryAttachedSessionIsAdoptedOrResumedAndLeft(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scope := rapid.SampledFrom([]messages.Scope{"own", "browser", "target"}).Draw(t, "scope")
		cfg := link.Config{Gen: 1, Scope: scope}
		if scope == messages.ScopeTarget {
			cfg.Target = "GIVEN"
		}
		b := &bench{
			T: t, m: link.NewPrimary(cfg), fates: map[messages.SessionID]*fate{},
			targets: map[messages.TargetID]bool{}, replies: map[int]int{},
		}
		b.step(effect.Start{})
		for n := range rapid.IntRange(0, 3).Draw(t, "pages") {
			b.attach(messages.TargetID(fmt.Sprintf("OLD%d", n)), "")
		}
		if scope == messages.ScopeTarget {
			b.attach("GIVEN", "")
		}
		known := func() messages.TargetID {
			list := []messages.TargetID{"", "NONE"}
			for x := range b.targets {
				list = append(list, x)
			}
			slices.Sort(list)
			return rapid.SampledFrom(list).Draw(t, "target")
		}
		t.Repeat(map[string]func(*rapid.T){
			"reply": func(t *rapid.T) {
				if len(b.pending) > 0 {
					b.reply(rapid.IntRange(0, len(b.pending)-1).Draw(t, "which"), rapid.IntRange(0, 5).Draw(t, "fail") == 0)
				}
			},
			"a page opens": func(*rapid.T) { b.attach(b.newTarget(), known()) },
			"a session ends": func(t *rapid.T) {
				if list := b.sessions(); len(list) > 0 {
					s := rapid.SampledFrom(list).Draw(t, "session")
					b.fates[s].resumed = true // there is nothing left to resume
					b.step(mail.TargetDetached{Gen: 1, Session: s})
				}
			},
			"a page is destroyed": func(t *rapid.T) {
				x := known()
				for _, s := range b.sessions() {
					if b.fates[s].target == x {
						b.fates[s].resumed = true
						b.step(mail.TargetDetached{Gen: 1, Session: s})
					}
				}
				b.step((decode.Source{Identity: effect.Identity{Gen: 1}}).Decode(time.Unix(0, 0), "Target.targetDestroyed", []byte(fmt.Sprintf(`{"targetId":%q}`, x))))
			},
			"open": func(*rapid.T) { b.order(mail.OpenPage{Reply: b.owe()}) },
			"close": func(t *rapid.T) {
				b.order(mail.ClosePage{Page: known(), MustFree: rapid.Bool().Draw(t, "free"), Reply: b.owe()})
			},
			"release": func(*rapid.T) { b.step(mail.ReleasePage{Page: known()}) },
		})
		failed := b.exited
		b.step(mail.Leave{})
		for n := 0; len(b.pending)+len(b.again) > 0 && !b.exited; n++ {
			switch {
			case n > 1000:
				b.Fatal("it does not come to an end")
			case b.isStopping && !b.isOff && rapid.Bool().Draw(t, "a page opens late"):
				b.attach(b.newTarget(), known())
			case len(b.pending) > 0:
				b.reply(0, false)
			default:
				timer := b.again[0]
				b.again = b.again[1:]
				b.step(effect.TimerFired{Timer: timer})
			}
		}
		if !b.exited {
			b.Fatal("all is answered and it has not left")
		}
		for _, s := range b.sessions() {
			// An adopted one is resumed by its own actor's attach, unless the task
			// leaves before that.
			if f := b.fates[s]; !f.resumed && !f.detached && !(failed && f.adopted) {
				b.Fatalf("session %s is left held: %+v", s, f)
			}
		}
		for _, s := range b.sessions() {
			isResumed := func(other *fate) bool { return other.target == b.fates[s].target && other.resumed }
			if b.fates[s].isLate && !slices.ContainsFunc(slices.Collect(maps.Values(b.fates)), isResumed) {
				b.Fatalf("page %s is left frozen (C33)", b.fates[s].target)
			}
		}
		for n := range b.asked {
			if failed {
				break // the actor's end answers them
			}
			if b.replies[n] != 1 {
				b.Fatalf("order %d has %d answers", n, b.replies[n])
			}
		}
	})
}

// order gives an order, unless the machine has ended.
func (b *bench) order(o any) {
	if b.exited {
		b.replies[b.asked-1]++
		return
	}
	b.step(o)
}
