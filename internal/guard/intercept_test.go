package guard_test

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"

	"holdfast/internal/guard"
)

func TestInterceptSeesEveryStepAndMayBreakIt(t *testing.T) {
	t.Parallel()
	for _, phase := range []guard.Phase{guard.PhaseInit, guard.PhaseReceive, guard.PhaseTerminate} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			var seen []guard.Phase
			exited := make(chan guard.Reason, 1)
			sys, err := guard.NewSystem(guard.Options{
				Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
				Intercept: func(m guard.Moment) {
					if m.Kind != "test" || m.Key != "kid" {
						return
					}
					if m.Parent != "root" {
						t.Errorf("parent %q", m.Parent)
					}
					seen = append(seen, m.Phase) // on the actor's goroutine, one at a time
					if m.Phase == phase {
						panic("injected")
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			kid := script{}
			root := sys.Root(script{
				init: func(c *guard.Context) {
					ref := c.Spawn(kid.child("kid"))
					c.Send(ref.PID, "hello")
					c.Stop("kid")
				},
				receive: func(_ *guard.Context, msg any) {
					if e, ok := msg.(guard.Exited); ok {
						exited <- e.Reason
					}
				},
			}.child("root"))
			if r := <-exited; r.Kind != guard.Panic {
				t.Errorf("the kid exited with %s", r)
			}
			want := []guard.Phase{guard.PhaseInit, guard.PhaseTerminate}
			if phase != guard.PhaseInit {
				want = []guard.Phase{guard.PhaseInit, guard.PhaseReceive, guard.PhaseTerminate}
			}
			if !slices.Equal(seen, want) {
				t.Errorf("saw %v, want %v", seen, want)
			}
			if _, err := root.Stop(context.Background()); err != nil {
				t.Fatal(err)
			}
			if err := sys.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
