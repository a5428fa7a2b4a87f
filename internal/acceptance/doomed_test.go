package acceptance_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// doomedPages ask while the next document of their site takes their place (C58): the
// gate opens once that document is ready. A form is sent after the script that submits it has
// ended, so its answer waits until the page stands at the gate.
var doomedPages = map[string]string{
	"by a link": `location.href = '/plain'; gate(); window.r = confirm('Saved!')`,
	"by a form": `document.forms[0].submit(); setTimeout(() => { gate(); window.r = confirm('Saved!') })`,
}

// doomedRig is a task on a page that asks a doomed dialog by go(), and another task on the
// same browser, whose state is to stay.
type doomedRig struct {
	*task
	other *task
	b     *chromiumtest.Browser
	p     *chromiumtest.FaultProxy
	gate  chan struct{}
	first chan struct{} // for a test's own use
}

func doomedSetup(t *testing.T, script string, change ...func(*messages.TaskSpec)) doomedRig {
	t.Helper()
	b := chromiumtest.Launch(t)
	r, p := proxied(t, b)
	r.site.Set("/doomed", `<title>/doomed</title><form method=post action=/behind-the-gate><input name=x value=y></form><script>
		function gate() { const x = new XMLHttpRequest(); x.open('GET', '/gate', false); x.send() }
		function go() { `+script+` }
	</script>`)
	gate, reached := make(chan struct{}), make(chan struct{})
	var reach sync.Once
	r.site.Handle("/behind-the-gate", http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		select {
		case <-reached:
			w.Header().Set("Location", "/plain")
			w.WriteHeader(http.StatusSeeOther)
		case <-asked.Context().Done():
		}
	}))
	r.site.Handle("/gate", http.HandlerFunc(func(_ http.ResponseWriter, asked *http.Request) {
		reach.Do(func() { close(reached) })
		select {
		case <-gate:
		case <-asked.Context().Done():
		}
	}))
	other := r.task("other", scoped(messages.ScopeOwn))
	other.goTo("http://a.test/plain")
	other.eval("", "window.mine = 'typed by an agent'")
	k := r.task("doomed", append([]func(*messages.TaskSpec){scoped(messages.ScopeOwn), r.through(p)}, change...)...)
	k.goTo("http://a.test/doomed")
	return doomedRig{k, other, b, p, gate, make(chan struct{})}
}

// goes has the page go, and opens its gate.
func (d doomedRig) goes(t *testing.T) {
	t.Helper()
	d.later("", "go()")
	d.opensGate(t)
}

// opensGate waits until the browser gives the page to its next document.
func (d doomedRig) opensGate(t *testing.T) {
	t.Helper()
	guest := chromiumtest.Dial(t, d.b.WS())
	session := guest.Attach(string(d.snapshot().PageTargetID))
	until(t, "the next document to be ready", func() bool {
		_, err := guest.Call(session, "Page.navigateToHistoryEntry", map[string]any{"entryId": -1})
		return err != nil && strings.Contains(err.Error(), "Not attached to an active page")
	})
	close(d.gate)
}

// unharmed says that the browser lives, and the other task's page with it.
func (d doomedRig) unharmed(t *testing.T) {
	t.Helper()
	if got, err := d.other.tryEval("", "window.mine"); err != nil || got != `"typed by an agent"` {
		t.Errorf("the other task's page has %s, %v", got, err)
	}
	select {
	case <-d.b.Exited():
		t.Fatalf("the browser is gone: %s", d.b.ExitReason())
	default:
	}
}

// moved waits until the page is where it was going.
func (d doomedRig) moved() {
	d.Helper()
	d.await("the next document", func(s *messages.Snapshot) bool {
		return len(s.Pages) > 0 && strings.HasSuffix(s.Pages[0].URL, "/plain") && len(s.PendingDialogs) == 0 && s.PageState == messages.PageOK
	})
	if got := d.eval("", "location.pathname"); got != `"/plain"` {
		d.Fatalf("the page is at %s", got)
	}
}

