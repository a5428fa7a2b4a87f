package transport_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"holdfast/messages"
	"holdfast/transport"
)

// TestASinkThatPanicsEndsItsLinkAlone: a sink runs on the link's goroutine, on which no
// other recover would stop a panic before it ends the process.
func TestASinkThatPanicsEndsItsLinkAlone(t *testing.T) {
	t.Parallel()
	const secret = "ws://user:password@host/page-text"
	none := func(transport.Event) {}
	for name, tc := range map[string]struct {
		say  []string
		bind func(*transport.Mux)
		what string
	}{
		"by an event": {
			[]string{attachS1, eventOf("S1", 1)},
			func(m *transport.Mux) { m.Bind("S1", func(transport.Event) { panic(secret) }) },
			"a sink panicked with a value of type string",
		},
		"when it takes an event unread": {
			[]string{attachS1, eventOf("S1", 1)},
			func(m *transport.Mux) {
				m.Gather("S1", transport.Gathering{Sink: none, Settle: func() {}, Unread: func(transport.Event) bool { panic(secret) }})
			},
			"a sink panicked with a value of type string",
		},
		"when it settles": {
			[]string{attachS1, eventOf("S1", 1)},
			func(m *transport.Mux) {
				m.Gather("S1", transport.Gathering{Sink: none, Settle: func() {
					var none *messages.Event
					_ = none.Type
				}})
			},
			"runtime error: invalid memory address or nil pointer dereference",
		},
		"by a reply": {
			[]string{`{"id":1,"result":{}}`},
			func(m *transport.Mux) {
				m.Start(transport.Call{Method: "A.b", Done: func(r transport.Reply) {
					if r.Err == nil {
						panic(errors.New(secret))
					}
				}})
			},
			"a sink panicked with a value of type *errors.errorString",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := make(chan struct{})
				var ends []error
				m := newBrowser(t, func(p *peer) { <-begin; script(tc.say...)(p) }).dial(t, transport.DialOptions{
					Events: testEvents, OnClose: func(err error) { ends = append(ends, err) },
				})
				tc.bind(m)
				close(begin)
				<-m.Closed()
				synctest.Wait()
				if len(ends) != 1 {
					t.Fatalf("the link ended %d times: %v", len(ends), ends)
				}
				wantCause(t, ends[0], transport.CausePanic)
				p, ok := errors.AsType[*transport.PanicError](ends[0])
				if !ok || p.What != tc.what || !strings.Contains(string(p.Stack), "panic_test.go") {
					t.Errorf("told %+v, want %q with the place", p, tc.what)
				}
				if strings.Contains(ends[0].Error(), "page-text") {
					t.Errorf("the value is told: %v", ends[0])
				}
			})
		})
	}
	t.Run("by an event that was kept, on the goroutine that binds", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m := newBrowser(t, script(attachS1, eventOf("S1", 1))).dial(t, transport.DialOptions{Events: testEvents})
			synctest.Wait()
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic is nobody's")
					}
				}()
				m.Bind("S1", func(transport.Event) { panic("an actor's") })
			}()
			m.Bind("S1", none) // by the actor after it
			m.Close()
			<-m.Closed()
		})
	})
}
