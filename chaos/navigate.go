package chaos

import (
	"slices"
	"strings"
	"time"

	"holdfast/messages"
)

type startedParams struct {
	FrameID  messages.FrameID `json:"frameId"`
	URL      string           `json:"url"`
	LoaderID string           `json:"loaderId"`
	Type     string           `json:"navigationType"`
}

type navigatedParams struct {
	Frame wireFrame `json:"frame"`
	Type  string    `json:"type"`
}

type timestampParams struct {
	Timestamp float64 `json:"timestamp"`
}

type lifecycleParams struct {
	FrameID   messages.FrameID `json:"frameId"`
	LoaderID  string           `json:"loaderId"`
	Name      string           `json:"name"`
	Timestamp float64          `json:"timestamp"`
}

type navigateResult struct {
	FrameID    messages.FrameID `json:"frameId"`
	LoaderID   string           `json:"loaderId,omitempty"`
	ErrorText  string           `json:"errorText,omitempty"`
	IsDownload bool             `json:"isDownload"`
}

// announce says that f starts to load url and returns the new loader's id.
func (b *Browser) announce(f *frame, url, kind string) (loader string) {
	loader = b.ids.token()
	f.expected = ""
	f.target.each(isPageInBrowser, "Page.frameStartedNavigating", startedParams{f.id, url, loader, kind})
	f.target.each(isPageInBrowser, "Page.frameStartedLoading", frameParams{f.id})
	return loader
}

// leave asks f's beforeunload handlers whether the document may go, and calls
// go with their answer: at once, or when the dialog is answered (C10). The
// second answer's order against Closed is the caller's: stay runs before it,
// leave after the reply.
func (b *Browser) leave(p *page, stay, leave func()) {
	var asking *frame
	visit := func(f *frame) {
		if asking == nil && f.hasBeforeUnload && f.isActivated {
			asking = f
		}
	}
	var walk func(*frame)
	walk = func(f *frame) {
		visit(f)
		for _, child := range f.children {
			walk(child)
		}
	}
	walk(p.main)
	if asking == nil || asking.target.proc.isCrashed {
		leave()
		return
	}
	d := b.openDialog(asking, BeforeUnload, "", "")
	d.stay, d.leave = stay, leave
}

// load fetches url for f and commits it, where needed in another process.
func (b *Browser) load(f *frame, url, loader, kind string) {
	b.fetch(f, url, loader, func(doc Document) { b.place(f, url, loader, kind, doc) }, func() {})
}

// fetch calls use with what is found at url, once the server has answered.
// A navigation that another one overtakes meanwhile comes to nothing, and overtaken says so (C67).
func (b *Browser) fetch(f *frame, url, loader string, use func(Document), overtaken func()) {
	if b.frame(f.id) != f {
		return
	}
	doc := b.options.Load(url)
	if doc.Delay <= 0 {
		use(doc)
		return
	}
	f.expected = loader
	time.AfterFunc(doc.Delay, func() {
		b.do(func() {
			switch {
			case b.isDead || f.page.isClosed || b.frame(f.id) != f:
			case f.expected == loader:
				use(doc)
			default:
				overtaken()
			}
		})
	})
}

// place decides which target will own the document and commits it there.
func (b *Browser) place(f *frame, url, loader, kind string, doc Document) {
	if f.parent == nil {
		b.commitPage(f, url, loader, kind, doc)
		return
	}
	parent := f.parent.target
	group := parent.proc.group
	local := site(url) == "" || site(url) == parent.proc.site
	isRemote := f.target != parent
	switch {
	case local && isRemote:
		b.comeHome(f)
		b.commit(f, url, loader, kind, doc, false)
	case local:
		b.commit(f, url, loader, kind, doc, true)
	case isRemote:
		b.moveProcess(f, url, loader, kind, doc)
	default:
		b.goRemote(f, b.frameProcFor(f, group, url), func() { b.commit(f, url, loader, kind, doc, false) })
	}
}

