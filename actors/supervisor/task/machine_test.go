package task_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/actors/supervisor/task"
	"holdfast/actors/supervisor/view"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// bench is a machine on its first link, with page P attached.
type bench struct {
	*testing.T
	m   *task.Machine
	now time.Time
}

// machineOf returns the machine of a task with that spec.
func machineOf(spec messages.TaskSpec) *task.Machine { return task.New("t", &spec) }

func attached(t *testing.T) *bench { return attachedAs(t, messages.TaskSpec{}) }

func attachedAs(t *testing.T, spec messages.TaskSpec) *bench {
	b := &bench{T: t, m: machineOf(spec.WithDefaults()), now: time.Unix(1000, 0)}
	b.step(step.BrowserStarting{Gen: 1})
	b.step(step.Linked{Gen: 1, Endpoint: "ws://h/***"})
	b.step(mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
	b.step(mail.RootAttached{Gen: 1, Pages: []messages.TargetID{"P"}})
	b.step(mail.SessionReady{Gen: 1, Session: "S", Target: "P"})
	if s := b.m.Snapshot(); s.State != messages.StateActive || s.Connection.Primary != messages.LinkUp {
		t.Fatalf("after the attach: %+v", s)
	}
	return b
}

// step returns a copy of the effects, and checks that versions are consecutive.
func (b *bench) step(in any) []step.Effect {
	b.Helper()
	before := b.m.Snapshot().Version
	effects := slices.Clone(b.m.Step(b.now, in))
	for _, e := range effects {
		if p, ok := e.(step.Publish); ok {
			if p.Before != before {
				b.Fatalf("%T: version %d comes after %d", in, p.Before, before)
			}
			before += uint64(len(p.Errors))
			for _, ev := range p.Events {
				if before++; ev.Version != before {
					b.Fatalf("%T: event %d has version %d", in, before, ev.Version)
				}
				if want := messages.SecondsOf(b.now); ev.At != want || p.At != want {
					b.Fatalf("%T: event %d is of %v, not of %v", in, before, ev.At, want)
				}
			}
		}
	}
	return effects
}

func has[E step.Effect](effects []step.Effect) bool {
	return slices.ContainsFunc(effects, func(e step.Effect) bool { _, ok := e.(E); return ok })
}

// TestAPageChangeNamesItsFields: an event says what is different, also after it
// was kept for a watcher that was away.
func TestAPageChangeNamesItsFields(t *testing.T) {
	t.Parallel()
	b := attached(t)
	board := view.NewBoard("t", messages.TaskSpec{}, b.now)
	for _, c := range []struct {
		in   any
		want string
	}{
		{mail.PageInfoChanged{Gen: 1, Info: mail.TargetInfo{ID: "P", Type: "page", Title: "Shop"}}, "title"},
		{mail.PageInfoChanged{Gen: 1, Info: mail.TargetInfo{ID: "P", Type: "page", Title: "Pay", URL: "http://a/pay"}}, "url,title"},
		{mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageHung}, "page_state"},
	} {
		var published []messages.Event
		for _, e := range b.step(c.in) {
			if p, ok := e.(step.Publish); ok {
				published = append(published, p.Events...)
			}
		}
		i := slices.IndexFunc(published, func(e messages.Event) bool { return e.Type == messages.EventPageChanged })
		if i < 0 || strings.Join(published[i].Changed.Fields(), ",") != c.want {
			t.Fatalf("%+v: %+v", c.in, published)
		}
		board.Publish(&view.View{Snapshot: b.m.Snapshot()}, view.News{Events: published})
		kept, _ := board.After(published[i].Version - 1)
		if len(kept) == 0 || kept[0].Changed != published[i].Changed || kept[0].At != messages.SecondsOf(b.now) {
			t.Errorf("kept: %+v, published: %+v", kept, published[i])
		}
	}
}

