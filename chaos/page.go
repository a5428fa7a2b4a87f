package chaos

import (
	"cmp"
	"slices"
	"strings"

	"holdfast/messages"
)

// page is a tab.
type page struct {
	context     string
	target      *target
	main        *frame
	opener      messages.TargetID
	openerFrame messages.FrameID
	dialogs     []*Dialog // open ones; more than one only when out of reach (C14)
	history     []historyEntry
	current     int
	coming      *coming // nil: it has its document
	isClosed    bool
	isStranded  bool // between two documents: see Options.Strand
}

type historyEntry struct {
	ID             int    `json:"id"`
	URL            string `json:"url"`
	UserTypedURL   string `json:"userTypedURL"`
	Title          string `json:"title"`
	TransitionType string `json:"transitionType"`
}

// NewPage opens a foreground tab on url, as a user does.
func (b *Browser) NewPage(url string) (id messages.TargetID) {
	b.do(func() {
		t := b.addPage(url, pageOptions{isForeground: true, title: url})
		id = t.id
		b.startIfFree(t)
	})
	return id
}

type pageOptions struct {
	opener       *frame
	isForeground bool
	isHeld       bool   // auto-attach may hold its first document
	title        string // of an empty page
	context      string // "" is the browser's, or the opener's
}

// addPage makes a tab and announces it. Its first document is loaded by the target's start,
// which the caller runs.
func (b *Browser) addPage(url string, o pageOptions) *target {
	id := b.ids.token()
	p := &page{context: cmp.Or(o.context, b.context)}
	g := &group{}
	t := &target{id: messages.TargetID(id), kind: kindPage, page: p}
	f := &frame{id: messages.FrameID(id), page: p, target: t, loader: b.ids.token(), isFresh: true}
	p.target, p.main, t.root = t, f, f
	t.proc = &proc{group: g}
	if o.opener != nil {
		p.context = o.opener.page.context
		p.opener, p.openerFrame = o.opener.page.target.id, o.opener.id
		g = o.opener.target.proc.group
		if t.proc = b.procFor(g, url); t.proc.isBlocking(inRenderer) {
			// Until its document comes it is where its opener is: what holds up that of its
			// site does not keep it from being resumed (C70).
			t.proc = o.opener.target.proc
		}
		if t.proc == o.opener.target.proc {
			// It starts in its opener's process, with its opener's origin.
			f.inherited = origin(o.opener.url)
			b.newContext(f)
		}
	}
	g.own(t.proc)
	if url == "" || url == "about:blank" || strings.HasPrefix(url, "about:blank#") {
		f.url, f.isFresh = url, false
		p.visit(b, f)
		f.title = o.title
		b.newContext(f)
	} else {
		t.start = func() { b.firstDocument(f, url, o.opener != nil) }
	}
	b.pages = append(b.pages, p)
	if o.isForeground {
		b.foreground(p)
	}
	b.addTarget(t, o.isHeld)
	return t
}

func (b *Browser) firstDocument(f *frame, url string, requested bool) {
	if requested {
		f.target.each(isPageInRenderer, "Page.frameRequestedNavigation", requestedParams{f.id, "other", url, "currentTab"})
	}
	b.load(f, url, b.announce(f, url, "differentDocument"), "Navigation")
}

// OpenPopup has a script of the frame call window.open. With a session that
// auto-attaches and waits, the popup is held before its first script, and the
// opener's scripts with it, until every such session resumes it (C29, C32).
// It returns "" when there is no such frame.
func (b *Browser) OpenPopup(opener messages.FrameID, url string) (id messages.TargetID) {
	b.do(func() {
		f := b.frame(opener)
		if f == nil {
			return
		}
		if p := f.target.proc; p.isBlocking(inRenderer) || p.pause != nil || b.areScriptsHeld(p) {
			return
		}
		id = b.windowOpen(f, url)()
	})
	return id
}

type windowOpenParams struct {
	URL         string   `json:"url"`
	Name        string   `json:"windowName"`
	Features    []string `json:"windowFeatures"`
	UserGesture bool     `json:"userGesture"`
}

func (b *Browser) windowOpen(f *frame, url string) (then func() messages.TargetID) {
	url = resolve(f.url, url)
	f.target.each(isPageInRenderer, "Page.windowOpen", windowOpenParams{
		url, "_blank", []string{"menubar", "toolbar", "status", "scrollbars", "resizable"}, false,
	})
	return func() messages.TargetID {
		t := b.addPage(url, pageOptions{opener: f, isForeground: true, isHeld: true})
		b.startIfFree(t)
		return t.id
	}
}

