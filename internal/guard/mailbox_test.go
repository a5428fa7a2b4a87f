package guard_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// order is a message with an answer.
type order struct{ reply mail.Call }

func (o order) ReplyTo() mail.Call { return o.reply }

// box is what the system says of the mailboxes of a kind.
func (b *bench) box(kind string) (longest int, dropped uint64) {
	b.sys.Mailboxes(func(k string, n int, d uint64) {
		if k == kind {
			longest, dropped = n, d
		}
	})
	return longest, dropped
}

// stalled spawns an actor that does nothing until the returned function is
// called.
func (b *bench) stalled(p *guard.Handle, child guard.Child) (ref guard.Ref, resume func()) {
	ref = b.spawn(p, child)
	gate := make(chan struct{})
	b.sys.Send(ref.PID, func(*guard.Context) { <-gate })
	synctest.Wait()
	return ref, func() { close(gate); synctest.Wait() }
}

func TestAFullMailbox(t *testing.T) {
	t.Parallel()

	t.Run("is full of facts: the actor fails, and its parent hears why", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			s := b.witness()
			s.receive = func(_ *guard.Context, msg any) {
				if msg == "fact" {
					b.d.add("heard")
				}
			}
			child := s.child("kid")
			child.Mailbox = 100
			ref, resume := b.stalled(p, child)
			for range 200_000 {
				b.sys.Send(ref.PID, "fact")
			}
			// The call it hangs in is one of the hundred; a nudge is not.
			if n, dropped := b.box("test"); n != 101 || dropped != 200_000-99 {
				t.Errorf("%d wait, %d were dropped", n, dropped)
			}
			resume()
			b.d.want(t, "kid terminates: failure", "kid exited: failure")
			if n, _ := b.box("test"); n != 0 {
				t.Errorf("%d wait for the dead", n)
			}
			if strings.Count(b.log.String(), "more was said to the actor") != 1 {
				t.Errorf("log: %s", b.log.String())
			}
			b.stop(p)
		})
	})

	t.Run("an order is refused from half of it on, and its sender told", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			s := b.witness()
			done := 0
			s.receive = func(_ *guard.Context, msg any) {
				if _, ok := msg.(order); ok {
					done++
				}
			}
			child := s.child("kid")
			child.Mailbox = 100
			ref, resume := b.stalled(p, child)
			refused := 0
			for range 1000 {
				b.sys.Send(ref.PID, order{b.sys.Calls().Open(func(_ any, err error) {
					refused++
					if messages.CodeOf(err) != messages.CodeLimitReached {
						t.Errorf("refused with %v", err)
					}
				})})
			}
			if n, dropped := b.box("test"); n != 50 || refused != 1000-49 || dropped != 1000-49 {
				t.Errorf("%d wait, %d were refused, %d dropped", n, refused, dropped)
			}
			// There is room left for facts, and for an order without a call.
			for range 25 {
				b.sys.Send(ref.PID, "fact")
				b.sys.Send(ref.PID, order{})
			}
			resume()
			if done != 49+25 {
				t.Errorf("%d were done", done)
			}
			if n, _ := b.box("test"); n != 0 {
				t.Errorf("%d wait still", n)
			}
			b.stop(p)
			b.d.want(t, "kid terminates: shutdown")
		})
	})

	t.Run("of an actor that sheds costs only what finds no room", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			heard := 0
			child := script{receive: func(*guard.Context, any) { heard++ }}.child("kid")
			child.Mailbox, child.CanShed = 100, true
			ref, resume := b.stalled(p, child)
			for range 1000 {
				b.sys.Send(ref.PID, "fact")
			}
			resume()
			b.sys.Send(ref.PID, "another")
			synctest.Wait()
			if heard != 99+1 {
				t.Errorf("heard %d", heard)
			}
			b.stop(p)
		})
	})

	t.Run("keeps out no timer, no result, no child's end and no order to stop", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			ends := 0
			child := script{receive: func(_ *guard.Context, msg any) {
				if _, ok := msg.(guard.Exited); ok {
					ends++
				}
			}}.child("kid")
			child.Mailbox, child.CanShed = 100, true
			ref := b.spawn(p, child)
			b.do(ref.PID, func(c *guard.Context) {
				for i := range 50 {
					c.Spawn(script{init: func(c *guard.Context) { c.Exit(guard.Reason{}) }}.child(fmt.Sprint(i)))
				}
				for range 1000 {
					c.Send(c.Self(), "fact")
				}
			})
			synctest.Wait()
			if ends != 50 {
				t.Errorf("heard of %d ends", ends)
			}
			b.stop(p)
		})
	})

	t.Run("a door says no while its actor or the parent is half a mailbox behind", func(t *testing.T) {
		bubble(t, func(b *bench) {
			gate := make(chan struct{})
			var door guard.Door
			parent := script{}.child("parent")
			parent.Mailbox = 100
			p := b.sys.Root(parent)
			heard := 0
			kid := script{
				init: func(c *guard.Context) { door = c.Door() },
				receive: func(_ *guard.Context, msg any) {
					if heard++; msg == "wait" {
						<-gate
					}
				},
			}.child("kid")
			kid.Mailbox = 20
			b.spawn(p, kid)
			if !door.Send("wait") {
				t.Error("closed at the start")
			}
			synctest.Wait()
			in := 0
			for door.Send("fact") {
				in++
			}
			if in != 10 {
				t.Errorf("%d got in", in)
			}
			close(gate)
			synctest.Wait()
			if heard != 11 {
				t.Errorf("heard %d", heard)
			}
			gate = make(chan struct{})
			b.sys.Send(p.PID(), func(*guard.Context) { <-gate })
			synctest.Wait()
			for range 50 {
				if !door.Send("fact") {
					t.Fatal("closed too early")
				}
				synctest.Wait()
				b.sys.Send(p.PID(), "a consequence")
			}
			if door.Send("fact") {
				t.Error("open though the parent is behind")
			}
			close(gate)
			synctest.Wait()
			if !door.Send("fact") {
				t.Error("closed for good")
			}
			b.stop(p)
		})
	})
}

