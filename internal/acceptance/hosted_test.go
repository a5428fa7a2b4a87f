package acceptance_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/chaos/hosted"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// hostedBrowser is a browser that only a service leads to: it dismisses native dialogs
// after ten milliseconds, drops every connection of an address when one ends, and refuses
// an address after a while.
type hostedBrowser struct {
	chrome  *chromiumtest.Browser
	options hosted.Options
	*hosted.Backend
}

// theHosted and theUndebugged are for the rows of the suite, which know nothing of
// them.
var theHosted, theUndebugged atomic.Pointer[hostedBrowser]

const (
	onAHostedBrowser = "TestD24_TheSuiteOnAHostedBrowser"
	byRequests       = "TestD24_TheSuiteByRequests"
)

func hostedFor(t *testing.T) *hostedBrowser {
	switch {
	case strings.HasPrefix(t.Name(), onAHostedBrowser+"/"):
		return theHosted.Load()
	case strings.HasPrefix(t.Name(), byRequests+"/"):
		return theUndebugged.Load()
	}
	return nil
}

func host(t *testing.T, o hosted.Options) *hostedBrowser {
	t.Helper()
	return hostOn(t, chromiumtest.Launch(t), o)
}

// hostOn is a service in front of a browser that others may lead to as well.
func hostOn(t *testing.T, chrome *chromiumtest.Browser, o hosted.Options) *hostedBrowser {
	t.Helper()
	b, err := hosted.New(chrome.WS(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return &hostedBrowser{chrome, o, b}
}

// setup is a node whose tasks reach the browser through the service.
func (h *hostedBrowser) setup(t *testing.T) *rig {
	t.Helper()
	r := setupOn(t, h.chrome)
	r.service = h
	return r
}

// entry is the address of a task's hosted browser.
type entry struct{ *hosted.Door }

func (h *hostedBrowser) open() *entry { return &entry{h.Open()} }

func (d *entry) endpoint(t *testing.T) messages.CDPURL {
	u, err := messages.ParseCDPURL(d.URL())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The whole dialog suite, on a browser that dismisses every dialog. By a task's address its
// two links connect, and no further one: what would drop one ends it.
func TestD24_TheSuiteOnAHostedBrowser(t *testing.T) {
	t.Parallel()
	theHosted.Store(host(t, hosted.Options{DismissAfter: 10 * time.Millisecond, DoesDropOthers: true, Dials: 2}))
	t.Run("rows", func(t *testing.T) {
		for name, row := range suite {
			t.Run(name, row)
		}
	})
}

// Another client that connected by the task's address leaves, and the service drops both of
// the task's links: with none left the dialog is lost, whichever way the page waits, and
// the page continues with what dismissing gives. No native dialog follows.
func TestD24_AnotherClientOfTheAddressLeaves(t *testing.T) {
	t.Parallel()
	chrome := chromiumtest.Launch(t)
	for by, refuse := range map[messages.BridgeBy][]string{"debugger": nil, "request": {"Debugger"}} {
		for door, dials := range map[string]int{"the address has expired": 3, "the task comes back": 0} {
			t.Run(string(by)+", "+door, func(t *testing.T) {
				t.Parallel()
				r := hostOn(t, chrome, hosted.Options{DoesDropOthers: true, Dials: dials, Refuse: refuse}).setup(t)
				k := r.task("left", bridged)
				k.goTo("http://a.test/prompt")
				k.await("the bridge, and both links", func(s *messages.Snapshot) bool {
					return s.Pages[0].Bridge == messages.BridgeOn && s.Connection.BridgeBy == by && s.Connection.Anchor == messages.LinkUp
				})
				w, session := k.witness(k.snapshot().PageTargetID)
				other := chromiumtest.Dial(t, k.entry.URL())
				other.Must("", "Browser.getVersion", nil)
				k.later("", "ask()")
				d := k.dialog()
				if d.Path != messages.PathBridge {
					t.Errorf("dialog %+v", d)
				}
				other.Close()
				// Lost with both links, or over, as the new primary finds it before the end of the
				// anchor is noticed.
				if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost && c.ClosedBy != messages.ClosedByRemote || c.Path != messages.PathBridge {
					t.Errorf("record %+v", c)
				}
				until(t, "the page to have gone on", func() bool { return string(w.Eval(session, "window.got")) == "null" })
				if dials == 0 {
					k.reconnected(1)
					k.awaitBridge()
					k.later("", "ask()")
					if d := k.dialog(); d.Path != messages.PathBridge {
						t.Errorf("dialog %+v", d)
					}
					k.accept("back")
					if got := k.eval("", "window.got"); got != `"back"` {
						t.Errorf("the page received %s", got)
					}
				} else {
					until(t, "the task turned away", func() bool { return k.entry.Refused() > 0 })
				}
				if n := len(w.Events(chromiumtest.On(session, "Page.javascriptDialogOpening"))); n != 0 {
					t.Errorf("%d native dialogs", n)
				}
			})
		}
	}
}

// A task that is told nothing of its browser finds out by itself.
func TestBridge_AutoFindsOutOnAHostedBrowser(t *testing.T) {
	t.Parallel()
	h := host(t, hosted.Options{DismissAfter: 10 * time.Millisecond, DoesDropOthers: true, Dials: 1})
	r := h.setup(t)
	k := r.task("hosted")
	k.goTo("http://a.test/prompt")
	k.later("", "ask()")
	if c := k.closed("d-1"); c.ClosedBy != messages.ClosedByRemote || c.Path != "native" {
		t.Errorf("the first: %+v", c)
	}
	k.await("the bridge", func(s *messages.Snapshot) bool { return s.Pages[0].Bridge == "on" && s.PageState == messages.PageOK })
	for i := range 3 {
		k.later("", "ask()")
		d := k.dialog()
		if d.Path != "bridge" {
			t.Errorf("%d: %+v", i, d)
		}
		k.accept("kept")
		if got := k.eval("", "window.got"); got != `"kept"` {
			t.Errorf("%d: the page received %s", i, got)
		}
	}
	// The address expired with the first connection, so there is no anchor; the one
	// link holds.
	if s := k.snapshot(); s.Connection.Primary != messages.LinkUp || s.Connection.Reconnects != 0 || s.Connection.Anchor == messages.LinkUp {
		t.Errorf("links %+v", s.Connection)
	}
}

// Where the bridge cannot work, dialogs stay as they are, and the snapshot says so.
func TestBridge_WhereNoMechanismWorksDialogsStayNative(t *testing.T) {
	t.Parallel()
	h := host(t, hosted.Options{Refuse: []string{"Debugger", "Fetch"}})
	r := h.setup(t)
	k := r.task("unavailable", bridged)
	k.await("unavailable", func(s *messages.Snapshot) bool {
		return s.Pages[0].Bridge == "unavailable" && s.Connection.Bridge == "on"
	})
	k.goTo("http://a.test/oopif-prompt")
	for _, f := range []messages.FrameID{"", k.frame("/prompt").FrameID} {
		k.later(f, "window.got = prompt('still native')")
		if d := k.dialog(); d.Path != "native" {
			t.Errorf("dialog %+v", d)
		}
		k.accept("yes")
		if got := k.eval(f, "window.got"); got != `"yes"` {
			t.Errorf("received %s", got)
		}
	}
}
