package acceptance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

func TestF14_TheConsoleRing(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f14")
	k.goTo("http://a.test/oopif")
	k.eval("", "for (let i = 0; i < 80; i++) console.error('planted', i, {a: 1}); console.log('no error'); console.warn('no error'); 0")
	last := func(text string) func(*messages.Snapshot) bool {
		return func(s *messages.Snapshot) bool {
			n := len(s.ConsoleErrors)
			return n > 0 && strings.HasPrefix(s.ConsoleErrors[n-1].Text, text)
		}
	}
	ring := k.await("the last error", last("planted 79 ")).ConsoleErrors
	if len(ring) != 50 {
		t.Fatalf("%d entries", len(ring))
	}
	now := float64(messages.SecondsOf(time.Now()))
	for i, c := range ring {
		if c.Text != fmt.Sprintf("planted %d Object", 30+i) || c.Level != "error" || float64(c.TS) > now+1 || float64(c.TS) < now-60 {
			t.Errorf("entry %d: %+v", i, c)
		}
	}
	t.Run("exceptions, with where they come from", func(t *testing.T) {
		const thrower = `<script>function boom(){ setTimeout(() => { throw new Error('thrown on purpose') }) }</script>`
		k.site.Set("/thrower", thrower+`<iframe src="http://b.test/thrower-below"></iframe>`)
		k.site.Set("/thrower-below", thrower)
		k.goTo("http://a.test/thrower")
		for _, c := range []struct {
			frame messages.FrameID
			page  string
		}{{"", "http://a.test/thrower"}, {k.frame("/thrower-below").FrameID, "http://b.test/thrower-below"}} {
			k.eval(c.frame, "boom()")
			want := k.site.URL(c.page)
			s := k.await("the exception of "+c.page, func(s *messages.Snapshot) bool {
				n := len(s.ConsoleErrors)
				return n == 50 && s.ConsoleErrors[n-1].URL == want
			})
			if e := s.ConsoleErrors[49]; e.Level != "exception" || !strings.Contains(e.Text, "thrown on purpose") {
				t.Errorf("entry %+v", e)
			}
		}
	})
	t.Run("the fixture page's own", func(t *testing.T) {
		k.goTo("http://a.test/console-error")
		s := k.await("both", last("Uncaught: Error: planted exception"))
		e := s.ConsoleErrors[len(s.ConsoleErrors)-2]
		if want := k.site.URL("http://a.test/console-error"); e.Text != "planted error" || e.Level != "error" || e.URL != want {
			t.Errorf("entry %+v", e)
		}
	})
}
