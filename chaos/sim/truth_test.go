package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"holdfast/actors/session/link"
	"holdfast/chaos"
	"holdfast/messages"
)

// look brings up to date what ought to be true: which pages are whose, who
// could still answer a dialog; and it names what is new.
func (w *world) look() {
	for _, h := range w.hosts {
		w.christen(h)
		pages := h.now().Pages()
		for _, t := range w.tasks {
			if t.host == h && t.running {
				t.claim(pages)
			}
		}
	}
	if at, news := w.breaker.broke(); news {
		w.faultUntil(at)
	}
	for _, deaf := range w.breaker.deafened() {
		t := w.task(messages.TaskID(deaf.task))
		w.dialogs.excuseAt(t, deafened, deaf.at)
		t.deafened = true
	}
	w.dialogs.look()
	w.lookAtClients()
}

// christen names what is new in a browser, in an order that every run of the
// seed has: tabs that several tasks make at once by whose they are, which is
// known once they show them.
func (w *world) christen(h *host) {
	b := h.now()
	shown := map[messages.TargetID]bool{}
	for _, t := range w.tasks {
		if s := t.snapshot(); t.host == h && t.running && t.plan.Scope == messages.ScopeOwn && s != nil {
			for _, p := range s.Pages {
				shown[p.TargetID] = true
				w.trace.name("p", string(p.TargetID))
			}
		}
	}
	for _, p := range b.Pages() {
		if shown[p.Target] || p.Opener != "" || !w.served(h) || w.settled {
			w.trace.name("p", string(p.Target))
		}
	}
	for _, p := range w.byName(b.Pages()) {
		for _, f := range b.FramesOf(p.Target) {
			w.trace.name("f", string(f.ID))
		}
	}
}

// byName orders pages by the names they have.
func (w *world) byName(pages []chaos.Page) []chaos.Page {
	slices.SortFunc(pages, func(a, b chaos.Page) int {
		return cmp.Compare(w.trace.number(string(a.Target)), w.trace.number(string(b.Target)))
	})
	return pages
}

// claim works out which of a browser's pages are the task's.
func (t *task) claim(pages []chaos.Page) {
	here := map[messages.TargetID]bool{}
	for _, p := range pages {
		if p.URL == link.HelperURL(t.id) {
			continue // see helpersLeft
		}
		here[p.Target] = true
		if t.plan.Scope == messages.ScopeBrowser || t.own[p.Opener] {
			t.own[p.Target] = true
		}
	}
	for id := range t.own {
		if !here[id] {
			delete(t.own, id)
		}
	}
}

// adopt takes up a tab that the task has made for want of any other, or for a
// caller who was never told.
func (t *task) adopt(s *messages.Snapshot) {
	if len(t.own) > 0 && t.tabs == 0 {
		return
	}
	truth := map[messages.TargetID]chaos.Page{}
	for _, p := range t.host.now().Pages() {
		truth[p.Target] = p
	}
	for _, p := range s.Pages {
		if real, ok := truth[p.TargetID]; ok && real.Opener == "" && !t.takenBy(p.TargetID) {
			t.own[p.TargetID] = true
		}
	}
}

// takenBy says whether another task has the page for its own.
func (t *task) takenBy(page messages.TargetID) bool {
	for _, o := range t.w.tasks {
		if o != t && o.running && o.host == t.host && o.plan.Scope == messages.ScopeOwn && o.own[page] {
			return true
		}
	}
	return false
}

// helpersLeft lists the pages that tasks have opened to free a page (C19), and not closed.
func (w *world) helpersLeft() (list []string) {
	for _, t := range w.tasks {
		for _, p := range t.host.now().Pages() {
			if t.running && p.URL == link.HelperURL(t.id) {
				list = append(list, fmt.Sprintf("%s: page %s has helped, and is left", t.id, w.trace.name("p", string(p.Target))))
			}
		}
	}
	return list
}

// diff lists how the tasks' states differ from what the browsers say.
func (w *world) diff() []string {
	var list []string
	for _, t := range w.tasks {
		if t.running {
			for _, d := range t.diff() {
				list = append(list, string(t.id)+": "+d)
			}
		}
	}
	list = append(list, w.clientsDiff()...)
	list = append(list, w.helpersLeft()...)
	for _, h := range w.hosts {
		for _, p := range h.now().Pages() {
			// A popup that is never resumed, and its opener with it (C33). In a renderer
			// that hangs, the command to resume waits like any other.
			if (p.IsHeld || p.IsFrozen) && len(w.zombies) == 0 && w.served(h) && !h.hangs(p.Target) && !h.hangs(p.Opener) && !h.waitsForPopup(p.Target) {
				list = append(list, fmt.Sprintf("page %s is frozen: %+v", w.trace.name("p", string(p.Target)), p))
			}
			if p.IsStuck && w.served(h) {
				list = append(list, fmt.Sprintf("page %s stands still with nothing to answer: %+v", w.trace.name("p", string(p.Target)), p))
			}
		}
		for _, d := range h.now().OpenDialogs() {
			if d.IsBridged() && len(w.zombies) == 0 && !slices.ContainsFunc(w.tasks, func(t *task) bool { return t.running && t.host == h && t.reaches(d) }) {
				list = append(list, fmt.Sprintf("page %s waits in %q for nobody", w.trace.name("p", string(d.Page())), d.Message()))
			}
		}
	}
	return list
}