// TestSeveral: a message that stands for many is bounded like them.
func TestSeveral(t *testing.T) {
	bubble(t, func(b *bench) {
		p := b.parent()
		var door guard.Door
		heard := 0
		gate := make(chan struct{})
		child := script{
			init: func(c *guard.Context) { door = c.Door() },
			receive: func(_ *guard.Context, msg any) {
				switch msg {
				case "wait":
					<-gate
				case "three":
					heard += 3
				case "fail":
					panic("injected")
				}
			},
		}.child("kid")
		child.Mailbox = 20
		ref := b.spawn(p, child)
		if !door.SendSeveral("wait", 4) {
			t.Error("closed at the start")
		}
		synctest.Wait()
		in := 0
		for door.SendSeveral("three", 3) {
			in++
		}
		if n, dropped := b.box("test"); in != 4 || n != 1+4*3 || dropped != 3 { // what is being heard is one
			t.Errorf("%d got in, %d wait, %d dropped", in, n, dropped)
		}
		b.do(p.PID(), func(c *guard.Context) { c.SendSeveral(ref.PID, "three", 3) })
		close(gate)
		synctest.Wait()
		if n, _ := b.box("test"); heard != 5*3 || n != 0 {
			t.Errorf("heard %d, %d wait", heard, n)
		}
		b.do(p.PID(), func(c *guard.Context) { c.SendSeveral(nil, "three", 3) })
		door.SendSeveral("fail", 5)
		synctest.Wait()
		if n, _ := b.box("test"); n != 0 {
			t.Errorf("%d wait for the dead", n)
		}
		if !door.SendSeveral("three", 3) { // a dead letter
			t.Error("a door to nobody is open")
		}
		b.stop(p)
	})
}

// TestNothingWaitsWhereNobodyWorks: whatever happened, the count is exact.
func TestNothingWaitsWhereNobodyWorks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(b *bench) {
				dice := rand.New(rand.NewPCG(seed, 0))
				p := b.parent()
				var alive guard.Ref
				b.do(p.PID(), func(c *guard.Context) { alive = c.Spawn(script{}.child("steady")) })
				for round := range 10 {
					var ref guard.Ref
					b.do(p.PID(), func(c *guard.Context) { ref = c.Spawn(script{}.child(fmt.Sprint(round))) })
					for range dice.IntN(300) {
						switch dice.IntN(100) {
						case 0:
							b.sys.Send(ref.PID, func(*guard.Context) { panic("injected") })
						case 1:
							b.sys.Send(ref.PID, func(*guard.Context) { runtime.Goexit() })
						case 2:
							b.sys.Send(ref.PID, func(c *guard.Context) { c.Exit(guard.Reason{}) })
						case 3:
							b.sys.Send(ref.PID, func(c *guard.Context) { c.After("x", 0, "due") })
						case 4, 5:
							n := dice.IntN(9)
							b.sys.Send(alive.PID, func(c *guard.Context) { c.SendSeveral(ref.PID, "facts", n) })
						default:
							b.sys.Send(ref.PID, "fact")
						}
						b.sys.Send(alive.PID, "fact")
					}
				}
				synctest.Wait()
				if n, dropped := b.box("test"); n != 0 || dropped != 0 {
					t.Errorf("seed %d: %d wait, %d dropped", seed, n, dropped)
				}
				b.stop(p)
			})
		})
	}
}

