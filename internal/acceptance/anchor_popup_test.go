package acceptance_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// popups are the ways in which a page opens one whose first script asks.
var popups = map[string]string{
	"with an opener":    `openChild()`,
	"of another site":   `openChild('http://b.test/prompt-on-load')`,
	"without an opener": `window.open('/prompt-on-load', '_blank', 'noopener')`,
	"by a link":         `const a = document.createElement('a'); a.href = '/prompt-on-load'; a.target = '_blank'; document.body.append(a); a.click()`,
}

func (k *task) closesPopups() {
	k.Helper()
	s := k.snapshot()
	for _, p := range s.Pages {
		if p.OpenerID != nil {
			k.cdp("", "Target.closeTarget", `{"targetId":"`+string(p.TargetID)+`"}`)
		}
	}
	k.await("the opener alone", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
}

// Both links hold a popup until both see its dialogs, so the one that opens in
// its first script can be answered by either.
func TestM2_APopupsFirstDialogOutlivesThePrimary(t *testing.T) {
	t.Parallel()
	for name, open := range popups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := proxied(t, chromiumtest.Shared(t))
			k := r.task("m2-popup", r.through(p))
			k.goTo("http://a.test/popup")
			opener := k.snapshot().PageTargetID
			for i := range uint64(5) {
				primary, _ := k.links(p)
				k.laterOn(opener, k.site.URL(open))
				d := k.dialog()
				p.HoldDials()
				k.fells(p, primary)
				got := "round " + strconv.FormatUint(i, 10)
				if c := k.respond(messages.DialogAnswer{Action: "accept", PromptText: &got, DialogID: d.ID}); c.ClosedBy != messages.ClosedByAgent {
					t.Fatalf("closed %+v", c)
				}
				p.ReleaseDials()
				k.reconnected(i + 1)
				if got := k.evalOnFrame(d, "window.got"); got != strconv.Quote("round "+strconv.FormatUint(i, 10)) {
					t.Fatalf("the popup received %s", got)
				}
				k.closesPopups()
			}
		})
	}
}

// While the primary is away the anchor is the only one to hold a popup, to see
// its dialog and to let it run.
func TestM2_APopupThatOpensWhileThePrimaryIsAway(t *testing.T) {
	t.Parallel()
	for name, open := range popups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := proxied(t, chromiumtest.Shared(t))
			k := r.task("m2-away", r.through(p))
			k.goTo("http://a.test/popup")
			opener := k.snapshot().PageTargetID
			for i := range uint64(3) {
				primary, _ := k.links(p)
				gate := "/gate-" + strconv.FormatUint(i, 10)
				leave := make(chan struct{})
				r.site.Handle(gate, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					select {
					case <-leave:
					case <-q.Context().Done():
					}
					w.WriteHeader(http.StatusNoContent)
				}))
				k.laterOn(opener, "fetch('"+gate+"').then(() => {"+k.site.URL(open)+"})")
				until(t, "the page waiting", func() bool { return r.site.Hits(gate) == 1 })
				p.HoldDials()
				k.fells(p, primary)
				close(leave)
				d := k.dialog()
				if d.TargetID == opener || d.Message != "who?" {
					t.Fatalf("dialog %+v", d)
				}
				if c := k.accept("away"); c.ClosedBy != messages.ClosedByAgent {
					t.Fatalf("closed %+v", c)
				}
				p.ReleaseDials()
				k.reconnected(i + 1)
				if s := k.await("the popup taken up", func(s *messages.Snapshot) bool { return len(s.Pages) == 2 }); s.PageTargetID != opener {
					t.Errorf("the current page is %s", s.PageTargetID)
				}
				if got := k.evalOnFrame(d, "window.got"); got != `"away"` {
					t.Fatalf("the popup received %s", got)
				}
				k.closesPopups()
			}
		})
	}
}

// Two tasks with two links each share a browser: four clients hold every new page for a
// moment, and each leaves the pages that are not its own.
func TestDemand12_TwoAnchoredTasksShareABrowser(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r, p := proxied(t, b)
	ran := make(chan string, 100)
	r.site.Handle("/ran", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		ran <- q.URL.RawQuery
		w.WriteHeader(http.StatusNoContent)
	}))
	r.site.Set("/first-script", `<script>fetch('/ran?' + location.search.slice(1))</script>`)
	witness := chromiumtest.Dial(t, b.WS())
	user := witness.NewPage(r.site.URL("http://a.test/popup"))
	q := chromiumtest.Proxy(t, b.Addr())
	one := r.task("one", r.through(p), scoped(messages.ScopeOwn))
	two := r.task("two", r.through(q), scoped(messages.ScopeOwn))
	for _, k := range []*task{one, two} {
		k.goTo("http://a.test/popup")
	}
	one.links(p)
	two.links(q)
	opened := 0
	runs := func(who string, open func(url string)) {
		t.Helper()
		opened++
		want := fmt.Sprintf("%s-%d", who, opened)
		begin := time.Now()
		open("/first-script?" + want)
		select {
		case got := <-ran:
			if got != want {
				t.Fatalf("%s ran, want %s", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("the first script of %s never ran", want)
		}
		if took := time.Since(begin); took > atOnce {
			t.Errorf("%s was held for %s", want, took)
		}
	}
	noOpener := func(url string) string { return "window.open('" + url + "', '_blank', 'noopener')" }
	for range 5 {
		runs("user", func(url string) { gesture(user, "openChild('"+url+"')") })
		runs("user", func(url string) { gesture(user, noOpener(url)) })
		for _, k := range []*task{one, two} {
			top := k.snapshot().PageTargetID
			runs(string(k.id), func(url string) { k.laterOn(top, "openChild('"+url+"')") })
			runs(string(k.id), func(url string) { k.laterOn(top, noOpener(url)) })
			k.await("both popups", func(s *messages.Snapshot) bool { return len(s.Pages) == 3 })
			k.closesPopups()
		}
	}
	// No client holds the user's pages.
	until(t, "no foreign page attached", func() bool {
		for _, i := range targets(t, witness) {
			mine := i.ID == user.Target || i.ID == string(one.snapshot().PageTargetID) || i.ID == string(two.snapshot().PageTargetID)
			if i.Type == "page" && i.Attached && !mine {
				return false
			}
		}
		return true
	})

	// Both links of a task die just as a popup of the user's is held by them: it
	// runs, at the latest once the task is back (C33).
	for i := range 10 {
		runs("user", func(url string) {
			script := "openChild('" + url + "')"
			if i%2 == 1 {
				script = noOpener(url)
			}
			sent := witness.Send(user.Session, "Runtime.evaluate", map[string]any{"expression": script, "userGesture": true})
			p.KillAll()
			if _, err := sent.Wait(patience); err != nil {
				t.Fatalf("round %d: the user's page is frozen: %v", i, err)
			}
		})
		one.links(p)
	}
	if s := two.snapshot(); s.Connection.Reconnects != 0 || s.State != messages.StateActive {
		t.Errorf("the other task felt it: %+v", s.Connection)
	}
}
