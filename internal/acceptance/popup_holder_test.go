package acceptance_test

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"holdfast/chaos/hosted"
	"holdfast/messages"
)

var popupsEach = flag.Int("popups", 2, "how many popups TestC32_APopupBesideAClientThatResumesIt opens of each kind")

// A popup runs as soon as one of those who hold it has resumed it (C32): beside a client
// that resumes at once, as Playwright inside a service does, its first dialog may come
// before the bridge is there. Whichever way it comes, the popup and its opener go on.
// With -v it says how often which:
//
//	go test ./internal/acceptance -run TestC32_APopupBesideAClient -v -popups 100
func TestC32_APopupBesideAClientThatResumesIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inside string
		holds  bool
		anchor messages.Anchor
	}{
		{"lets popups be", false, messages.AnchorAuto},
		{"holds them as well", true, messages.AnchorAuto},
		{"holds them as well, beside one link", true, messages.AnchorNone},
	} {
		t.Run(c.inside, func(t *testing.T) {
			t.Parallel()
			r := host(t, hosted.Options{DismissAfter: 10 * time.Millisecond, HasHolder: c.holds}).setup(t)
			ran := make(chan string, 100)
			r.site.Handle("/ran", http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { ran <- q.URL.RawQuery }))
			r.site.Set("/asks-first", `<title>/asks-first</title><script>prompt(location.search.slice(1)); fetch('http://a.test/ran' + location.search, {mode: 'no-cors'})</script>`)
			k := r.task("popups", bridged, func(s *messages.TaskSpec) { s.Anchor = c.anchor })
			k.goTo("http://a.test/plain")
			k.await("the bridge", func(s *messages.Snapshot) bool {
				return s.Pages[0].Bridge == messages.BridgeOn && (s.Connection.Anchor == messages.LinkUp || c.anchor == messages.AnchorNone)
			})
			opener := k.snapshot().PageTargetID
			for i, asks := range []struct{ who, script string }{
				{"its first script", "window.open('/asks-first?%s')"},
				{"its first script, of another site", "window.open('http://b.test/asks-first?%s')"},
				{"its opener, right behind window.open", "const w = window.open('/plain'); w.prompt('%[1]s'); fetch('/ran?%[1]s')"},
			} {
				came := map[messages.DialogPath]int{}
				for j := range *popupsEach {
					mark := fmt.Sprintf("%d-%d", i, j)
					k.laterOn(opener, k.site.URL(fmt.Sprintf(asks.script, mark)))
					came[k.firstOf(mark, ran)]++
				}
				t.Logf("a client inside that %s; asked by %s: %v", c.inside, asks.who, came)
				if !c.holds && i < 2 && came[messages.PathBridge] != *popupsEach {
					t.Errorf("asked by %s: %v", asks.who, came)
				}
			}
		})
	}
}

// firstOf answers the dialog with that message, waits for what asked to go on, closes the
// popup, and says how it came: over the bridge; natively, which the service closes; or that
// not at all.
func (k *task) firstOf(mark string, ran <-chan string) messages.DialogPath {
	k.Helper()
	until(k.T, "what asked to go on", func() bool {
		pending := k.snapshot().PendingDialogs
		if i := slices.IndexFunc(pending, func(d messages.Dialog) bool { return d.Message == mark && d.Path == messages.PathBridge }); i >= 0 {
			k.respond(messages.DialogAnswer{Action: messages.ActionAccept, DialogID: pending[i].ID})
		}
		select {
		case got := <-ran:
			if got != mark {
				k.Errorf("%s ran, want %s", got, mark)
			}
			return true
		default:
			return false
		}
	})
	// What a link tells of a page it tells before its end.
	k.closesPopups()
	s := k.snapshot()
	i := slices.IndexFunc(s.RecentDialogs, func(d messages.ClosedDialog) bool { return d.Message == mark })
	if i < 0 {
		return "nobody was told"
	}
	return s.RecentDialogs[i].Path
}
