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
// after ten milliseconds, drops every connection of an address when one ends, and
// lets nobody in by an address for long.
type hostedBrowser struct {
	chrome *chromiumtest.Browser
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
	h := &hostedBrowser{chrome: chromiumtest.Launch(t)}
	b, err := hosted.New(h.chrome.WS(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	h.Backend = b
	return h
}

// entry is the address of a rig's hosted browser.
type entry struct{ *hosted.Door }

func (h *hostedBrowser) open() *entry { return &entry{h.Open()} }

func (d *entry) endpoint(t *testing.T) messages.CDPURL {
	u, err := messages.ParseCDPURL(d.URL())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The whole dialog suite, on a browser that takes dialogs away from everybody.
func TestD24_TheSuiteOnAHostedBrowser(t *testing.T) {
	t.Parallel()
	theHosted.Store(host(t, hosted.Options{DismissAfter: 10 * time.Millisecond, DropOthers: true, Dials: 6}))
	t.Run("rows", func(t *testing.T) {
		for name, row := range suite {
			t.Run(name, row)
		}
	})
}

// A task that is told nothing of its browser finds out by itself.
func TestBridge_AutoFindsOutOnAHostedBrowser(t *testing.T) {
	t.Parallel()
	h := host(t, hosted.Options{DismissAfter: 10 * time.Millisecond, DropOthers: true, Dials: 1})
	r := setupOn(t, h.chrome)
	r.entry = h.open()
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
	r := setupOn(t, h.chrome)
	r.entry = h.open()
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
