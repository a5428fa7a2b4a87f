package chaos_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"holdfast/chaos"
)

func TestAttachBatchIsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, chaos.Options{Pages: 1})
		c := w.dial()
		c.attach()
		synctest.Wait()
		page := w.b.Pages()[0].Target
		s := w.sessionOn(page, 1)
		for _, id := range c.batch(s) {
			synctest.Wait()
			if c.replies(id) != 1 {
				t.Errorf("command %d has %d replies, want 1", id, c.replies(id))
			}
		}
	})
}

func TestSameSeedGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	run := func() (out string) {
		synctest.Test(t, func(t *testing.T) {
			w := open(t, chaos.Options{Seed: 7, Pages: 3})
			c := w.dial()
			c.attach()
			synctest.Wait()
			for _, p := range w.b.Pages() {
				s := w.sessionOn(p.Target, 1)
				c.batch(s)
				c.send(s, "Page.navigate", `{"url":"http://a.test/p"}`)
				synctest.Wait()
				w.b.AddFrame(w.b.MainFrame(p.Target), "http://b.test/x")
				synctest.Wait()
			}
			var text []string
			for _, m := range c.all() {
				text = append(text, m.raw)
			}
			out = strings.Join(text, "\n") + fmt.Sprint(w.b.Frames())
		})
		return out
	}
	if a, b := run(), run(); a != b || len(a) < 1000 {
		t.Errorf("two runs of one seed differ (%d and %d bytes)", len(a), len(b))
	}
}