// goRemote gives f a target of its own (same → cross). The parent hears
// frameDetached with reason swap only after the child has committed.
func (b *Browser) goRemote(f *frame, p *proc, commit func()) {
	old := f.target
	p.group.own(p)
	t := &target{
		id: messages.TargetID(f.id), kind: kindIframe, page: f.page, parent: old, root: f, proc: p,
	}
	b.forsakeWithin(f)
	b.dropChildren(f)
	context, unique := f.context, f.unique
	f.target, f.context = t, 0
	f.url, f.isFresh, f.loader = "", true, b.ids.token()
	t.start = func() {
		if b.frame(f.id) != f || f.target != t {
			return
		}
		commit()
		old.each(isPageInRenderer, "Page.frameDetached", detachedFrameParams{f.id, "swap"})
		if context != 0 {
			old.each(isRuntimeOn, "Runtime.executionContextDestroyed", destroyedParams{context, unique})
		}
	}
	b.addTarget(t, true)
	b.startIfFree(t)
}

// comeHome ends f's own target (cross → same): the parent hears frameAttached
// and no frameDetached.
func (b *Browser) comeHome(f *frame) {
	t := f.target
	b.dropChildren(f)
	b.closeDialogsOf(t.proc, f)
	b.removeTarget(t, false)
	f.target, f.context = f.parent.target, 0
	f.target.each(isPageInRenderer, "Page.frameAttached", frameAttachedParams{FrameID: f.id, ParentFrameID: f.parent.id})
}

// moveProcess keeps f's target and session for another site's document.
func (b *Browser) moveProcess(f *frame, url, loader, kind string, doc Document) {
	t := f.target
	t.start = nil
	group := t.proc.group
	next := b.frameProcFor(f, group, url)
	b.closeDialogsOf(t.proc, f)
	if t.proc.isCrashed {
		b.bury(t)
	}
	same := next == t.proc
	group.own(next)
	if !same {
		b.moveWork(t, next)
		t.proc = next
	}
	b.commit(f, url, loader, kind, doc, same)
	b.drain(t.proc)
}

// moveWork takes what waits for t's old process along.
func (b *Browser) moveWork(t *target, next *proc) {
	old := t.proc
	next.hasInput = next.hasInput || old.hasInput
	old.work = slices.DeleteFunc(old.work, func(w work) bool {
		if w.call == nil || w.call.s.target != t {
			return false
		}
		next.work = append(next.work, w)
		return true
	})
}

// dropChildren removes what is below f without a word about frames that are
// in f's own process; targets below end like those of a page that navigates.
func (b *Browser) dropChildren(f *frame) {
	for _, child := range f.remoteChildren() {
		b.dropRemote(child)
	}
	f.children = nil
}

func (b *Browser) dropRemote(f *frame) {
	for _, child := range f.remoteChildren() {
		b.dropRemote(child)
	}
	b.closeDialogsOf(f.target.proc, f)
	b.removeTarget(f.target, false)
}

// commitPage commits a main frame's document. The page's sessions stay.
func (b *Browser) commitPage(f *frame, url, loader, kind string, doc Document) {
	t := f.target
	if t.proc.isCrashed {
		b.bury(t)
	}
	next := t.proc
	switch key := site(url); {
	case doc.ErrorText != "":
		next = &proc{site: "error", group: t.proc.group}
	case key == t.proc.site:
	case t.proc.site == "":
		next.site = key
	default:
		next = b.procFor(t.proc.group, url)
	}
	same := next == t.proc
	if same && t.proc.isBusy {
		// A document that spins lets no other take its place in its process; in
		// another one it has no say (section 3, measured).
		f.expected, f.page.isStranded = loader, b.options.CanStrand
		b.queue(t.proc, func() {
			f.page.isStranded = false
			if b.frame(f.id) == f && f.expected == loader {
				b.commitPage(f, url, loader, kind, doc)
			}
		})
		return
	}
	next.group.own(next)
	if !same {
		b.moveWork(t, next)
		t.proc = next
	}
	b.commit(f, url, loader, kind, doc, same)
	b.drain(t.proc)
}