func (d doomedRig) lost(id messages.DialogID) {
	d.Helper()
	if c := d.closed(id); c.ClosedBy != messages.ClosedByLost {
		d.Fatalf("%s closed by %s", id, c.ClosedBy)
	}
}

// Such a dialog is lost at once, whatever the policy, and its page comes to its next
// document; no end of the task, and no way out of the page, takes the browser along.
func TestC58_ADialogOfADocumentThatIsReplacedNeverKillsTheBrowser(t *testing.T) {
	t.Parallel()
	recovering := func(a messages.RecoverAction) func(*testing.T, doomedRig) {
		return func(t *testing.T, d doomedRig) {
			d.await("the dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs)+len(s.RecentDialogs) > 0 })
			// It may be refused: the page may be well by then.
			_, _ = d.node.Recover(d.ctx, d.id, messages.RecoverRequest{Action: a})
			d.lost("d-1")
		}
	}
	drop := func(anchor bool) func(*testing.T, doomedRig) {
		return func(_ *testing.T, d doomedRig) {
			d.moved()
			primary, second := d.links(d.p)
			if anchor {
				primary = second
			}
			d.fells(d.p, primary)
			d.await("both links", func(s *messages.Snapshot) bool {
				return s.State == messages.StateActive && s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp
			})
		}
	}
	for name, c := range map[string]struct {
		and    func(*testing.T, doomedRig)
		change func(*messages.TaskSpec)
	}{
		"nothing": {and: func(*testing.T, doomedRig) {}},
		"auto_accept": {
			and:    func(*testing.T, doomedRig) {},
			change: func(s *messages.TaskSpec) { s.DialogPolicy = messages.PolicyAutoAccept },
		},
		"auto_dismiss": {
			and:    func(*testing.T, doomedRig) {},
			change: func(s *messages.TaskSpec) { s.DialogPolicy = messages.PolicyAutoDismiss },
		},
		"watchdog": {
			and:    func(*testing.T, doomedRig) {},
			change: func(s *messages.TaskSpec) { s.DialogTimeoutS = messages.MinDialogTimeout.Seconds() },
		},
		"without an anchor": {and: func(*testing.T, doomedRig) {}, change: oneLink},
		"answer": {and: func(t *testing.T, d doomedRig) {
			d.await("the dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs)+len(s.RecentDialogs) > 0 })
			_, err := d.node.Respond(d.ctx, d.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: "d-1"})
			wantCode(t, err, messages.CodeDialogLost)
		}},
		"delete": {and: func(t *testing.T, d doomedRig) {
			d.await("the dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs)+len(s.RecentDialogs) > 0 })
			if err := d.node.StopTask(d.ctx, d.id); err != nil {
				t.Error(err)
			}
		}},
		"close": {and: func(_ *testing.T, d doomedRig) {
			d.await("the dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs)+len(s.RecentDialogs) > 0 })
			d.cdp("", "Page.close", `{}`)
			d.await("no page", func(s *messages.Snapshot) bool { return len(s.Pages) == 0 })
		}},
		"navigate": {and: func(t *testing.T, d doomedRig) {
			d.lost("d-1")
			d.goTo("http://a.test/confirm")
			d.later("", "ask()")
			d.dialog()
			if _, err := d.node.Respond(d.ctx, d.id, messages.DialogAnswer{Action: messages.ActionAccept}); err != nil {
				t.Error(err)
			}
		}},
		"recover reattach": {and: recovering(messages.RecoverReattach)},
		"recover release":  {and: recovering(messages.RecoverRelease)},
		"recover reload":   {and: recovering(messages.RecoverReload)},
		"recover close":    {and: recovering(messages.RecoverClose)},
		"drop the primary": {and: drop(false)},
		"drop the anchor":  {and: drop(true)},
	} {
		for form, script := range doomedPages {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				change := c.change
				if change == nil {
					change = func(*messages.TaskSpec) {}
				}
				d := doomedSetup(t, script, change)
				hits := d.site.Hits("/plain")
				d.goes(t)
				c.and(t, d)
				if name != "delete" {
					d.lost("d-1")
				}
				switch name {
				case "delete", "close", "navigate", "recover close":
				default:
					d.moved()
				}
				if got := d.site.Hits("/plain") - hits; got > 1 {
					t.Errorf("the next document was asked for %d times", got)
				}
				d.unharmed(t)
			})
		}
	}
}

// What opens before the next document is ready is answered as ever.
func TestC58_TheFirstDialogBehindANavigationIsAnswered(t *testing.T) {
	t.Parallel()
	d := doomedSetup(t, `location.href = '/held'; window.first = confirm('leaving?'); gate(); confirm('really?')`)
	d.site.Handle("/held", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-d.first
		w.Header().Set("Location", "/plain")
		w.WriteHeader(http.StatusSeeOther)
	}))
	d.later("", "go()")
	d.dialog()
	if closed, err := d.node.Respond(d.ctx, d.id, messages.DialogAnswer{Action: messages.ActionAccept}); err != nil || closed.ClosedBy != messages.ClosedByAgent {
		t.Fatalf("the first: %+v, %v", closed, err)
	}
	close(d.first)
	d.opensGate(t)
	d.lost("d-2")
	d.moved()
	d.unharmed(t)
}

