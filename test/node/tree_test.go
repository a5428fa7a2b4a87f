package node_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// branches are the actors of a tree, one each, by their way from the root;
// sessions are only told by their number.
func branches(n messages.TreeNode) []string {
	var out []string
	sessions := 0
	for _, c := range n.Children {
		if c.Kind == "session" {
			sessions++
			continue
		}
		line := c.Kind + "/" + c.Key + " " + string(c.State)
		if c.Restarts > 0 {
			line += fmt.Sprintf(" %d", c.Restarts)
		}
		out = append(out, line)
		for _, below := range branches(c) {
			out = append(out, "  "+below)
		}
	}
	if sessions > 0 {
		out = append(out, fmt.Sprintf("%d sessions", sessions))
	}
	return out
}

func TestTreeOfANode(t *testing.T) {
	t.Parallel()
	tree := func(w *world, o messages.TreeOptions) string {
		synctest.Wait()
		return strings.Join(branches(w.node.Tree(o).Root), "\n")
	}
	inWorld(t, "a task has a supervisor, and that its actors, each with its restarts", chaos.Options{}, func(w *world) {
		w.start("one")
		time.Sleep(time.Second)
		const whole = `supervisor/one running
  anchor/anchor running
  browser/browser running
  dialog/dialog running
  frame/frame running
  1 sessions`
		if got := tree(w, messages.TreeOptions{}); got != whole {
			w.Errorf("got\n%s", got)
		}
		for _, c := range w.b.Connections() {
			c.Drop()
		}
		time.Sleep(time.Minute)
		again := strings.NewReplacer("browser running", "browser running 1", "frame running", "frame running 1").Replace(whole)
		got := tree(w, messages.TreeOptions{})
		// The anchor has a new group where the browser's loss came first.
		if strings.ReplaceAll(got, "anchor running 1", "anchor running") != again {
			w.Errorf("after both links were lost\n%s", got)
		}
	})
	inWorld(t, "a task's part, what a token covers, and the top alone", chaos.Options{}, func(w *world) {
		w.start("acme:1")
		w.start("acme:2")
		w.start("other")
		all := "supervisor/acme:1 running\nsupervisor/acme:2 running\nsupervisor/other running"
		if got := tree(w, messages.TreeOptions{Depth: 1}); got != all {
			w.Errorf("got\n%s", got)
		}
		acme := func(id messages.TaskID) bool { return strings.HasPrefix(string(id), "acme:") }
		if got := tree(w, messages.TreeOptions{Depth: 1, Allows: acme}); got != strings.TrimSuffix(all, "\nsupervisor/other running") {
			w.Errorf("got\n%s", got)
		}
		if got := tree(w, messages.TreeOptions{Task: "other", Allows: acme}); got != "" {
			w.Errorf("a task that may not be shown\n%s", got)
		}
		if got := tree(w, messages.TreeOptions{Task: "other"}); !strings.HasPrefix(got, "supervisor/other running\n  anchor/") {
			w.Errorf("got\n%s", got)
		}
	})
	inWorld(t, "a link that cannot be had is a place that waits", chaos.Options{}, func(w *world) {
		w.start("one")
		time.Sleep(time.Second)
		w.b.Close()
		time.Sleep(300 * time.Millisecond)
		got := tree(w, messages.TreeOptions{})
		if !strings.Contains(got, "browser/browser waiting") && !strings.Contains(got, "anchor/anchor waiting") {
			w.Errorf("got\n%s", got)
		}
	})
}

func TestLookingOnKeepsNothingAlive(t *testing.T) {
	t.Parallel()
	inWorld(t, "a task that is only looked at ends when it is idle", chaos.Options{}, func(w *world) {
		w.start("one", func(s *messages.TaskSpec) { s.IdleTimeoutS = 5 })
		var last uint64
		for range 4 {
			events, err := w.node.Changes("one", last)
			if err != nil {
				w.Fatal(err)
			}
			for _, e := range events {
				if e.Version <= last {
					w.Errorf("version %d after %d", e.Version, last)
				}
				last = max(last, e.Version)
			}
			w.node.Tree(messages.TreeOptions{Task: "one"})
			time.Sleep(1500 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if s := w.snapshot("one"); s.Active {
			w.Errorf("it is still %s", s.State)
		}
		if _, err := w.node.Changes("nobody", 0); messages.CodeOf(err) != messages.CodeTaskNotFound {
			w.Error(err)
		}
	})
}