// commit replaces f's document. sameProcess says whether the old document was
// in the process of the new one; its OOPIFs then go before, not after.
func (b *Browser) commit(f *frame, url, loader, kind string, doc Document, sameProcess bool) {
	t := f.target
	isRoot := t.root == f
	gone := f.remoteChildren()
	for _, child := range gone {
		for _, below := range child.remoteChildren() {
			b.dropRemote(below)
		}
		b.closeDialogsOf(child.target.proc, child)
		b.detachAll(child.target, false)
	}
	bury := func() {
		if !sameProcess && f.parent == nil {
			// The old document is kept for going back, its frames with it: no event reports
			// their end.
			for _, child := range gone {
				b.targets = slices.DeleteFunc(b.targets, func(x *target) bool { return x == child.target })
			}
			return
		}
		for _, child := range gone {
			t.each(isPageInRenderer, "Page.frameDetached", detachedFrameParams{child.id, "remove"})
			b.destroyTarget(child.target)
		}
	}
	if isRoot {
		b.endPause(t, ClosedByNavigation)
		if !t.isRevived {
			for _, s := range t.sessions {
				s.debugs.isNumb = false
			}
		}
	}
	b.forsakeWithin(f)
	first := f.isFresh
	keeps := isRoot && f.parent == nil && first && f.context != 0 && sameProcess
	if isRoot && !keeps {
		t.reports = nil
	}
	switch {
	case !isRoot || keeps:
	case !first:
		t.each(isRuntimeOn, "Runtime.executionContextsCleared", empty{})
	}
	if sameProcess {
		bury()
	}
	f.children = nil
	if t.isRevived {
		t.isRevived = false
		f.url, f.failedURL = "", ""
		b.newContext(f)
	}
	f.url, f.failedURL, f.loader, f.isFresh, f.timers = url, "", loader, false, 0
	f.isActivated, f.hasBeforeUnload = false, doc.HasBeforeUnload
	if doc.ErrorText != "" {
		f.url, f.failedURL = "chrome-error://chromewebdata/", url
	}
	b.tellLifecycle(f, "init")
	switch {
	case keeps:
	case isRoot:
		t.each(isRuntimeOn, "Runtime.executionContextsCleared", empty{})
	default:
		b.endContext(f)
	}
	t.each(isPageInRenderer, "Page.frameNavigated", navigatedParams{f.wire(), kind})
	if !sameProcess {
		bury()
	}
	if isRoot {
		reloaded := f.parent == nil && f.title == doc.Title && f.title != ""
		if f.parent == nil {
			if !reloaded {
				f.title = provisionalTitle(url)
			}
			f.page.visit(b, f)
		}
		b.tellNavigated(t)
	}
	f.title = doc.Title
	if f.parent == nil {
		f.page.retitle(f)
		if doc.ErrorText != "" {
			f.title = provisionalTitle(url)
		}
	}
	if !keeps {
		b.newContext(f)
		f.bridges, f.parsed = nil, nil
		b.injectAll(f)
	}
	for _, child := range doc.Frames {
		b.appendFrame(f, messages.FrameID(b.ids.token()), "", child)()
	}
	if doc.Script == "" && t.proc.pause == nil {
		b.loaded(f)
		return
	}
	// What the script raises comes before the load events, and holds them.
	if doc.Script != "" {
		b.script(f, func() { b.task(f, doc.Script) })
	}
	b.script(f, func() { b.loaded(f) })
}

func (b *Browser) loaded(f *frame) {
	if f.target.root == f {
		f.target.each(isPageInRenderer, "Page.domContentEventFired", timestampParams{b.ids.timestamp()})
	}
	b.tellLifecycle(f, "DOMContentLoaded")
	if f.target.root == f {
		f.target.each(isPageInRenderer, "Page.loadEventFired", timestampParams{b.ids.timestamp()})
	}
	b.tellLifecycle(f, "load")
	f.target.each(isPageInBrowser, "Page.frameStoppedLoading", frameParams{f.id})
	b.tellLifecycle(f, "networkAlmostIdle")
	b.tellLifecycle(f, "networkIdle")
}

func (b *Browser) tellLifecycle(f *frame, name string) {
	f.target.each(isLifecycleOn, "Page.lifecycleEvent", lifecycleParams{f.id, f.loader, name, b.ids.timestamp()})
}

// provisionalTitle is what a tab shows before the document's title is known.
func provisionalTitle(url string) string {
	if _, rest, found := strings.Cut(url, "://"); found {
		return strings.TrimSuffix(rest, "/")
	}
	return url
}

// isReachable says whether Page.navigate takes the URL.
func isReachable(raw string) bool {
	scheme, rest, found := strings.Cut(raw, ":")
	if !found || scheme == "" || strings.ContainsAny(scheme, " /") {
		return false
	}
	if scheme == "http" || scheme == "https" {
		return site(raw) != "" && strings.HasPrefix(rest, "//")
	}
	return true
}
