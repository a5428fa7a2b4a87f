package frame

import (
	"slices"
	"time"

	"holdfast/internal/redact"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Flush asks for the trees that have changed since the last one.
type Flush struct{}

// Effects of the machine.
type (
	// Effect is anything the machine wants done.
	Effect any

	// ToSupervisor and ToDialog are messages to the actors around.
	ToSupervisor struct{ Msg any }
	ToDialog     struct{ Msg any }

	// FlushSoon asks for a Flush after what is in the mailbox now: a page that
	// attaches sixty frames is published once, not sixty times.
	FlushSoon struct{}

	// Cut says that a frame was left out, for there are too many.
	Cut struct{}
)

// MaxFrames bounds the frames kept of one page.
const MaxFrames = 5000

// node is one frame.
type node struct {
	id       messages.FrameID
	parent   messages.FrameID // empty for a page's main frame
	url      string
	origin   string
	loader   string             // of its document, as far as it is known
	owner    messages.SessionID // whose process has its document
	children []messages.FrameID // in the order they came

	wants     messages.FrameID   // its parent, which no event has announced yet; until then it is the page's child
	target    messages.SessionID // the session attached to this very frame: an OOPIF, or a page
	isLeaving bool               // removed by its parent while target lives (F6)
}

// Machine keeps the forest of one link.
type Machine struct {
	gen        mail.Generation
	pages      smallmap.Map[messages.TargetID, *tree]
	sessions   smallmap.Map[messages.SessionID, session]
	dirty      smallmap.Map[messages.TargetID, bool]
	isFlushing bool
	out        []Effect
}

type tree struct {
	root  messages.FrameID
	nodes smallmap.Map[messages.FrameID, *node]
	// homeless are the frames that want a parent, in the order they came.
	homeless []messages.FrameID
}

// session is what a CDP session is attached to.
type session struct {
	page  messages.TargetID
	frame messages.FrameID   // the frame whose process it is
	via   messages.SessionID // that reported it; they end together
	// isListed says that it has told of its frames.
	isListed bool
}

// NewMachine returns the empty forest of a new link.
func NewMachine(gen mail.Generation) *Machine {
	return &Machine{gen: gen}
}

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(_ time.Time, in any) []Effect {
	m.take(in)
	return m.effects()
}

// take takes one input. What a session says that was never announced, or has ended,
// is dropped here: it belongs to another generation, or comes late.
func (m *Machine) take(in any) {
	switch in := in.(type) {
	case mail.Facts:
		for _, fact := range in {
			m.take(fact)
		}
	case mail.TargetAttached:
		if in.Gen == m.gen {
			m.targetAttached(in)
		}
	case mail.TargetsAttached:
		if _, ok := m.sessions.Get(in.Session); ok && in.Gen == m.gen {
			m.targetsAttached(in)
		}
	case mail.TargetDetached:
		m.sessionGone(in.Session)
	case mail.FrameTreeLoaded:
		if at, ok := m.sessions.Get(in.Session); ok {
			m.treeLoaded(at, in)
		}
	case mail.FrameAttached:
		if at, ok := m.sessions.Get(in.Session); ok {
			m.frameAttached(at, in)
		}
	case mail.FrameNavigated:
		if at, ok := m.sessions.Get(in.Session); ok {
			m.frameNavigated(at, in)
		}
	case mail.FrameURLChanged:
		if at, ok := m.sessions.Get(in.Session); ok {
			m.urlChanged(at, in)
		}
	case mail.FrameDetached:
		if at, ok := m.sessions.Get(in.Session); ok {
			m.frameDetached(at, in)
		}
	case mail.FrameSubtreeWillBeDetached:
		if at, ok := m.sessions.Get(in.Session); ok {
			m.subtreeGoing(at, in.Frame)
		}
	case mail.PageGone:
		m.pageGone(in.Page)
	case Flush:
		m.flush()
	case mail.Relay, mail.SessionReady:
		m.flush()
		m.do(ToSupervisor{in})
	}
}

func (m *Machine) do(e Effect) { m.out = append(m.out, e) }

// effects takes what is to be done: a machine that idles holds nothing of it.
func (m *Machine) effects() []Effect {
	out := m.out
	m.out = nil
	return out
}

func (m *Machine) touch(page messages.TargetID) {
	m.dirty.Set(page, true)
	if !m.isFlushing {
		m.isFlushing = true
		m.do(FlushSoon{})
	}
}

func (m *Machine) treeLoaded(at session, l mail.FrameTreeLoaded) {
	t := m.pages.At(at.page)
	if t == nil {
		return
	}
	// A document without an announcement, since the session could not send one: that of a
	// page that has come back from a crash. Or a session that is new: what was removed before
	// it listened was not announced to it, and what is out of process is attached by now.
	fresh := !at.isListed || len(l.Frames) > 0 && t.nodes.At(l.Frames[0].ID) != nil && t.nodes.At(l.Frames[0].ID).loader != l.Frames[0].Loader
	at.isListed = true
	m.sessions.Set(l.Session, at)
	seen := make(map[messages.FrameID]bool, len(l.Frames))
	for _, f := range l.Frames {
		seen[f.ID] = true
		m.put(t, l.Session, f)
	}
	// What this session owned and no longer shows is gone, unless another
	// session has it. So is what an ended session owned in a document that this
	// one has taken over: a page that was attached anew.
	for _, id := range slices.Sorted(t.nodes.Keys()) {
		n := t.nodes.At(id)
		if n == nil || seen[id] || n.target != "" {
			continue
		}
		if n.owner == "" {
			// Out of process, its session lost: part of the old document.
			if fresh && seen[n.parent] {
				m.remove(t, n)
			}
			continue
		}
		_, alive := m.sessions.Get(n.owner)
		if n.owner == l.Session || !alive && seen[n.parent] {
			m.remove(t, n)
		}
	}
	m.touch(at.page)
}

// put lays a document over a frame.
func (m *Machine) put(t *tree, s messages.SessionID, f mail.FrameInfo) *node {
	n := t.nodes.At(f.ID)
	if n == nil {
		if n = m.addUnder(t, f.ID, f.Parent); n == nil {
			return nil
		}
	} else if f.Parent != "" && n.parent != f.Parent {
		t.settle(n, f.Parent)
	}
	if n.target != "" && n.target != s {
		return n // another process has it by now (C36)
	}
	if u := redact.PageURL(f.URL); n.url != u { // the text that is there others have too
		n.url = u
	}
	n.origin, n.loader, n.owner = f.Origin, f.Loader, s
	return n
}

func (m *Machine) frameAttached(at session, a mail.FrameAttached) {
	t := m.pages.At(at.page)
	if t == nil {
		return
	}
	n := t.nodes.At(a.Frame)
	if n == nil {
		if t.nodes.At(a.Parent) == nil {
			return
		}
		if n = m.add(t, a.Frame, a.Parent); n == nil {
			return
		}
		n.origin = "null"
	}
	if n.parent != a.Parent && t.nodes.At(a.Parent) != nil && n.id != t.root {
		t.move(n, a.Parent)
	}
	// Also the way back from out of process: cross-site to same-site shows as
	// a fresh attach of the same id (C35).
	n.isLeaving = false
	if n.target == "" {
		n.owner = a.Session
	}
	m.touch(at.page)
}

func (m *Machine) frameNavigated(at session, f mail.FrameNavigated) {
	t := m.pages.At(at.page)
	if t == nil {
		return
	}
	n := m.put(t, f.Session, f.Frame)
	if n == nil || n.owner != f.Session {
		return // another process has it by now: the document is not this one
	}
	// It may be leaving all the same: what its own session says can be older
	// than what its parent said.
	//
	// A new document has no children yet. Those of a restored page were
	// announced before it and live in sessions of their own (C35).
	for _, child := range slices.Clone(n.children) {
		if c := t.nodes.At(child); c != nil && c.target == "" {
			m.remove(t, c)
		}
	}
	m.touch(at.page)
}

func (m *Machine) urlChanged(at session, u mail.FrameURLChanged) {
	if t := m.pages.At(at.page); t != nil {
		if n := t.nodes.At(u.Frame); n != nil && (n.target == "" || n.target == u.Session) {
			n.url = redact.PageURL(u.URL)
			m.touch(at.page)
		}
	}
}

func (m *Machine) frameDetached(at session, d mail.FrameDetached) {
	t := m.pages.At(at.page)
	if t == nil {
		return
	}
	n := t.nodes.At(d.Frame)
	if n == nil {
		return
	}
	if d.IsSwap {
		if n.owner == d.Session {
			n.owner = n.target
		}
		m.touch(at.page)
		return
	}
	m.subtreeGoing(at, d.Frame)
	if n.target != "" && n.target != d.Session {
		// Chrome says "remove" before it detaches the frame's own session, and
		// some builds say so during a promotion as well (F6).
		n.isLeaving = true
		return
	}
	m.remove(t, n)
	m.touch(at.page)
}

// subtreeGoing tells the dialogs which frames are about to go: one of them
// may hold a dialog that must not be answered any more (C15).
func (m *Machine) subtreeGoing(at session, frame messages.FrameID) {
	frames := []messages.FrameID{frame}
	if t := m.pages.At(at.page); t != nil && t.nodes.At(frame) != nil {
		frames = t.below(frame)
	}
	m.do(ToDialog{mail.FramesRemoved{Gen: m.gen, Page: at.page, Frames: frames}})
}

func (m *Machine) pageGone(page messages.TargetID) {
	if m.pages.At(page) == nil {
		return
	}
	m.pages.Delete(page)
	m.dirty.Delete(page)
	for s, at := range m.sessions.All() {
		if at.page == page {
			m.sessions.Delete(s)
		}
	}
}

// remove takes a frame away with everything below it. The sessions of those
// frames end with messages of their own, which find nothing any more.
func (m *Machine) remove(t *tree, n *node) {
	if n.id != t.root {
		t.remove(n)
	}
}

func (m *Machine) flush() {
	m.isFlushing = false
	for _, page := range slices.Sorted(m.dirty.Keys()) {
		if t := m.pages.At(page); t != nil && t.nodes.At(t.root) != nil {
			m.do(ToSupervisor{mail.FramesChanged{Gen: m.gen, Page: page, Tree: t.view()}})
		}
	}
	m.dirty = smallmap.Map[messages.TargetID, bool]{}
}
