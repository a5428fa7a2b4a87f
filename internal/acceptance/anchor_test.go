package acceptance_test

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// links waits until both links of a task stand and returns their numbers on
// the proxy, which no other task may use.
func (k *task) links(p *chromiumtest.FaultProxy) (primary, anchor int) {
	k.Helper()
	k.await("both links up", func(s *messages.Snapshot) bool {
		return s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp
	})
	open := p.Connections()
	for _, n := range open {
		if bytes.Contains(p.First(n), []byte("Target.setDiscoverTargets")) { // only the primary's
			primary = n
		} else {
			anchor = n
		}
	}
	if len(open) != 2 || primary == 0 || anchor == 0 {
		k.Fatalf("connections %v: primary %d, anchor %d", open, primary, anchor)
	}
	return primary, anchor
}

// fells kills one of the task's two links and waits until that is known.
func (k *task) fells(p *chromiumtest.FaultProxy, number int) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, patience)
	defer cancel()
	w, err := k.node.Watch(ctx, k.id, k.snapshot().Version, true)
	if err != nil {
		k.Fatal(err)
	}
	defer w.Close()
	if !p.Kill(number) {
		k.Fatalf("connection %d is not open", number)
	}
	for {
		events, err := w.Next(ctx)
		if err != nil {
			k.Fatalf("the loss of connection %d: %v", number, err)
		}
		for _, e := range events {
			if c := e.Connection; c != nil && (c.Primary != messages.LinkUp || c.Anchor != messages.LinkUp) {
				return
			}
		}
	}
}

// askerPage asks whatever it is told to, and keeps the outcome in window.got.
const askerPage = `<title>/asker</title><script>
addEventListener('beforeunload', e => { if (window.got === 'open') e.preventDefault() })
function ask(kind) {
	window.got = 'open'
	switch (kind) {
	case 'alert': alert('m'); window.got = 'returned'; break
	case 'confirm': window.got = confirm('m'); break
	case 'prompt': window.got = prompt('m', 'dflt'); break
	case 'beforeunload': location.href = '/left'
	}
}</script>`

// place is where a dialog comes from.
type place struct {
	page   messages.TargetID
	oopif  messages.FrameID // "": run in the page, with in before the script
	in     string
	frames int // below the page
}

var places = map[string]func(k *task) place{
	"the page": func(k *task) place {
		k.goTo("http://a.test/asker")
		return place{page: k.snapshot().PageTargetID}
	},
	"a frame of the same origin": func(k *task) place {
		k.goTo("http://a.test/same")
		k.frame("/asker")
		return place{page: k.snapshot().PageTargetID, in: "f.contentWindow.", frames: 1}
	},
	"a frame of another process": func(k *task) place {
		k.goTo("http://a.test/cross")
		return place{page: k.snapshot().PageTargetID, oopif: k.frame("/asker").FrameID, frames: 1}
	},
	"a popup": func(k *task) place {
		k.goTo("http://a.test/popup")
		opener := k.snapshot().PageTargetID
		k.laterOn(opener, "openChild('/asker')")
		popup := k.popup(opener).TargetID
		k.await("the popup's document", func(s *messages.Snapshot) bool {
			return slices.ContainsFunc(s.Pages, func(p messages.Page) bool { return p.TargetID == popup && p.Title == "/asker" })
		})
		return place{page: popup}
	},
}

func (l place) where() messages.CDPRequest {
	if l.oopif != "" {
		return messages.CDPRequest{FrameID: l.oopif}
	}
	return messages.CDPRequest{TargetID: l.page}
}

// grown says whether a tree has the place's frames, and their sessions. A
// popup's is not the one that is shown.
func (l place) grown(t *messages.FrameTree) bool {
	return l.frames == 0 || t != nil && len(t.Children) == l.frames && (l.oopif == "" || t.Children[0].SessionID != "")
}

func (k *task) runs(l place, script string) string {
	k.Helper()
	got, err := evalOn(k.ctx, k.node, k.id, l.where(), script)
	if err != nil {
		k.Fatalf("%s: %v", script, err)
	}
	return got
}