// A popup has no URL until its first document; no watcher is told of a page without one.
func TestM2_APageIsNeverWithoutAURL(t *testing.T) {
	t.Parallel()
	b := attached(t)
	effects := b.step(mail.TargetAttached{Gen: 1, Session: "Q", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page", Opener: "P"}, IsWaiting: true})
	told := 0
	for _, e := range effects {
		if p, ok := e.(step.Publish); ok {
			for _, ev := range p.Events {
				if ev.Page != nil && ev.Page.TargetID == "Q" {
					if told++; ev.Page.URL != "about:blank" {
						t.Errorf("%s with URL %q", ev.Type, ev.Page.URL)
					}
				}
			}
		}
	}
	if told == 0 {
		t.Error("no event tells of the page")
	}
	for _, p := range b.m.Snapshot().Pages {
		if p.TargetID == "Q" && p.URL != "about:blank" {
			t.Errorf("snapshot with URL %q", p.URL)
		}
	}
}

// TestALostTaskKeepsItsLastPage: what is read after the end says where the page was.
func TestALostTaskKeepsItsLastPage(t *testing.T) {
	t.Parallel()
	b := attached(t)
	b.step(mail.PageInfoChanged{Gen: 1, Info: mail.TargetInfo{ID: "P", Type: "page", Title: "Pay", URL: "http://a/pay"}})
	if s := b.m.Snapshot(); s.LastPage != nil {
		t.Errorf("a task that runs has %+v", s.LastPage)
	}
	b.step(step.BrowserGone{Why: "exited with status 0"})
	if s := b.m.Snapshot(); s.State != messages.StateLost || s.LastPage == nil || *s.LastPage != (messages.LastPage{URL: "http://a/pay", Title: "Pay"}) {
		t.Errorf("%s: %+v", s.State, s.LastPage)
	}
}

// TestADialogEndsWithItsBrowser: each dialog that was told of has its end told, also where the
// browser is known to have ended before the links are.
func TestADialogEndsWithItsBrowser(t *testing.T) {
	t.Parallel()
	b := attached(t)
	d := messages.Dialog{ID: "d-1", Type: messages.DialogConfirm, Message: "Pay?", TargetID: "P", FrameID: "P", Path: messages.PathNative}
	b.step(mail.DialogsChanged{Pending: []messages.Dialog{d}, Opened: &d})
	var ended []messages.ClosedDialog
	for _, e := range b.step(step.BrowserGone{Why: "killed"}) {
		if p, ok := e.(step.Publish); ok {
			for _, e := range p.Events {
				if e.Closed != nil {
					ended = append(ended, *e.Closed)
				}
			}
		}
	}
	want := messages.ClosedDialog{
		ID: "d-1", Type: messages.DialogConfirm, Message: "Pay?", TargetID: "P", FrameID: "P", Path: messages.PathNative,
		ClosedAt: messages.SecondsOf(b.now), ClosedBy: messages.ClosedByLost,
	}
	if len(ended) != 1 || ended[0] != want {
		t.Errorf("told %+v, want %+v", ended, want)
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	t.Run("what a link that is gone says changes nothing", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.step(step.BrowserExited{Err: errors.New("gone")})
		b.step(step.BrowserStarting{Gen: 2})
		version := b.m.Snapshot().Version
		for _, late := range []any{
			mail.RootAttached{Gen: 1},
			mail.PageClosed{Gen: 1, Page: "P"},
			mail.TargetAttached{Gen: 1, Session: "L", Page: "L", Info: mail.TargetInfo{ID: "L", Type: "page"}},
			mail.PageNavigated{Gen: 1, Page: "P", URL: "http://late/"},
			mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageCrashed},
			mail.FramesChanged{Gen: 1, Page: "P", Tree: &messages.FrameTree{}},
			mail.ConsoleReported{Gen: 1, Entry: messages.ConsoleError{Text: "late"}},
		} {
			if effects := b.step(late); len(effects) != 0 || b.m.Snapshot().Version != version {
				t.Errorf("%T of link 1: %+v", late, effects)
			}
		}
	})
	t.Run("a frame's dialog is not the page's while the frame has no session", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		frame := messages.FrameNode{FrameID: "F", ParentFrameID: "P", IsOOPIF: true, SessionID: "SF"}
		b.step(mail.FramesChanged{Gen: 1, Page: "P", Tree: &messages.FrameTree{Top: messages.FrameTop{FrameID: "P"}, Children: []messages.FrameNode{frame}}})
		b.step(mail.DialogsChanged{Pending: []messages.Dialog{{ID: "d-1", TargetID: "P", FrameID: "F", SessionID: "S"}}})
		b.step(step.BrowserExited{Err: errors.New("gone")})
		b.step(step.BrowserStarting{Gen: 2})
		holding := func(effects []step.Effect) map[messages.SessionID]bool {
			told := map[messages.SessionID]bool{}
			for _, e := range effects {
				if to, ok := e.(step.ToSession); ok {
					if o, ok := to.Msg.(mail.DialogsOpen); ok {
						told[to.Session] = o.IsHolding
					}
				}
			}
			return told
		}
		// A page that is told that it holds a dialog is waited for no longer, and
		// the task would be active without its frames.
		got := holding(b.step(mail.TargetAttached{Gen: 2, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}}))
		if held, told := got["S2"]; !told || held {
			t.Errorf("the page is told %v", got)
		}
		got = holding(b.step(mail.TargetAttached{Gen: 2, Session: "SF2", Via: "S2", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}}))
		if !got["SF2"] || got["S2"] {
			t.Errorf("page and frame are told %v", got)
		}
	})
	t.Run("an anchor that is back before the primary is not taken for the one before", func(t *testing.T) {
		t.Parallel()
		for anchor, want := range map[string]bool{"old": true, "new": false} {
			b := attached(t)
			b.step(step.Linked{Gen: 1, Browser: "old"})
			b.step(step.AnchorStarting{Gen: 1})
			b.step(step.AnchorLinked{Gen: 1, Browser: "old"})
			if anchor == "new" {
				b.step(step.AnchorExited{Err: errors.New("gone")})
				b.step(step.AnchorStarting{Gen: 2})
				b.step(step.AnchorLinked{Gen: 2, Browser: anchor})
			}
			b.step(step.BrowserExited{Err: errors.New("gone")})
			b.step(step.BrowserStarting{Gen: 2})
			b.step(step.Linked{Gen: 2, Browser: "new"})
			b.step(mail.TargetAttached{Gen: 2, Session: "T", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page"}})
			lost := slices.ContainsFunc(b.step(mail.RootAttached{Gen: 2, Pages: []messages.TargetID{"Q"}}), func(e step.Effect) bool {
				d, ok := e.(step.ToDialog)
				l, isLoss := d.Msg.(mail.LinkLost)
				return ok && isLoss && l.Role == messages.RoleAnchor
			})
			if lost != want {
				t.Errorf("an anchor to the %s browser: lost %v", anchor, lost)
			}
		}
	})
	t.Run("the pages of another browser are not given up with those of the last", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.step(step.Linked{Gen: 1, Browser: "old"})
		b.step(step.BrowserExited{Err: errors.New("gone")})
		b.step(step.BrowserStarting{Gen: 2})
		b.step(step.Linked{Gen: 2, Browser: "new"})
		b.step(mail.TargetAttached{Gen: 2, Session: "T", Page: "Q", Info: mail.TargetInfo{ID: "Q", Type: "page"}})
		var gone []messages.TargetID
		for _, e := range b.step(mail.RootAttached{Gen: 2, Pages: []messages.TargetID{"Q"}}) {
			if d, ok := e.(step.ToDialog); ok {
				if g, ok := d.Msg.(mail.PageGone); ok && g.IsLost {
					gone = append(gone, g.Page)
				}
			}
		}
		if !slices.Equal(gone, []messages.TargetID{"P"}) {
			t.Errorf("given up: %v", gone)
		}
	})
	t.Run("the last state is the last", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		b.step(step.BrowserExited{Err: errors.New("gone")})
		b.step(step.AnchorExited{Err: errors.New("gone")})
		if !has[step.Finish](b.step(step.GaveUp{Err: errors.New("five times")})) {
			t.Fatal("it goes on")
		}
		last := *b.m.Snapshot()
		for _, late := range []any{
			step.BrowserStarting{Gen: 2},
			step.BrowserWaiting{},
			step.BrowserExited{},
			step.Flush{},
			mail.StopTask{ID: "t"},
			mail.DialogsChanged{},
		} {
			if effects := b.step(late); len(effects) != 0 {
				t.Errorf("%T after the end: %+v", late, effects)
			}
		}
		if now := b.m.Snapshot(); now.Version != last.Version || now.State != messages.StateLost || now.Connection != last.Connection || now.PendingDialogs != nil {
			t.Errorf("after the end: %+v", now)
		}
		answers := 0
		for _, e := range b.step(mail.Navigate{Reply: calls.Open(func(any, error) { answers++ })}) {
			a := e.(step.Answer)
			calls.Answer(a.To, a.Value, a.Err)
		}
		if answers != 1 {
			t.Errorf("%d answers to an order after the end", answers)
		}
	})
	t.Run("a session reported by one that has ended is not taken up", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		child := func(s messages.SessionID, via messages.SessionID) mail.TargetAttached {
			return mail.TargetAttached{Gen: 1, Session: s, Via: via, Page: "P", Info: mail.TargetInfo{ID: messages.TargetID(s), Type: "iframe"}}
		}
		b.step(child("S1", "S"))
		b.step(mail.TargetDetached{Gen: 1, Session: "S1", Via: "S"})
		if has[step.SpawnSession](b.step(child("S2", "S1"))) {
			t.Error("it was")
		}
	})
	t.Run("a stop in the middle of the attach leaves in good order", func(t *testing.T) {
		t.Parallel()
		b := &bench{T: t, m: machineOf(messages.TaskSpec{}.WithDefaults()), now: time.Unix(1000, 0)}
		b.step(step.BrowserStarting{Gen: 1})
		effects := b.step(mail.StopTask{ID: "t"})
		if !slices.ContainsFunc(effects, func(e step.Effect) bool {
			to, ok := e.(step.ToBrowser)
			return ok && to.Msg == any(mail.Leave{})
		}) || has[step.Finish](effects) {
			t.Errorf("effects %+v", effects)
		}
		if !has[step.Finish](b.step(step.BrowserExited{})) {
			t.Error("it goes on after the link has left")
		}
	})
	t.Run("the console keeps the newest fifty (F14)", func(t *testing.T) {
		t.Parallel()
		b := attached(t)
		for n := range 80 {
			b.step(mail.ConsoleReported{Gen: 1, Entry: messages.ConsoleError{Text: fmt.Sprint(n)}})
		}
		b.step(step.Flush{})
		if c := b.m.Snapshot().ConsoleErrors; len(c) != 50 || c[0].Text != "30" || c[49].Text != "79" {
			t.Errorf("%d entries from %v", len(c), c[0])
		}
	})
}

