package guard_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/guard"
)

func TestPanicEndsTheActorAndReachesNobodyElse(t *testing.T) {
	t.Parallel()
	crashes := map[string]func(){
		"panic":         func() { panic("boom") },
		"nil panic":     func() { panic(nil) },
		"runtime error": func() { none := []int{}; none[len(none)]++ },
		"goexit":        runtime.Goexit,
	}
	for name, crash := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testCrash(t, crash)
		})
	}
}

func testCrash(t *testing.T, crash func()) {
	for _, tc := range []struct {
		phase string
		child func(b *bench) guard.Child
		poke  bool // send it messages
		stop  bool // ask it to stop
		want  []string
	}{
		{
			phase: "New",
			child: func(b *bench) guard.Child {
				return guard.Child{Kind: "test", Key: "kid", New: func() guard.Behavior { crash(); return script{} }}
			},
			poke: true,
			want: []string{"kid exited: panic"},
		},
		{
			phase: "Init",
			child: func(b *bench) guard.Child {
				s := b.witness()
				s.init = func(*guard.Context) { crash() }
				return s.child("kid")
			},
			poke: true,
			want: []string{"kid terminates: panic", "kid exited: panic"},
		},
		{
			phase: "Receive",
			child: func(b *bench) guard.Child {
				s := b.witness()
				s.receive = func(_ *guard.Context, msg any) { b.d.add("kid got %v", msg); crash() }
				return s.child("kid")
			},
			poke: true,
			want: []string{"kid got 1", "kid terminates: panic", "kid exited: panic"},
		},
		{
			phase: "Terminate",
			child: func(b *bench) guard.Child {
				s := b.witness()
				inner := s.terminate
				s.terminate = func(c *guard.Context, r guard.Reason) { inner(c, r); crash() }
				return s.child("kid")
			},
			stop: true,
			want: []string{"kid terminates: shutdown", "kid exited: panic"},
		},
		{
			phase: "Init and Terminate",
			child: func(b *bench) guard.Child {
				s := b.witness()
				inner := s.terminate
				s.init = func(*guard.Context) { crash() }
				s.terminate = func(c *guard.Context, r guard.Reason) { inner(c, r); crash() }
				return s.child("kid")
			},
			poke: true,
			want: []string{"kid terminates: panic", "kid exited: panic"},
		},
		{
			phase: "Go",
			child: func(b *bench) guard.Child {
				s := b.witness()
				s.init = func(c *guard.Context) {
					c.Go("work", func(context.Context) any { crash(); return "never" })
				}
				return s.child("kid")
			},
			want: []string{"kid terminates: panic", "kid exited: panic"},
		},
		{
			phase: "a timer's message",
			child: func(b *bench) guard.Child {
				s := b.witness()
				s.init = func(c *guard.Context) { c.After("t", 0, "tick") }
				s.receive = func(*guard.Context, any) { crash() }
				return s.child("kid")
			},
			want: []string{"kid terminates: panic", "kid exited: panic"},
		},
	} {
		t.Run(tc.phase, func(t *testing.T) {
			bubble(t, func(b *bench) {
				p := b.parent()
				var sibling guard.Ref
				b.do(p.PID(), func(c *guard.Context) {
					sibling = c.Spawn(script{}.child("sibling"))
					kid := c.Spawn(tc.child(b))
					if tc.poke {
						for i := range 3 {
							c.Send(kid.PID, i+1)
						}
					}
					if tc.stop {
						c.Stop("kid")
					}
				})
				time.Sleep(time.Second)
				b.do(sibling.PID, func(c *guard.Context) { b.d.add("sibling lives") })
				b.d.want(t, append(tc.want, "sibling lives")...)
				if n := b.obs.get(guard.Panic); n != 1 {
					t.Errorf("%d panics observed", n)
				}
				if r := b.stop(p); r.Kind != guard.Shutdown {
					t.Errorf("parent ended with %v", r)
				}
			})
		})
	}
}

// witness is a child that writes down its end.
func (b *bench) witness() script {
	return script{terminate: func(c *guard.Context, r guard.Reason) { b.d.add("%s terminates: %v", c.Key(), r.Kind) }}
}

func TestCrashShutsDownTheChildrenFirst(t *testing.T) {
	for name, crash := range map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(b *bench) {
				p := b.parent()
				s := b.witness()
				s.init = func(c *guard.Context) {
					c.Spawn(b.witness().child("grandkid"))
					c.Spawn(script{init: func(c *guard.Context) { c.Exit(guard.Reason{}) }}.child("short-lived"))
				}
				kid := b.spawn(p, s.child("kid"))
				// The exit of a child, in the same batch as the crash, must not be
				// lost with the messages that are.
				b.do(kid.PID, func(c *guard.Context) {
					b.sys.Send(c.Self(), func(*guard.Context) { b.d.add("a message of before the crash") })
					b.sys.Send(c.Self(), func(*guard.Context) { crash() })
					c.Spawn(script{init: func(c *guard.Context) { c.Exit(guard.Reason{}) }}.child("another"))
					time.Sleep(time.Second) // they are all in the mailbox now
				})
				b.sys.Send(kid.PID, func(*guard.Context) { b.d.add("a message of after the crash") })
				time.Sleep(time.Second)
				synctest.Wait()
				b.d.want(t, "a message of before the crash", "grandkid terminates: shutdown", "kid terminates: panic", "kid exited: panic")
				b.stop(p)
			})
		})
	}
}

