package chaos

import (
	"net/url"
	"slices"
	"strings"

	"holdfast/messages"
)

// frame is a node of a page's frame tree. Its id outlives every navigation and
// every change of process (C35).
type frame struct {
	id       messages.FrameID
	page     *page
	parent   *frame // nil for the main frame
	children []*frame
	target   *target // who owns the document it shows

	name      string // of the element; Chrome shows it only in process
	url       string
	failedURL string // of a document that could not be loaded
	title     string
	loader    string
	expected  string // the loader that a slow server is to answer
	isFresh   bool   // still shows the empty document it was made with
	inherited string // a fresh document's origin, where it is its opener's
	timers    int    // ids of setTimeout that the document has used
	context   int    // id of its default execution context; 0 for none
	unique    string

	isActivated     bool // has had a user gesture (C10)
	hasBeforeUnload bool // has a handler

	bridges []*bridge // what its document's dialogs go through, the newest last
	parsed  []string  // the names of scripts that a debugger is told of
}

func (f *frame) find(id messages.FrameID) *frame {
	if f.id == id {
		return f
	}
	for _, child := range f.children {
		if found := child.find(id); found != nil {
			return found
		}
	}
	return nil
}

// isWithin says whether f is root or below it.
func (f *frame) isWithin(root *frame) bool {
	for ; f != nil; f = f.parent {
		if f == root {
			return true
		}
	}
	return false
}

// local calls do for f and the frames below it that the same target owns.
func (f *frame) local(do func(*frame)) {
	do(f)
	for _, child := range slices.Clone(f.children) {
		if child.target == f.target {
			child.local(do)
		}
	}
}

// remoteChildren are the nearest frames below f that have a target of their
// own, deepest first within a branch.
func (f *frame) remoteChildren() []*frame {
	var out []*frame
	for _, child := range f.children {
		if child.target != f.target {
			out = append(out, child)
		} else {
			out = append(out, child.remoteChildren()...)
		}
	}
	return out
}

// publicURL is the address that a target shows: that of a failed load rather
// than of the error page.
func (f *frame) publicURL() string {
	if f.failedURL != "" {
		return f.failedURL
	}
	return f.url
}

type frameParams struct {
	FrameID messages.FrameID `json:"frameId"`
}

type detachedFrameParams struct {
	FrameID messages.FrameID `json:"frameId"`
	Reason  string           `json:"reason"`
}

type wireFrame struct {
	ID                   messages.FrameID `json:"id"`
	ParentID             messages.FrameID `json:"parentId,omitempty"`
	LoaderID             string           `json:"loaderId"`
	Name                 *string          `json:"name,omitempty"`
	URL                  string           `json:"url"`
	DomainAndRegistry    string           `json:"domainAndRegistry"`
	SecurityOrigin       string           `json:"securityOrigin"`
	SecurityOriginInfo   localhost        `json:"securityOriginDetails"`
	MimeType             string           `json:"mimeType"`
	UnreachableURL       string           `json:"unreachableUrl,omitempty"`
	AdFrameStatus        adFrameStatus    `json:"adFrameStatus"`
	SecureContextType    string           `json:"secureContextType"`
	CrossOriginIsolation string           `json:"crossOriginIsolatedContextType"`
	GatedAPIFeatures     []string         `json:"gatedAPIFeatures"`
}

type localhost struct {
	IsLocalhost bool `json:"isLocalhost"`
}

type adFrameStatus struct {
	AdFrameType  string    `json:"adFrameType"`
	Explanations *[]string `json:"explanations,omitempty"`
}

type frameTree struct {
	Frame    wireFrame   `json:"frame"`
	Children []frameTree `json:"childFrames,omitempty"`
}

func (f *frame) wire() wireFrame {
	w := wireFrame{
		ID: f.id, LoaderID: f.loader, URL: f.url, SecurityOrigin: origin(f.url), MimeType: mimeType(f.url),
		UnreachableURL: f.failedURL, AdFrameStatus: adFrameStatus{AdFrameType: "none"},
		SecureContextType: "InsecureScheme", CrossOriginIsolation: "NotIsolated", GatedAPIFeatures: []string{},
	}
	if u, err := url.Parse(f.url); err == nil && f.failedURL == "" {
		if u.Hostname() != "" {
			w.DomainAndRegistry = registrable(u.Hostname())
		}
		if u.Scheme == "https" {
			w.SecureContextType = "Secure"
		}
	}
	if f.parent != nil {
		name := f.name
		w.ParentID = f.parent.id
		if f.target != f.parent.target {
			name = ""
			w.CrossOriginIsolation = "NotIsolatedFeatureDisabled"
		}
		w.Name = &name
		if !f.isFresh {
			w.AdFrameStatus.Explanations = &[]string{}
		}
	}
	return w
}

// tree is Page.getFrameTree: the frames that f's target owns (M12).
func (f *frame) tree() frameTree {
	t := frameTree{Frame: f.wire()}
	for _, child := range f.children {
		if child.target == f.target {
			t.Children = append(t.Children, child.tree())
		}
	}
	return t
}

type frameAttachedParams struct {
	FrameID       messages.FrameID `json:"frameId"`
	ParentFrameID messages.FrameID `json:"parentFrameId"`
	Stack         *stackTrace      `json:"stack,omitempty"` // of the script that did it
}