// TestAVersionMeansAChange: what is told again, or changes nothing that is shown, is
// not published.
func TestAVersionMeansAChange(t *testing.T) {
	t.Parallel()
	b := attached(t)
	d := messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "P", SessionID: "S"}
	first := mail.DialogMemory{Seq: 1, Open: []mail.OpenDialog{{Dialog: d, Ways: []mail.Way{{Session: "S"}}}}}
	second := first
	second.Open = []mail.OpenDialog{{Dialog: d, Ways: []mail.Way{{Session: "S"}, {Role: messages.RoleAnchor, Session: "A"}}}}
	health := mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageHung}
	renamed := d
	renamed.SessionID = "S2"
	for _, c := range []struct {
		in   any
		news bool
	}{
		{mail.DialogsChanged{Memory: first, Pending: []messages.Dialog{d}, Opened: &d}, true},
		{mail.DialogsChanged{Memory: second, Pending: []messages.Dialog{d}}, false},
		{mail.DialogsChanged{Memory: second, Pending: []messages.Dialog{renamed}}, true},
		{mail.DialogsChanged{Closed: &messages.ClosedDialog{ID: "d-1", TargetID: "P"}}, true},
		{health, true},
		{health, false},
	} {
		before := b.m.Snapshot().Version
		effects := b.step(c.in)
		if news := has[step.Publish](effects); news != c.news || b.m.Snapshot().Version > before != c.news {
			t.Errorf("%T: published %t, version %d, before %d; want %t", c.in, news, b.m.Snapshot().Version, before, c.news)
		}
		// A caller that waits for a dialog is answered before its page's session, which
		// gets only what is new to it.
		if told := slices.IndexFunc(effects, isDialogsOpen); told >= 0 && (!c.news || !has[step.Publish](effects[:told])) {
			t.Errorf("%+v: %+v", c.in, effects)
		} else if _, ok := c.in.(mail.DialogsChanged); ok && c.news && told < 0 {
			t.Errorf("%+v: the session is not told", c.in)
		}
	}
}

func isDialogsOpen(e step.Effect) bool {
	to, ok := e.(step.ToSession)
	if ok {
		_, ok = to.Msg.(mail.DialogsOpen)
	}
	return ok
}
