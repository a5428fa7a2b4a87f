package node_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages"
)

// breaking has the next actor of a kind that comes to phase panic, once armed is set.
func breaking(armed *atomic.Bool, kind string, phase guard.Phase) func(*node.Config) {
	return func(c *node.Config) {
		c.Intercept = func(m guard.Moment) {
			if m.Kind == kind && m.Phase == phase && armed.CompareAndSwap(true, false) {
				panic("injected")
			}
		}
	}
}

// TestBrokenActors are what is left to say of actors that panic; chaos/sim
// breaks all of them, many times.
func TestBrokenActors(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"browser", "anchor"} {
		var armed atomic.Bool
		inWorldWith(t, "a link is let go though the last word of its "+kind+" fails", chaos.Options{Pages: 1},
			breaking(&armed, kind, guard.PhaseTerminate), func(w *world) {
				w.start("t", everything, func(s *messages.TaskSpec) { s.Anchor = "auto" })
				synctest.Wait()
				armed.Store(true)
				if err := w.node.StopTask(w.ctx, "t"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if armed.Load() {
					t.Fatal("nothing was broken")
				}
				if n := len(w.b.Connections()); n != 0 {
					t.Errorf("%d links are left", n)
				}
			})
	}

	var failing atomic.Bool
	inWorldWith(t, "a session has the bridge its task has turned to, though it fails after that", chaos.Options{Pages: 1},
		breaking(&failing, "session", guard.PhaseReceive), func(w *world) {
			page := w.start("t", everything, func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff }).PageTargetID
			synctest.Wait()
			w.start("t", everything, func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOn })
			synctest.Wait()
			failing.Store(true)
			w.b.LogError(w.b.MainFrame(page), "boo")
			time.Sleep(5 * time.Second)
			if failing.Load() {
				t.Fatal("nothing was broken")
			}
			w.b.Crash(page)
			synctest.Wait()
			if _, err := w.node.Recover(w.ctx, "t", messages.RecoverRequest{Action: messages.RecoverReload}); err != nil {
				t.Fatal(err)
			}
			d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
			if s := w.snapshot("t"); !d.IsBridged() || len(s.PendingDialogs) != 1 || s.PendingDialogs[0].Path != messages.PathBridge {
				t.Errorf("bridged: %t; waiting: %+v", d.IsBridged(), s.PendingDialogs)
			}
		})

	var armed atomic.Bool
	inWorldWith(t, "the end of the registry is the end of the node, and it says so", chaos.Options{Pages: 1},
		breaking(&armed, "registry", guard.PhaseReceive), func(w *world) {
			w.start("t", everything)
			armed.Store(true)
			if err := w.node.Alive(w.ctx); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
				w.Errorf("a sign of life: %v", err)
			}
			synctest.Wait()
			w.want(messages.CodeInternal, w.node.Ready())
			if s := w.snapshot("t"); s.Active {
				w.Errorf("task is %s", s.State)
			}
			if n := len(w.b.Connections()); n != 0 {
				w.Errorf("%d links are left", n)
			}
		})
}