// bridges says whether a page has the bridge by the account of a task that is at rest.
func (w *world) bridges(page messages.TargetID) bool {
	for _, t := range w.tasks {
		if s := t.snapshot(); t.running && s != nil && s.Connection.Bridge == messages.BridgeOn {
			for _, p := range s.Pages {
				if p.TargetID == page && p.Bridge == messages.BridgeOn {
					return true
				}
			}
		}
	}
	return false
}

// hangs says whether the renderer of a page cannot do anything.
func (h *host) hangs(page messages.TargetID) bool {
	frames := h.now().FramesOf(page)
	return len(frames) > 0 && frames[0].IsHanging
}

// waitsForPopup says whether a page stands still inside window.open for a popup in
// a renderer that cannot do anything: the order to let it run waits there, behind a
// dialog or a loop (C16), and frees both once it is heard (C33).
func (h *host) waitsForPopup(opener messages.TargetID) bool {
	return slices.ContainsFunc(h.now().Pages(), func(p chaos.Page) bool {
		return p.Opener == opener && p.IsHeld && h.hangs(p.Target)
	})
}

// served says whether some task is attached to the browser.
func (w *world) served(h *host) bool {
	return slices.ContainsFunc(w.tasks, func(t *task) bool { return t.running && t.host == h })
}

func (t *task) diff() []string {
	s := t.snapshot()
	if s == nil {
		return []string{"does not exist"}
	}
	if s.State != messages.StateActive && s.State != messages.StateWedged {
		return []string{"is " + string(s.State)}
	}
	if s.Connection.Primary != messages.LinkUp {
		return []string{"primary is " + string(s.Connection.Primary)}
	}
	t.adopt(s)
	var list []string
	differ := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }

	shown := map[messages.TargetID]messages.Page{}
	for _, p := range s.Pages {
		shown[p.TargetID] = p
		if !t.own[p.TargetID] {
			differ("shows page %s, which is not its own", t.w.trace.name("p", string(p.TargetID)))
		}
	}
	b := t.host.now()
	for _, truth := range b.Pages() {
		if !t.own[truth.Target] {
			continue
		}
		name := t.w.trace.name("p", string(truth.Target))
		p, ok := shown[truth.Target]
		if !ok {
			differ("does not show page %s %+v", name, truth)
			continue
		}
		if p.URL != cmp.Or(truth.URL, "about:blank") {
			differ("page %s is at %s, shown at %s", name, truth.URL, p.URL)
		}
		if !slices.ContainsFunc(truth.Sessions, func(x chaos.Session) bool { return x.ID == p.SessionID }) {
			differ("page %s: session %s is not the browser's", name, p.SessionID)
		}
		if why := t.pageState(truth, p, s); why != "" {
			differ("page %s: %s", name, why)
		}
		for _, d := range t.frames(truth) {
			differ("page %s: %s", name, d)
		}
	}
	asks := map[messages.TargetID]bool{}
	for _, d := range b.OpenDialogs() {
		asks[d.Page()] = true
	}
	for _, d := range s.PendingDialogs {
		// Where another dialog has followed, it cannot be known before that is over.
		if t.w.dialogs.over(d.Message) && !asks[d.TargetID] {
			differ("dialog %q is shown and over", d.Message)
		}
	}
	return list
}

