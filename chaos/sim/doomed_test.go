package sim

import (
	"net/url"
	"slices"
	"strings"

	"holdfast/chaos"
	"holdfast/chaos/plan"
	"holdfast/messages"
)

// doom has a page ask while its next document comes (C58), which no session can answer. The
// node is to lose the dialog and to move the page on before anything else happens,
// since a link that falls under it takes the browser along.
func (w *world) doom(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if ok && !strings.HasPrefix(p.URL, "http") && w.mayBeSaved(p) {
		t.host.now().Navigate(p.Target, "http://a.test/asks")
		w.quiet()
		p, ok = t.page(s.Pick[0])
	}
	if !ok || !strings.HasPrefix(p.URL, "http") || !w.mayBeSaved(p) {
		return
	}
	next, err := url.Parse(p.URL)
	if err != nil {
		w.violate("page at %q: %v", p.URL, err)
		return
	}
	d := w.dialogs.raiseBy(func(o *dialog) *chaos.Dialog {
		return t.host.now().OpenDoomedDialog(p.Target, next.JoinPath("next").String(), o.kind, o.message, o.byText)
	}, s.Pick[1])
	if d == nil {
		return
	}
	w.trace.say("%s raises %s %q while its next document comes", w.trace.name("p", string(p.Target)), d.kind, d.message)
	w.quiet()
	if !w.dialogs.over(d.message) {
		w.violate("%q is doomed and stands open", d.message)
	}
}

// mayBeSaved says whether who hears of a page's dialogs can do something about a doomed
// one: a session hears of it, no link to it is silent or has its replies meddled with, and no
// actor is about to fail with its mailbox.
func (w *world) mayBeSaved(p chaos.Page) bool {
	if p.Dialogs > 0 || p.IsCrashed || p.IsBusy || p.IsFrozen || p.IsHeld {
		return false
	}
	h := w.hostOf(p.Target)
	if h == nil {
		return false
	}
	heard := false
	for _, c := range h.now().Connections() {
		if !slices.ContainsFunc(p.Sessions, func(s chaos.Session) bool { return s.Conn == c.Number() && s.IsPageEnabled }) {
			continue
		}
		if c.IsStalled() || c.DelaysReplies() || w.zombie(c) {
			return false
		}
		heard = true
	}
	for _, t := range w.tasks {
		if t.own[p.Target] && (w.breaker.waits(string(t.id)) || !t.running) {
			return false
		}
	}
	return heard
}

// hostOf is the browser that has a page.
func (w *world) hostOf(page messages.TargetID) *host {
	for _, h := range w.hosts {
		if slices.ContainsFunc(h.now().Pages(), func(p chaos.Page) bool { return p.Target == page }) {
			return h
		}
	}
	return nil
}

// canCrash says whether the browser survives the end of any of its renderers: it does not while
// a frame asks whose page lives in another one (C60).
func canCrash(b *chaos.Browser) bool {
	return !slices.ContainsFunc(b.Frames(), func(f chaos.Frame) bool { return f.HasDialog && f.Target != f.Page })
}