func askingPages(r *rig) {
	r.site.Set("/asker", askerPage)
	r.site.Set("/left", "<title>/left</title>")
	r.site.Set("/same", `<title>/same</title><iframe id=f src="/asker"></iframe>`)
	r.site.Set("/cross", `<title>/cross</title><iframe id=f src="http://b.test/asker"></iframe>`)
}

// TestM2_ADialogOutlivesThePrimary is the promise of the anchor: whatever the kind of
// dialog and the frame that asks, the dialog keeps its id, is answered while only the
// anchor stands, and the page receives the answer.
func TestM2_ADialogOutlivesThePrimary(t *testing.T) {
	t.Parallel()
	for where, open := range places {
		for _, kind := range []messages.DialogType{"alert", "confirm", "prompt", "beforeunload"} {
			t.Run(string(kind)+" of "+where, func(t *testing.T) {
				t.Parallel()
				r, p := proxied(t, chromiumtest.Shared(t))
				askingPages(r)
				k := r.task("m2", r.through(p))
				l := open(k)
				k.outlives(p, l, kind, "dismiss", true)
				k.outlives(p, l, kind, "accept", false)
			})
		}
	}
}

// outlives opens a dialog, kills the primary, and answers: while it is kept
// away, or once it is back.
func (k *task) outlives(p *chromiumtest.FaultProxy, l place, kind messages.DialogType, action messages.Action, away bool) {
	k.Helper()
	primary, _ := k.links(p)
	reconnects := k.snapshot().Connection.Reconnects
	k.runs(l, "setTimeout(() => "+l.in+"ask('"+string(kind)+"')); 0")
	d := k.dialog()
	if d.Type != kind || d.TargetID != l.page || (l.frames > 0) != (string(d.FrameID) != string(l.page)) {
		k.Fatalf("dialog %+v", d)
	}
	if away {
		p.HoldDials()
	}
	k.fells(p, primary)
	if !away {
		k.await("reconnected", func(s *messages.Snapshot) bool {
			return s.Connection.Reconnects == reconnects+1 && l.grown(s.FrameTree)
		})
	}
	s := k.snapshot()
	if len(s.PendingDialogs) != 1 || s.PendingDialogs[0].ID != d.ID || s.PendingDialogs[0].OpenedAt != d.OpenedAt {
		k.Fatalf("pending %+v, before %+v", s.PendingDialogs, d)
	}
	i := slices.IndexFunc(s.Pages, func(g messages.Page) bool { return g.TargetID == l.page })
	if i < 0 || s.Pages[i].PageState != messages.PageDialog || s.Connection.Anchor != messages.LinkUp {
		k.Fatalf("pages %+v, connection %+v", s.Pages, s.Connection)
	}
	code := messages.CodeBlockedByDialog
	if away {
		code = messages.CodeUpstreamUnavailable
	}
	// A beforeunload asks before the page stands still, and a page that waits in the
	// debugger answers.
	if kind != "beforeunload" && (away || !k.answersAsked()) {
		k.atOnceErr("a call meanwhile", code, func() error {
			where := l.where()
			where.WaitS = new(float64)
			_, err := evalOn(k.ctx, k.node, k.id, where, "1")
			return err
		})
	}

	answer := messages.DialogAnswer{Action: action, DialogID: d.ID}
	if kind == "prompt" {
		answer.PromptText = text("mine")
	}
	if c := k.respond(answer); c.ClosedBy != messages.ClosedByAgent || c.ID != d.ID {
		k.Fatalf("closed %+v", c)
	}
	if away {
		p.ReleaseDials()
	}
	s = k.await("whole again", func(s *messages.Snapshot) bool {
		return s.Connection.Reconnects == reconnects+1 && s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp &&
			s.State == messages.StateActive && len(s.PendingDialogs) == 0 &&
			!slices.ContainsFunc(s.Pages, func(p messages.Page) bool { return p.PageState != messages.PageOK }) &&
			l.grown(s.FrameTree)
	})
	if c := s.RecentDialogs[len(s.RecentDialogs)-1]; c.ID != d.ID || c.ClosedBy != messages.ClosedByAgent || c.Action != action {
		k.Errorf("history %+v", c)
	}
	accepted := action == "accept"
	switch kind {
	case "beforeunload":
		want := map[bool]string{true: `"/left"`, false: `"/asker"`}[accepted]
		until(k.T, "the page at "+want, func() bool {
			// A document that is just being left has no answer.
			got, err := evalOn(k.ctx, k.node, k.id, l.where(), titleOf(l))
			return err == nil && got == want
		})
	case "alert":
		k.wantGot(l, `"returned"`)
	case "confirm":
		k.wantGot(l, strconv.FormatBool(accepted))
	case "prompt":
		k.wantGot(l, map[bool]string{true: `"mine"`, false: "null"}[accepted])
	}
}

