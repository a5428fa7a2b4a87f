package guard_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/guard"
	"holdfast/internal/restart"
)

// drawn is a tree on one line.
func drawn(n guard.Node) string {
	s := n.Key + " " + string(n.State)
	if n.Restarts > 0 {
		s += fmt.Sprintf(" %d", n.Restarts)
	}
	if len(n.Children) > 0 {
		var kids []string
		for _, c := range n.Children {
			kids = append(kids, drawn(c))
		}
		s += " (" + strings.Join(kids, ", ") + ")"
	}
	return s
}

func TestTree(t *testing.T) {
	t.Parallel()
	policy := restart.Policy{
		Strategy: restart.RestForOne, MaxConsecutive: 5,
		Backoff: restart.Backoff{Base: time.Second, Cap: time.Minute},
	}
	look := func(h *guard.Handle, o guard.TreeOptions) string {
		synctest.Wait()
		n, _ := h.Tree(o)
		return drawn(n)
	}
	t.Run("restarts are counted, and a child in its backoff keeps its place", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(policy, nil, restart.Child{ID: "b"}, restart.Child{ID: "a"})
			want := func(want string) {
				t.Helper()
				if got := look(h, guard.TreeOptions{}); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			want("root running (a running, b running)")
			b.fail(h, g, "b")
			b.fail(h, g, "b")
			n, _ := h.Tree(guard.TreeOptions{})
			want("root running (a waiting 1, b waiting 1)")
			if c := n.Children[1]; c.Kind != "test" || c.Gen != 0 || !c.Started.IsZero() || !c.Next.After(time.Now()) {
				t.Errorf("the empty place: %+v", c)
			}
			time.Sleep(time.Until(n.Children[1].Next))
			want("root running (a running 2, b running 2)")
			b.do(h.PID(), func(c *guard.Context) { g.Remove(c, "a") })
			want("root running (b running 2)")
			b.do(h.PID(), func(c *guard.Context) { g.Add(c, restart.Child{ID: "a"}) })
			want("root running (a running, b running 2)")
			b.stop(h)
		})
	})
	t.Run("one that waits in vain leaves no place behind", func(t *testing.T) {
		bubble(t, func(b *bench) {
			h, g := b.grouped(policy, nil, restart.Child{ID: "a"})
			b.fail(h, g, "a")
			b.fail(h, g, "a")
			b.do(h.PID(), func(c *guard.Context) { g.Shutdown(c) })
			if got := look(h, guard.TreeOptions{}); got != "root running" {
				t.Error(got)
			}
			b.stop(h)
		})
	})
	t.Run("an actor that hangs is in it, and holds nobody up", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			kid := b.spawn(p, script{}.child("kid"))
			b.sys.Send(kid.PID, func(*guard.Context) { time.Sleep(time.Hour) })
			b.spawn(p, script{init: func(*guard.Context) { time.Sleep(time.Hour) }}.child("new"))
			b.sys.Send(p.PID(), func(c *guard.Context) { c.Stop("kid"); time.Sleep(time.Second) })
			begin := time.Now()
			n, _ := p.Tree(guard.TreeOptions{})
			if got := drawn(n); time.Since(begin) != 0 || !strings.HasSuffix(got, "(kid running, new starting)") {
				t.Errorf("%s after %v", got, time.Since(begin))
			}
			b.stop(p)
			time.Sleep(2 * time.Hour)
		})
	})
	t.Run("it is bounded, and shows what is wanted", func(t *testing.T) {
		bubble(t, func(b *bench) {
			p := b.parent()
			for i := range 5 {
				b.spawn(p, script{init: func(c *guard.Context) { c.Spawn(script{}.child("x")) }}.child(fmt.Sprint(i)))
			}
			for _, c := range []struct {
				o         guard.TreeOptions
				want      string
				truncated bool
			}{
				{guard.TreeOptions{Limit: 4}, "(0 running (x running), 1 running)", true},
				{guard.TreeOptions{Limit: 11, Depth: 1}, "(0 running, 1 running, 2 running, 3 running, 4 running)", false},
				{guard.TreeOptions{Want: func(_, key string) bool { return key == "3" || key == "x" }}, "(3 running (x running))", false},
			} {
				n, truncated := p.Tree(c.o)
				if got := drawn(n); !strings.HasSuffix(got, c.want) || truncated != c.truncated {
					t.Errorf("%+v: %s %v", c.o, got, truncated)
				}
			}
			b.stop(p)
		})
	})
	t.Run("many look while actors come and go", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		var looking sync.WaitGroup
		done := make(chan struct{})
		root := b.sys.Root(script{}.child("root"))
		for range 4 {
			looking.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						root.Tree(guard.TreeOptions{})
					}
				}
			})
		}
		for i := range 200 {
			ready := make(chan struct{})
			b.sys.Send(root.PID(), func(c *guard.Context) {
				c.Spawn(script{}.child(fmt.Sprint(i)))
				c.Stop(fmt.Sprint(i - 3))
				close(ready)
			})
			<-ready
		}
		close(done)
		looking.Wait()
		b.stop(root)
		if err := b.sys.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
