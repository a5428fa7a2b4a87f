package frame

import (
	"slices"

	"holdfast/internal/redact"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// targetAttached announces a session. That of an iframe target makes its frame
// one out of process: their ids are the same (C35).
func (m *Machine) targetAttached(a mail.TargetAttached) {
	frame := messages.FrameID(a.Info.ID)
	if _, ok := m.sessions.Get(a.Via); a.Via != "" && !ok {
		return // the session that reported it has ended, and this one with it
	}
	m.sessions.Set(a.Session, session{page: a.Page, frame: frame, via: a.Via})
	if a.Via == "" {
		t := m.tree(a.Page)
		if t.root == "" {
			t.root = frame
			m.add(t, frame, "")
			t.nodes.At(frame).url = redact.PageURL(a.Info.URL)
		}
		t.nodes.At(t.root).target = a.Session
		return // shown once its own session has told of it
	}
	t := m.pages.At(a.Page)
	if t == nil {
		return
	}
	n := t.nodes.At(frame)
	if n == nil {
		// Without a parent's id, which element it belongs to is said by its own tree,
		// later (C35).
		if n = m.addUnder(t, frame, a.Info.ParentFrame); n == nil {
			return
		}
		n.url = redact.PageURL(a.Info.URL)
	}
	n.target, n.isLeaving = a.Session, false
	m.touch(a.Page)
}

// targetsAttached puts right what was told of the sessions attached through one.
func (m *Machine) targetsAttached(a mail.TargetsAttached) {
	for _, s := range slices.Sorted(m.sessions.Keys()) {
		if m.sessions.At(s).via == a.Session && !slices.ContainsFunc(a.Targets, func(t mail.TargetAttached) bool { return t.Session == s }) {
			m.sessionGone(s)
		}
	}
	for _, t := range a.Targets {
		if _, known := m.sessions.Get(t.Session); !known {
			m.targetAttached(t)
			// It may have told of itself before, and its word was dropped.
			m.do(ToSupervisor{mail.FramesUnheard{Gen: m.gen, Session: t.Session}})
		}
	}
}

// sessionGone is ambiguous: removed, moved back into the parent's process, or
// only the session lost. The frame stays unless its parent has said that it
// is gone.
func (m *Machine) sessionGone(s messages.SessionID) {
	at, ok := m.sessions.Get(s)
	if !ok {
		return
	}
	m.sessions.Delete(s)
	// The browser drops the sessions attached through it without a word. They
	// go first: a document that takes this one's place must not find them.
	for _, child := range slices.Sorted(m.sessions.Keys()) {
		if m.sessions.At(child).via == s {
			m.sessionGone(child)
		}
	}
	t := m.pages.At(at.page)
	if t == nil {
		return
	}
	n := t.nodes.At(at.frame)
	if n == nil || n.target != s {
		return
	}
	n.target = ""
	if n.owner == s {
		n.owner = ""
	}
	if n.isLeaving {
		m.remove(t, n)
	}
	m.touch(at.page)
}