func titleOf(l place) string {
	if l.in != "" {
		return "f.contentDocument.title"
	}
	return "document.title"
}

func (k *task) wantGot(l place, want string) {
	k.Helper()
	if got := k.runs(l, l.in+"got"); got != want {
		k.Errorf("the page got %s, want %s", got, want)
	}
}

func TestM2_TheAnchorComesBack(t *testing.T) {
	t.Parallel()
	for name, asking := range map[string]bool{"with no dialog open": false, "under a dialog": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p := proxied(t, chromiumtest.Shared(t))
			askingPages(r)
			k := r.task("m2-back", r.through(p))
			l := places["the page"](k)
			for i := range 3 {
				_, anchor := k.links(p)
				if asking {
					k.later("", "ask('prompt')")
					k.dialog()
				}
				k.fells(p, anchor)
				k.links(p)
				s := k.snapshot()
				if s.State != messages.StateActive || s.Connection.Reconnects != uint64(i) {
					t.Fatalf("an anchor's loss was felt: %s, %+v", s.State, s.Connection)
				}
				if asking {
					if len(s.PendingDialogs) != 1 {
						t.Fatalf("pending %+v", s.PendingDialogs)
					}
					k.accept("round " + strconv.Itoa(i))
					k.wantGot(l, `"round `+strconv.Itoa(i)+`"`)
				}
				// What it came back for.
				k.outlives(p, l, "prompt", "accept", true)
			}
		})
	}
	t.Run("what opened before it came is lost with the primary, and said to be", func(t *testing.T) {
		t.Parallel()
		r, p := proxied(t, chromiumtest.Shared(t))
		askingPages(r)
		k := r.task("m2-late", r.through(p))
		places["the page"](k)
		_, anchor := k.links(p)
		k.later("", "ask('prompt')")
		d := k.dialog()
		k.fells(p, anchor)
		primary, _ := k.links(p)
		k.fells(p, primary)
		if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost {
			t.Errorf("closed %+v", c)
		}
		k.await("the page said to be unreachable", func(s *messages.Snapshot) bool { return s.PageState == messages.PageDialogUnreachable })
	})
}

func TestM1_WithBothLinksGoneADialogIsSaidToBeLost(t *testing.T) {
	t.Parallel()
	for where, open := range places {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			r, p := proxied(t, chromiumtest.Shared(t))
			askingPages(r)
			k := r.task("m1", r.through(p))
			l := open(k)
			k.links(p)
			k.runs(l, "setTimeout(() => "+l.in+"ask('confirm')); 0")
			d := k.dialog()
			p.KillAll()
			k.reconnected(1)
			back := time.Now()
			k.await("the page said to be unreachable", func(s *messages.Snapshot) bool {
				i := slices.IndexFunc(s.Pages, func(g messages.Page) bool { return g.TargetID == l.page })
				return i >= 0 && s.Pages[i].PageState == messages.PageDialogUnreachable
			})
			if took := time.Since(back); took > 2*time.Second {
				t.Errorf("that took %s from the reconnect", took)
			}
			if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost {
				t.Errorf("closed %+v", c)
			}
			_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", DialogID: d.ID})
			wantCode(t, err, messages.CodeDialogLost)
			k.atOnceErr("a call", messages.CodePageWedged, func() error {
				_, err := evalOn(k.ctx, k.node, k.id, l.where(), "1")
				return err
			})
		})
	}
}