func TestErrFloodedIsAFailure(t *testing.T) {
	t.Parallel()
	r := guard.Fail(guard.ErrFlooded)
	if !r.IsAbnormal() || !errors.Is(r.Err, guard.ErrFlooded) {
		t.Errorf("%s", r)
	}
}

// TestAFloodTakesBoundedMemory fills a mailbox that is never emptied.
func TestAFloodTakesBoundedMemory(t *testing.T) { // not parallel: it counts for the whole process
	b := newBench(t)
	gate := make(chan struct{})
	h := b.sys.Root(script{}.child("kid"))
	b.sys.Send(h.PID(), func(*guard.Context) { <-gate })
	before := memory()
	for i := range 200_000 {
		b.sys.Send(h.PID(), [4]int{i}) // each a piece of memory of its own
	}
	if grown := int64(memory() - before); grown > guard.DefaultMailbox*(32+2*48) {
		t.Errorf("%d KiB for a flood", grown>>10)
	} else {
		t.Logf("%d KiB for a flood", grown>>10)
	}
	if n := testing.AllocsPerRun(1000, func() { b.sys.Send(h.PID(), "fact") }); n > 0 {
		t.Errorf("%v allocations to be told no", n)
	}
	close(gate)
	<-h.Exited()
	if err := b.sys.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSendingAllocatesNothing(t *testing.T) { // not parallel: it counts for the whole process
	b := newBench(t)
	gate := make(chan struct{})
	child := script{}.child("kid")
	h := b.sys.Root(child)
	entered := make(chan struct{})
	b.sys.Send(h.PID(), func(*guard.Context) { close(entered); <-gate })
	<-entered
	var msg any = "fact"
	if n := testing.AllocsPerRun(1000, func() { b.sys.Send(h.PID(), msg) }); n > 0 {
		t.Errorf("%v allocations a message", n)
	}
	close(gate)
	b.stop(h)
	if err := b.sys.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// answerNow is a message that overtakes.
type answerNow int

func (answerNow) IsUrgent() bool { return true }

// TestAnUrgentMessageOvertakes: it is handled next, however much waits, and those that overtake
// keep their order.
func TestAnUrgentMessageOvertakes(t *testing.T) {
	bubble(t, func(b *bench) {
		p := b.parent()
		s := b.witness()
		facts := 0
		var after []int // facts handled before each urgent message
		s.receive = func(_ *guard.Context, msg any) {
			switch msg := msg.(type) {
			case string:
				facts++
			case answerNow:
				if int(msg) != len(after) {
					t.Errorf("the %d-th comes as the %d-th", msg, len(after))
				}
				after = append(after, facts)
			}
		}
		ref, resume := b.stalled(p, s.child("kid"))
		for range 10_000 {
			b.sys.Send(ref.PID, "fact")
		}
		for i := range 3 {
			b.sys.Send(ref.PID, answerNow(i))
		}
		for range 100 {
			b.sys.Send(ref.PID, "fact")
		}
		resume()
		if !slices.Equal(after, []int{0, 0, 0}) || facts != 10_100 {
			t.Errorf("urgent messages come after %v of %d facts", after, facts)
		}
		if n, _ := b.box("kid"); n != 0 {
			t.Errorf("%d messages are said to wait", n)
		}
		// One that finds an idle actor is handled like any other.
		b.sys.Send(ref.PID, answerNow(3))
		synctest.Wait()
		if len(after) != 4 {
			t.Errorf("handled %d urgent messages", len(after))
		}
		b.stop(p)
	})
}

// TestAnOrderToAnEndedActorIsRefused: no caller waits for an actor that has ended.
func TestAnOrderToAnEndedActorIsRefused(t *testing.T) {
	bubble(t, func(b *bench) {
		p := b.parent()
		s := b.witness()
		ref, resume := b.stalled(p, s.child("kid"))
		var got []error
		ask := func() {
			b.sys.Send(ref.PID, order{b.sys.Calls().Open(func(_ any, err error) { got = append(got, err) })})
		}
		b.sys.Send(ref.PID, func(c *guard.Context) { c.Exit(guard.Reason{}) })
		ask() // behind its end, in its mailbox
		resume()
		ask() // to an id that no actor has any more
		synctest.Wait()
		if len(got) != 2 || messages.CodeOf(got[0]) != messages.CodeUpstreamUnavailable || messages.CodeOf(got[1]) != messages.CodeUpstreamUnavailable {
			t.Errorf("answers %v", got)
		}
		b.stop(p)
	})
}
