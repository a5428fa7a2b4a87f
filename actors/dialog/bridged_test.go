package dialog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// call is what the page knows of one of its asks.
type call struct {
	key     string
	frame   messages.FrameID
	waits   bool
	over    map[messages.SessionID]bool // who has heard of its end
	told    map[messages.SessionID]bool
	answers int  // that the page took
	settled bool // in history as answered
}

// TestABridgedCallIsOneDialog plays a page with two frames and two links against the
// machine: whatever the order and number of reports of a call, and whatever becomes of the
// links, a call that was answered has been one dialog, got one answer, and is pending
// exactly as long as a session can answer it.
func TestABridgedCallIsOneDialog(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1000, 0)
		m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
		var (
			asks    []*call
			gens    = [messages.Roles]mail.Generation{1, 1}
			up      = [messages.Roles]bool{true, true}
			orders  []mail.HandleDialog
			timers  = map[string]bool{}
			pending []messages.Dialog
			owed    = map[int]int{}
			asked   int
			memory  mail.DialogMemory
		)
		session := func(r messages.Role, f messages.FrameID) messages.SessionID {
			return messages.SessionID(fmt.Sprintf("%d/%d/%s", r, gens[r], f))
		}
		byKey := func(key string) *call {
			for _, c := range asks {
				if c.key == key {
					return c
				}
			}
			return nil
		}
		step := func(in any) {
			for _, e := range m.Step(now, in) {
				switch e := e.(type) {
				case dialog.ToSession:
					orders = append(orders, e.Msg)
				case dialog.Arm:
					timers[e.Name] = true
				case dialog.Disarm:
					delete(timers, e.Name)
				case dialog.Answer:
					calls.Answer(e.To, e.Value, e.Err)
				case dialog.ToSupervisor:
					if c, ok := e.Msg.(mail.DialogsChanged); ok {
						pending, memory = c.Pending, c.Memory
						if c.Opened != nil && byKey(c.Opened.Message).settled {
							t.Fatalf("%s was answered, and asks again as %s", c.Opened.Message, c.Opened.ID)
						}
						if c.Closed != nil && c.Closed.ClosedBy == messages.ClosedByAgent {
							byKey(c.Closed.Message).settled = true
						}
					}
				}
			}
		}
		watch := func(r messages.Role) {
			w := mail.PageWatched{Role: r, Gen: gens[r], Page: "P", Session: session(r, "P")}
			step(w)
			step(mail.PageCovered(w))
		}
		tell := func(c *call, r messages.Role) {
			s := session(r, c.frame)
			c.told[s] = true
			step(mail.DialogOpened{
				Role: r, Gen: gens[r], Session: s, Page: "P", Frame: c.frame, Type: "confirm", Message: c.key,
				Pause: mail.Pause{Key: c.key, CallFrame: "1.3.0"},
			})
		}
		watch(messages.RolePrimary)
		watch(messages.RoleAnchor)
		role := rapid.SampledFrom([]messages.Role{messages.RolePrimary, messages.RoleAnchor})
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				f := rapid.SampledFrom([]messages.FrameID{"P", "F"}).Draw(t, "frame")
				for _, c := range asks {
					if c.waits && c.frame == f {
						return // a frame asks once at a time
					}
				}
				asks = append(asks, &call{key: fmt.Sprintf("k.%d", len(asks)), frame: f, waits: up[0] || up[1], told: map[messages.SessionID]bool{}, over: map[messages.SessionID]bool{}})
			},
			"leave": func(t *rapid.T) { // the document goes
				for _, c := range asks {
					if c.waits && rapid.Bool().Draw(t, "goes") {
						c.waits = false
					}
				}
			},
			"hear": func(t *rapid.T) { // a session hears of an end that was not answered
				r := role.Draw(t, "role")
				for _, c := range asks {
					if s := session(r, c.frame); up[r] && !c.waits && c.told[s] && !c.over[s] {
						c.over[s] = true
						step(mail.BridgedOver{Role: r, Session: s, Key: c.key})
					}
				}
			},
			"restart": func(*rapid.T) { // the actor; its mailbox is lost
				clear(timers)
				orders = nil
				clear(owed)
				m = dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), memory)
				step(dialog.Start{})
				for r := range messages.Roles {
					if !up[r] {
						step(mail.LinkLost{Role: messages.Role(r), Gen: gens[r] - 1})
						continue
					}
					watch(messages.Role(r))
					for _, c := range asks {
						if c.waits && c.told[session(messages.Role(r), c.frame)] {
							tell(c, messages.Role(r))
						}
					}
				}
			},
			"tell": func(t *rapid.T) {
				r := role.Draw(t, "role")
				for _, c := range asks {
					if s := session(r, c.frame); up[r] && !c.over[s] && (c.waits || c.told[s]) { // told again, late, by a session that has failed
						tell(c, r)
					}
				}
			},
			"answer": func(t *rapid.T) {
				if len(pending) == 0 {
					return
				}
				d := rapid.SampledFrom(pending).Draw(t, "dialog")
				asked++
				n := asked
				owed[n] = 1
				step(mail.AnswerDialog{
					Answer: messages.DialogAnswer{Action: "accept", DialogID: d.ID},
					Reply:  calls.Open(func(any, error) { owed[n]-- }),
				})
			},
			"carry out": func(t *rapid.T) {
				if len(orders) == 0 {
					return
				}
				o := orders[0]
				orders = orders[1:]
				var err error
				switch c := byKey(o.Pause.Key); {
				case o.Session != session(messages.RolePrimary, c.frame) && o.Session != session(messages.RoleAnchor, c.frame):
					err = messages.Errorf(messages.CodeUpstreamUnavailable, "gone").WithSent(messages.SentIf(rapid.Bool().Draw(t, "sent")))
				case !c.waits:
					err = messages.Errorf(messages.CodeCDPError, "No dialog is showing")
				default:
					c.waits = false
					c.answers++
					if rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
						err = messages.Errorf(messages.CodeUpstreamUnavailable, "the reply was lost").WithSent(messages.SentYes)
						if rapid.Bool().Draw(t, "taken") {
							step(mail.AnswerTaken{Dialog: o.Dialog, Session: o.Session})
						}
					}
				}
				step(mail.DialogHandled{Dialog: o.Dialog, Session: o.Session, Err: err})
			},
			"drop": func(t *rapid.T) {
				r := role.Draw(t, "role")
				if !up[r] {
					return
				}
				up[r] = false
				if !up[0] && !up[1] {
					for _, c := range asks {
						c.waits = false // no session holds it
					}
				}
				for _, f := range []messages.FrameID{"P", "F"} {
					if rapid.Bool().Draw(t, "said") {
						step(mail.SessionGone{Role: r, Session: session(r, f)})
					}
				}
				step(mail.LinkLost{Role: r, Gen: gens[r]})
				gens[r]++
			},
			"return": func(t *rapid.T) {
				if r := role.Draw(t, "role"); !up[r] {
					up[r] = true
					watch(r)
					for _, c := range asks {
						if c.waits {
							tell(c, r) // who comes while a page waits is told
						}
					}
				}
			},
			"time": func(*rapid.T) {
				now = now.Add(time.Second)
				for name := range timers {
					if name[:4] == "wayl" {
						delete(timers, name)
						step(dialog.TimerFired{Name: name})
					}
				}
			},
			"": func(t *rapid.T) {
				seen := map[string]bool{}
				for _, d := range pending {
					if seen[d.Message] {
						t.Fatalf("%s is pending twice", d.Message)
					}
					seen[d.Message] = true
				}
				for _, c := range asks {
					if c.answers > 1 {
						t.Fatalf("%s got %d answers", c.key, c.answers)
					}
				}
				for n, left := range owed {
					if left < 0 {
						t.Fatalf("answer %d was replied to more than once", n)
					}
				}
			},
		})
		// With both links back, and every order carried out, what waits is pending and
		// what does not is over.
		for r := range messages.Roles {
			if !up[r] {
				up[r] = true
				watch(messages.Role(r))
			}
			for _, c := range asks {
				if c.waits {
					tell(c, messages.Role(r))
				}
			}
		}
		waiting := map[string]bool{}
		for _, d := range pending {
			waiting[d.Message] = true
		}
		for _, c := range asks {
			if c.waits && !waiting[c.key] && len(orders) == 0 {
				t.Fatalf("%s waits, and nobody is told", c.key)
			}
		}
		// And what waits no more is over, once all who know of it have said so.
		for _, c := range asks {
			for r := range messages.Roles {
				if s := session(messages.Role(r), c.frame); !c.waits && c.told[s] {
					step(mail.BridgedOver{Role: messages.Role(r), Session: s, Key: c.key})
				}
			}
		}
		for name := range timers {
			if strings.HasPrefix(name, "wayless:") {
				step(dialog.TimerFired{Name: name})
			}
		}
		for _, d := range pending {
			if c := byKey(d.Message); !c.waits && len(orders) == 0 {
				t.Fatalf("%s is shown and over", c.key)
			}
		}
	})
}