func TestPanicsAreRedacted(t *testing.T) {
	const secret = "what a page says, which looks like no secret"
	bubble(t, func(b *bench) {
		var got guard.Reason
		p := b.sys.Root(script{receive: func(_ *guard.Context, msg any) { got = msg.(guard.Exited).Reason }}.child("parent"))
		b.spawn(p, script{init: func(*guard.Context) {
			panic(errors.New("page says " + secret + strings.Repeat("x", 1<<20)))
		}}.child("kid"))
		for _, s := range []string{got.String(), got.Err.Error(), string(got.Stack), b.log.String()} {
			if strings.Contains(s, secret) {
				t.Errorf("secret in %.100q", s)
			}
			if len(s) > 1<<16 {
				t.Errorf("%d bytes of a panic's value got through", len(s))
			}
		}
		if got.String() != "panic: an actor panicked with a value of type *errors.errorString" {
			t.Errorf("reason is %.100q", got.String())
		}
		if !strings.Contains(string(got.Stack), "crash_test.go") {
			t.Errorf("the stack does not show the place:\n%s", got.Stack)
		}
		b.spawn(p, script{init: func(*guard.Context) { _ = make([]int, 1)[len(b.log.String())] }}.child("slip"))
		if s := got.String(); !strings.HasPrefix(s, "panic: runtime error: index out of range [") {
			t.Errorf("reason is %.100q", s)
		}
		if s := guard.Fail(errors.New("dial wss://user:pw@host/devtools/browser/0f5e8c2a1b3d4e5f")).String(); strings.Contains(s, "0f5e8c2a") || strings.Contains(s, "pw") {
			t.Errorf("failure prints the URL: %s", s)
		}
		b.stop(p)
	})
}

// stateful is a behavior that can say what it knows.
type stateful struct {
	script
	state func() string
}

func (s stateful) State() string { return s.state() }

func TestAPanicLogsTheStateOfItsActor(t *testing.T) {
	for name, c := range map[string]struct {
		state func() string
		want  string
	}{
		"one that it can print": {func() string { return "page: P" }, `state="page: P"`},
		"a long one, cut":       {func() string { return strings.Repeat("x", 1<<20) }, "…"},
		"none, since it panics": {func() string { panic("again") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(b *bench) {
				p := b.parent()
				b.spawn(p, guard.Child{Kind: "test", Key: "kid", New: func() guard.Behavior {
					return stateful{script{init: func(*guard.Context) { panic("no") }}, c.state}
				}})
				b.d.want(t, "kid exited: panic")
				log := b.log.String()
				if !strings.Contains(log, c.want) || len(log) > 1<<16 || strings.Contains(log, "state of the actor") != (c.want != "") {
					t.Errorf("the log is %.2000q", log)
				}
				b.stop(p)
			})
		})
	}
}

func TestBadChildren(t *testing.T) {
	t.Parallel()
	t.Run("a New that returns nothing is a panic of the child", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			b.spawn(p, guard.Child{Kind: "test", Key: "kid", New: func() guard.Behavior { return nil }})
			b.d.want(t, "kid exited: panic")
			b.stop(p)
		})
	})
	for name, child := range map[string]guard.Child{
		"without a kind": {Key: "kid", New: func() guard.Behavior { return script{} }},
		"without a New":  {Kind: "test", Key: "kid"},
	} {
		t.Run("one "+name+" is a panic of the parent", func(t *testing.T) {
			bubble(t, func(b *bench) {
				p := b.parent()
				b.spawn(p, child)
				if r := p.Reason(); r.Kind != guard.Panic {
					t.Errorf("reason %v", r)
				}
			})
		})
	}
}

func TestObserverMayPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sys, err := guard.NewSystem(guard.Options{Observer: badObserver{}, Logger: newBenchLogger()})
		if err != nil {
			t.Fatal(err)
		}
		h := sys.Root(script{init: func(c *guard.Context) { c.Spawn(script{}.child("kid")) }}.child("root"))
		if r, err := h.Stop(t.Context()); err != nil || r.Kind != guard.Shutdown {
			t.Errorf("stop: %v, %v", r, err)
		}
		if err := sys.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

type badObserver struct{}

func (badObserver) ActorStarted(string)              { panic("observer") }
func (badObserver) ActorExited(string, guard.Reason) { panic("observer") }
func (badObserver) ActorRestarted(string)            { panic("observer") }
func (badObserver) ActorGaveUp(string)               { panic("observer") }
func (badObserver) DeadLetter(bool)                  { panic("observer") }
func (badObserver) DuplicateID()                     { panic("observer") }