// pageState compares what a page can do with what is said of it.
func (t *task) pageState(truth chaos.Page, shown messages.Page, s *messages.Snapshot) string {
	var allowed, paused []messages.PageState
	if truth.Asks > 0 {
		paused = []messages.PageState{messages.PagePaused} // by another task's bridge
	}
	answerable := 0
	for _, d := range t.host.now().OpenDialogs() {
		if d.Page() != truth.Target {
			continue
		}
		pending := slices.ContainsFunc(s.PendingDialogs, func(p messages.Dialog) bool {
			return p.TargetID == truth.Target && p.FrameID == d.Frame() && p.Message == d.Message()
		})
		if t.reaches(d) && !t.w.dialogs.excused(t, d) {
			answerable++
			if !pending {
				return fmt.Sprintf("dialog %q stands open and is not shown", d.Message())
			}
		}
	}
	switch {
	case truth.IsCrashed:
		allowed = []messages.PageState{messages.PageCrashed}
	case truth.Dialogs+truth.Asks > 0 && answerable == truth.Dialogs+truth.Asks:
		allowed = []messages.PageState{messages.PageDialog}
	case truth.IsBusy, slices.ContainsFunc(t.host.now().FramesOf(truth.Target), func(f chaos.Frame) bool { return f.IsHanging }):
		// Who asked has seen it hang; who did not, not yet. An iframe may share
		// the renderer of another page, and hang by that page's dialog.
		allowed = []messages.PageState{messages.PageOK, messages.PageHung, messages.PageDialogUnreachable, messages.PageDialog, messages.PageBlockedElsewhere}
		allowed = append(allowed, paused...)
	case truth.Dialogs+truth.Asks > 0:
		allowed = append(paused, messages.PageOK, messages.PageDialogUnreachable, messages.PageDialog)
	default:
		allowed = []messages.PageState{messages.PageOK}
	}
	if !slices.Contains(allowed, shown.PageState) {
		return fmt.Sprintf("state %s, want one of %v (%+v)", shown.PageState, allowed, truth)
	}
	return ""
}

// frames compares a page's forest, where every renderer of it can be asked.
func (t *task) frames(page chaos.Page) []string {
	truth := t.host.now().FramesOf(page.Target)
	if page.Dialogs > 0 || page.IsCrashed || slices.ContainsFunc(truth, func(f chaos.Frame) bool { return f.IsHanging }) {
		return nil
	}
	s, err := t.w.node.Snapshot(t.id, messages.SnapshotOptions{TargetID: page.Target, Full: true})
	if err != nil {
		return []string{err.Error()}
	}
	if s.FrameTree == nil {
		return []string{"has no frame tree"}
	}
	name := func(f messages.FrameID) string { return t.w.trace.name("f", string(f)) }
	line := func(id, parent messages.FrameID, url string, oopif bool) string {
		return fmt.Sprintf("%s in %s at %q, oopif %v", name(id), name(parent), url, oopif)
	}
	var want, got []string
	for _, f := range truth {
		want = append(want, line(f.ID, f.Parent, f.URL, f.IsOOPIF))
	}
	got = append(got, line(s.FrameTree.Top.FrameID, "", s.FrameTree.Top.URL, false))
	for _, f := range s.FrameTree.Children {
		got = append(got, line(f.FrameID, f.ParentFrameID, f.URL, f.IsOOPIF))
		if f.SessionID != "" && !slices.ContainsFunc(t.host.now().Sessions(messages.TargetID(f.FrameID)), func(x chaos.Session) bool { return x.ID == f.SessionID }) {
			return []string{fmt.Sprintf("frame %s: session %s is not the browser's", name(f.FrameID), f.SessionID)}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	var list []string
	for _, l := range want {
		if !slices.Contains(got, l) {
			list = append(list, "frame missing: "+l)
		}
	}
	for _, l := range got {
		if !slices.Contains(want, l) {
			list = append(list, "frame too many: "+l)
		}
	}
	return list
}

// state is the world as the browsers and the node see it, alike, in names that
// every run of the seed gives.
func (w *world) state() []string {
	var lines []string
	for _, t := range w.tasks {
		s := t.snapshot()
		if !t.running || s == nil {
			lines = append(lines, fmt.Sprintf("%s stopped", t.id))
			continue
		}
		var pages []string
		for _, p := range s.Pages {
			pages = append(pages, fmt.Sprintf("%s %s", w.trace.name("p", string(p.TargetID)), p.URL))
		}
		slices.SortFunc(pages, func(a, b string) int { return cmp.Compare(a, b) })
		var pending []string
		for _, d := range s.PendingDialogs {
			pending = append(pending, string(d.Type)+" "+d.Message)
		}
		slices.Sort(pending)
		lines = append(lines, fmt.Sprintf("%s on b%d: pages [%s], pending [%s]", t.id, t.host.index, strings.Join(pages, ", "), strings.Join(pending, ", ")))
	}
	for _, h := range w.hosts {
		for _, p := range w.byName(h.now().Pages()) {
			var frames []string
			for _, f := range h.now().FramesOf(p.Target)[1:] {
				frames = append(frames, fmt.Sprintf("%s<%s %s", w.trace.name("f", string(f.ID)), w.trace.name("f", string(f.Parent)), f.URL))
			}
			lines = append(lines, fmt.Sprintf("b%d page %s at %s, crashed %v, busy %v, dialogs %d and %d, frames [%s]",
				h.index, w.trace.name("p", string(p.Target)), p.URL, p.IsCrashed, p.IsBusy, p.Dialogs, p.Asks, strings.Join(frames, ", ")))
		}
	}
	return lines
}
