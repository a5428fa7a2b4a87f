package node_test

import (
	"testing"

	"holdfast/chaos"
	"holdfast/messages"
)

// TestRestartTakesTheSpecOfBefore: a task that has ended starts again as it was
// started, and says until then where its page was.
func TestRestartTakesTheSpecOfBefore(t *testing.T) {
	t.Parallel()
	inWorld(t, "restart", chaos.Options{Pages: 1}, func(w *world) {
		w.start("a", func(s *messages.TaskSpec) {
			s.Scope, s.Labels = messages.ScopeOwn, map[string]string{"team": "shop"}
		})
		if s, started, err := w.node.Restart(w.Context(), "a"); err != nil || started || s.State != messages.StateActive {
			w.Fatalf("a task that runs: %+v, %t, %v", s, started, err)
		}
		if _, err := w.node.Navigate(w.Context(), "a", messages.NavigateRequest{URL: "http://a.test/"}); err != nil {
			w.Fatal(err)
		}
		if err := w.node.StopTask(w.Context(), "a"); err != nil {
			w.Fatal(err)
		}
		if _, _, err := w.node.Restart(w.Context(), "unknown"); messages.CodeOf(err) != messages.CodeTaskNotFound {
			w.Errorf("a task that never ran: %v", err)
		}
		s, started, err := w.node.Restart(w.Context(), "a")
		if err != nil || !started || s.State != messages.StateActive || s.Labels["team"] != "shop" || len(s.Pages) != 1 {
			w.Errorf("started again: %+v, %t, %v", s, started, err)
		}
	})
}