// A task that ends takes everything of its second link along.
func TestAnchor_AnEndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(k *task, p *chromiumtest.FaultProxy){
		"both links up": func(*task, *chromiumtest.FaultProxy) {},
		"with a dialog open": func(k *task, _ *chromiumtest.FaultProxy) {
			k.later("", "ask('prompt')")
			k.dialog()
		},
		"the primary away": func(k *task, p *chromiumtest.FaultProxy) {
			primary, _ := k.links(p)
			p.Refuse()
			k.fells(p, primary)
		},
		"the primary away, with a dialog open": func(k *task, p *chromiumtest.FaultProxy) {
			primary, _ := k.links(p)
			k.later("", "ask('prompt')")
			k.dialog()
			p.Refuse()
			k.fells(p, primary)
		},
		"the primary away, and a popup just opening": func(k *task, p *chromiumtest.FaultProxy) {
			primary, _ := k.links(p)
			k.later("", "setTimeout(() => window.open('/plain'), 100)")
			p.Refuse()
			k.fells(p, primary)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := chromiumtest.Launch(t)
			r, p := proxied(t, b)
			askingPages(r)
			witness := chromiumtest.Dial(t, b.WS())
			user := witness.NewPage(r.site.URL("http://a.test/popup"))
			k := r.task("end", r.through(p), scoped(messages.ScopeOwn))
			places["the page"](k)
			k.links(p)
			before(k, p)
			k.atOnce("stop", func(ctx context.Context) error { return r.node.StopTask(ctx, k.id) })
			until(t, "no link", func() bool { return p.Open() == 0 })
			until(t, "no page but the user's", func() bool {
				n := 0
				for _, i := range targets(t, witness) {
					if i.Type == "page" && i.ID != user.Target && i.URL != "about:blank" {
						n++
					}
				}
				return n == 0
			})
			// Nothing of the user's is held.
			gesture(user, "openChild('/plain')")
			until(t, "the popup's document", func() bool { return string(user.Eval(user.Session, "child.document.title")) == `"/plain"` })
			for _, i := range targets(t, witness) {
				if i.Type == "page" && i.Attached && i.ID != user.Target {
					t.Errorf("attached still: %+v", i)
				}
			}
		})
	}
}

// With a frame's dialog on a page, closing it takes the browser along where a client
// is attached (C15). A task that ends without its primary has the anchor close what it
// made, and others may look at that.
func TestC15_AnEndWithoutThePrimaryNeverKillsTheBrowser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ removed, stays bool }{
		"the dialog is open":                              {},
		"the dialog is open, and a client stays attached": {stays: true},
		"its frame is gone":                               {removed: true},
		"its frame is gone, and a client stays attached":  {removed: true, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := chromiumtest.Launch(t)
			r, p := proxied(t, b)
			k := r.task("end", r.through(p), scoped(messages.ScopeOwn))
			k.goTo("http://a.test/oopif-prompt")
			primary, _ := k.links(p)
			k.later(k.frame("/prompt").FrameID, "ask()")
			k.dialog()
			// The page cannot be freed while a client is attached.
			guest := chromiumtest.Dial(t, b.WS())
			page := k.snapshot().PageTargetID
			guest.Attach(string(page))
			if c.removed {
				k.later("", "document.getElementById('f').remove()")
				if d := k.closed("d-1"); d.ClosedBy != messages.ClosedByLost {
					t.Fatalf("closed by %s", d.ClosedBy)
				}
			}
			p.Refuse()
			k.fells(p, primary)
			witness := guest
			if !c.stays {
				witness = chromiumtest.Dial(t, b.WS())
				guest.Close()
			}
			if err := r.node.StopTask(k.ctx, k.id); err != nil {
				t.Fatal(err)
			}
			until(t, "no link", func() bool { return p.Open() == 0 })
			if !c.stays {
				gone(t, witness, page)
			}
			guest.Close() // what was kept up to now is left by the last
			select {
			case <-b.Exited():
				t.Fatalf("the browser is gone: %s", b.ExitReason())
			default:
			}
			if _, err := chromiumtest.Dial(t, b.WS()).Call("", "Browser.getVersion", nil); err != nil {
				t.Fatalf("the browser does not answer: %v", err)
			}
		})
	}
}
