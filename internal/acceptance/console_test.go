package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
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

func TestF14_TheConsoleAcrossTwentyKills(t *testing.T) {
	t.Parallel()
	const kills = 20
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("f14-kills", r.through(p))
	k.goTo("http://a.test/oopif")
	frame := k.frame("/plain").FrameID
	texts := func(s *messages.Snapshot) (all []string) {
		for _, e := range s.ConsoleErrors {
			all = append(all, e.Text)
		}
		return all
	}
	k.eval("", "console.error('of the page'); 0")
	k.eval(frame, "console.error('of the frame'); let beats = 0; addEventListener('message', () => console.error('beat', ++beats)); 0")
	want := []string{"of the page", "of the frame"}
	k.await("both", func(s *messages.Snapshot) bool { return slices.Equal(texts(s), want) })
	// Another client moves the frame while no link of the task is there.
	other := chromiumtest.Dial(t, k.chrome.WS())
	witness := other.Attach(string(k.snapshot().PageTargetID))
	for i := range uint64(kills) {
		p.HoldDials()
		p.KillAll()
		k.await("the loss", func(s *messages.Snapshot) bool { return s.Connection.Primary != messages.LinkUp })
		other.Eval(witness, "document.getElementById('f').contentWindow.postMessage('', '*'); 0")
		p.ReleaseDials()
		want = append(want, fmt.Sprintf("beat %d", i+1))
		k.whole(i + 1)
		k.await("the beat that was missed", func(s *messages.Snapshot) bool {
			got := texts(s)
			return len(got) >= len(want) && got[len(got)-1] == want[len(want)-1]
		})
		if got := texts(k.snapshot()); !slices.Equal(got, want) {
			t.Fatalf("kill %d:\n got %q\nwant %q", i+1, got, want)
		}
	}
}

func TestF14_APageThatComesBackOutOfTheCacheRepeatsNothing(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f14-back")
	k.goTo("http://a.test/plain")
	k.eval("", "window.kept = 1; console.error('here'); 0")
	k.goTo("http://b.test/plain")
	k.eval("", "console.error('there'); 0")
	k.later("", "history.back()")
	k.await("the first page", func(s *messages.Snapshot) bool { return k.site.Written(s.Pages[0].URL) == "http://a.test/plain" })
	if got := k.eval("", "window.kept"); got != "1" {
		t.Fatalf("the page was loaded anew, kept %s: nothing to see here", got)
	}
	k.eval("", "console.error('again'); 0")
	s := k.await("the last", func(s *messages.Snapshot) bool {
		n := len(s.ConsoleErrors)
		return n > 0 && s.ConsoleErrors[n-1].Text == "again"
	})
	if len(s.ConsoleErrors) != 3 || s.ConsoleErrors[0].Text != "here" || s.ConsoleErrors[1].Text != "there" {
		t.Errorf("console %+v", s.ConsoleErrors)
	}
}