// A page that asks without end in that state never comes to its next document. It is
// closed with every session attached, since nothing else frees it.
func TestC58_ADoomedPageThatAsksWithoutEndIsClosed(t *testing.T) {
	t.Parallel()
	d := doomedSetup(t, `location.href = '/plain'; gate(); for (;;) alert('x')`)
	d.goes(t)
	d.await("no page", func(s *messages.Snapshot) bool { return len(s.Pages) == 0 })
	if n := d.log.lines("closed", "without end"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	d.unharmed(t)
}

// An agent gets away from a page that asks without end while its policy answers.
func TestC58_NavigatingAwayFromAnEndlessStormOfAlerts(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"to the same site": "http://a.test/confirm", "to another": "http://b.test/confirm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := doomedSetup(t, `for (;;) alert('x')`, func(s *messages.TaskSpec) { s.DialogPolicy = messages.PolicyAutoAccept })
			d.later("", "go()")
			d.await("a storm", func(s *messages.Snapshot) bool { return len(s.RecentDialogs) >= 10 })
			if _, err := d.node.Navigate(d.ctx, d.id, messages.NavigateRequest{URL: d.site.URL(url), TimeoutS: patience.Seconds()}); err != nil {
				t.Fatal(err)
			}
			if got := d.eval("", "document.title"); got != `"/confirm"` {
				t.Errorf("title %s", got)
			}
			d.unharmed(t)
		})
	}
}

// Raw commands that would end the browser under the dialog of a frame of another process
// are carried out in a safe order, or refused (C60).
func TestC60_ARawCloseOrCrashUnderAFramesDialogNeverKillsTheBrowser(t *testing.T) {
	t.Parallel()
	asking := func(t *testing.T) doomedRig {
		d := doomedSetup(t, "")
		d.goTo("http://a.test/oopif-prompt")
		d.later(d.frame("/prompt").FrameID, "ask()")
		d.dialog()
		return d
	}
	t.Run("Page.close", func(t *testing.T) {
		t.Parallel()
		d := asking(t)
		d.cdp("", "Page.close", `{}`)
		d.await("no page", func(s *messages.Snapshot) bool { return len(s.Pages) == 0 })
		d.unharmed(t)
	})
	t.Run("Page.crash", func(t *testing.T) {
		t.Parallel()
		d := asking(t)
		_, err := d.node.CDP(d.ctx, d.id, messages.CDPRequest{Method: "Page.crash"})
		wantCode(t, err, messages.CodeBlockedByDialog)
		if n := len(d.snapshot().PendingDialogs); n != 1 {
			t.Errorf("%d pending dialogs", n)
		}
		d.unharmed(t)
	})
}