// Navigate has the page's user type an address. Its open dialogs close with
// false; a beforeunload handler may ask first.
func (b *Browser) Navigate(id messages.TargetID, url string) bool {
	return b.withTarget(id, func(t *target) { b.navigate(t.page, url, func(string, string) {}) })
}

// navigate is Page.navigate; reply is called with the loader's id and an error
// text, before the document commits.
func (b *Browser) navigate(p *page, url string, reply func(loader, failure string)) {
	f := p.main
	if p.target.start != nil {
		// A held page goes nowhere before it is resumed (C32); then it goes here and not
		// where it was meant to.
		p.target.start = func() { b.navigate(p, url, reply) }
		return
	}
	loader := b.announce(f, url, "differentDocument")
	if !b.closeDialogs(p) {
		return
	}
	aborted := func() {
		reply("", "net::ERR_ABORTED")
		f.target.each(isPageInBrowser, "Page.frameStoppedLoading", frameParams{f.id})
	}
	if isRefusedScheme(url) && p.coming != nil {
		aborted()
		return
	}
	b.come(p)
	b.leave(p, aborted, func() {
		if isRefusedScheme(url) {
			aborted()
			return
		}
		b.fetch(f, url, loader, func(doc Document) {
			reply(loader, doc.ErrorText)
			b.place(f, url, loader, "Navigation", doc)
		}, func() { reply(loader, "net::ERR_ABORTED") })
	})
}

// reload is Page.reload; reply is called before a handler can ask.
func (b *Browser) reload(p *page, reply func()) {
	f := p.main
	if p.target.proc.isCrashed {
		b.bury(p.target)
	}
	loader := b.announce(f, f.publicURL(), "reload")
	if p.isPoisoned() {
		b.die()
		return
	}
	reply()
	b.closeDialogs(p)
	b.leave(p, func() {
		f.target.each(isPageInBrowser, "Page.frameStoppedLoading", frameParams{f.id})
	}, func() { b.load(f, f.publicURL(), loader, "Navigation") })
}

func (p *page) isPoisoned() bool {
	return slices.ContainsFunc(p.dialogs, func(d *Dialog) bool { return d.isPoisoned })
}

// ClosePage closes a tab without asking its beforeunload handlers.
func (b *Browser) ClosePage(id messages.TargetID) bool {
	return b.withTarget(id, func(t *target) { b.closePage(t.page) })
}

func (b *Browser) closePage(p *page) {
	if p.isClosed {
		return
	}
	p.coming = nil
	for _, d := range slices.Clone(p.dialogs) {
		b.closeDialog(d, DialogResult{By: ClosedByNavigation})
		d.leave = nil
		b.settle(d)
	}
	p.isClosed = true
	for _, child := range p.main.remoteChildren() {
		b.dropRemote(child)
	}
	b.removeTarget(p.target, true)
	b.pages = slices.DeleteFunc(b.pages, func(x *page) bool { return x == p })
	if b.front == p {
		b.front = nil
		if len(b.pages) > 0 {
			b.front = b.pages[len(b.pages)-1]
		}
	}
	if o := b.target(p.opener); o != nil {
		b.drain(o.proc)
	}
}

// Activate brings a tab to the foreground.
func (b *Browser) Activate(id messages.TargetID) bool {
	return b.withTarget(id, func(t *target) { b.foreground(t.page) })
}

func (b *Browser) foreground(p *page) {
	if b.front == p {
		return
	}
	behind := b.front
	b.front = p
	b.release(behind)
}

// ArmBeforeUnload gives a frame a beforeunload handler and the user gesture
// without which it does not ask (C10).
func (b *Browser) ArmBeforeUnload(id messages.FrameID) bool {
	found := false
	b.do(func() {
		if f := b.frame(id); f != nil {
			found = true
			f.hasBeforeUnload, f.isActivated = true, true
		}
	})
	return found
}

// visit enters the main frame's document into the history.
func (p *page) visit(b *Browser, f *frame) {
	url := f.publicURL()
	if len(p.history) > 0 && p.history[p.current].URL == url {
		p.history[p.current].TransitionType = "reload"
		return
	}
	if len(p.history) > 0 {
		p.history = p.history[:p.current+1]
	}
	kind := "typed"
	if len(p.history) == 0 {
		kind = "auto_toplevel"
	}
	b.ids.n++
	p.history = append(p.history, historyEntry{int(b.ids.n & 0x7fffffff), url, url, f.title, kind})
	p.current = len(p.history) - 1
}

func (p *page) retitle(f *frame) {
	if len(p.history) > 0 {
		p.history[p.current].Title = f.title
	}
}