// AddFrame has a script of the parent frame append an iframe that shows url;
// another site's document gets a process and a target of its own. The frame
// may appear later, when the parent's script can run again. It returns "" when
// there is no such parent.
func (b *Browser) AddFrame(parent messages.FrameID, url string) (id messages.FrameID) {
	b.do(func() {
		if p := b.frame(parent); p != nil {
			id = messages.FrameID(b.ids.token())
			b.script(p, func() { b.appendFrame(p, id, "", url)() })
		}
	})
	return id
}

// appendFrame adds the frame and returns what follows once the script that
// did it is through.
func (b *Browser) appendFrame(parent *frame, id messages.FrameID, name, url string) (then func()) {
	if !parent.isWithin(parent.page.main) || b.frame(parent.id) == nil {
		return func() {}
	}
	f := &frame{
		id: id, page: parent.page, parent: parent, target: parent.target,
		name: name, loader: b.ids.token(), isFresh: true,
	}
	parent.children = append(parent.children, f)
	f.target.each(isPageInRenderer, "Page.frameAttached", frameAttachedParams{f.id, parent.id, &stackTrace{[]callFrame{{Script: "1", Column: 19}}}})
	b.tellLifecycle(f, "init")
	url = resolve(parent.url, url)
	f.target.each(isPageInRenderer, "Page.frameRequestedNavigation", requestedParams{f.id, "initialFrameNavigation", url, "currentTab"})
	loader := b.announce(f, url, "differentDocument")
	return func() { b.load(f, url, loader, "Navigation") }
}

// NavigateFrame has a script of the parent frame set the iframe's address. A
// main frame navigates by itself.
func (b *Browser) NavigateFrame(id messages.FrameID, url string) bool {
	found := false
	b.do(func() {
		f := b.frame(id)
		if f == nil {
			return
		}
		found = true
		actor := f
		if f.parent != nil {
			actor = f.parent
		}
		b.script(actor, func() { b.setSource(f, url)() })
	})
	return found
}

type scheduledParams struct {
	FrameID messages.FrameID `json:"frameId"`
	Delay   int              `json:"delay"`
	Reason  string           `json:"reason"`
	URL     string           `json:"url"`
}

type requestedParams struct {
	FrameID     messages.FrameID `json:"frameId"`
	Reason      string           `json:"reason"`
	URL         string           `json:"url"`
	Disposition string           `json:"disposition"`
}

// setSource starts a navigation that a script asked for.
func (b *Browser) setSource(f *frame, url string) (then func()) {
	if b.frame(f.id) != f {
		return func() {}
	}
	actor, base := f.target, f.url
	if f.parent != nil {
		actor, base = f.parent.target, f.parent.url
	}
	url = resolve(base, url)
	own := f.target == actor
	if own {
		actor.each(isPageInRenderer, "Page.frameScheduledNavigation", scheduledParams{f.id, 0, "scriptInitiated", url})
	}
	actor.each(isPageInRenderer, "Page.frameRequestedNavigation", requestedParams{f.id, "scriptInitiated", url, "currentTab"})
	loader := b.announce(f, url, "differentDocument")
	if own {
		actor.each(isPageInRenderer, "Page.frameClearedScheduledNavigation", frameParams{f.id})
		return func() { b.load(f, url, loader, "Navigation") }
	}
	// The old document is asked whether it may go; under a dialog or in a loop
	// it does not answer.
	return func() {
		b.queueAnyway(f.target.proc, func() { b.load(f, url, loader, "Navigation") })
	}
}

// RemoveFrame has a script of the parent frame remove the iframe. A dialog
// that the frame has open becomes poison: touching it, or the page, kills the
// browser (C15).
func (b *Browser) RemoveFrame(id messages.FrameID) bool {
	found := false
	b.do(func() {
		if f := b.frame(id); f != nil && f.parent != nil {
			found = true
			b.script(f.parent, func() { b.removeFrame(f) })
		}
	})
	return found
}

func (b *Browser) removeFrame(f *frame) {
	if b.frame(f.id) != f {
		return
	}
	owner := f.parent.target
	for _, d := range f.page.dialogs {
		if d.frame.isWithin(f) {
			d.isPoisoned = true
		}
	}
	owner.each(isPageInRenderer, "Page.frameSubtreeWillBeDetached", frameParams{f.id})
	b.forsakeWithin(f)
	b.dropSubtree(f)
	f.parent.children = slices.DeleteFunc(f.parent.children, func(x *frame) bool { return x == f })
}

// dropSubtree reports the end of f and of everything below it, innermost
// first, each to the sessions of its parent frame's target.
func (b *Browser) dropSubtree(f *frame) {
	for _, child := range slices.Clone(f.children) {
		b.dropSubtree(child)
	}
	f.children = nil
	owner := f.parent.target
	owner.each(isPageInRenderer, "Page.frameDetached", detachedFrameParams{f.id, "remove"})
	if f.target != owner {
		b.removeTarget(f.target, true)
	} else {
		b.endContext(f)
	}
}

// resolve makes ref absolute.
func resolve(base, ref string) string {
	r, err := url.Parse(ref)
	if err != nil || r.IsAbs() {
		return ref
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return ref
	}
	return u.ResolveReference(r).String()
}

// mimeType is what the server of an address says that it is.
func mimeType(url string) string {
	if strings.HasSuffix(url, ".pdf") {
		return "application/pdf"
	}
	return "text/html"
}
