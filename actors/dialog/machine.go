package dialog

import (
	"slices"
	"strings"
	"time"

	"holdfast/internal/redact"
	"holdfast/internal/shed"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// entry is an open dialog.
type entry struct {
	mail.OpenDialog
	answer *answer
	// isPromoted says that the last answer went through the anchor for want of a
	// primary that can give one.
	isPromoted bool
	// isRemembered says that a failed actor may have been told of its end.
	isRemembered   bool
	isUnreported   bool // bridged, and no link has told of it in time
	isOvertaken    bool // a second opened on its page (C14)
	mayHaveArrived bool // an answer of ours that has failed may have arrived
	isOver         bool // bridged, and a session has said that it waits no more
	isDocumentGone bool // since its document has gone
	isDoubted      bool // bridged, and what was told to the actor before this one is lost
	isAwaited      bool // without a way, and a link that stands gets a moment to tell of it
	// ends are what links have told that may be its end, or that of one before it.
	ends [messages.Roles]*mail.DialogClosed
}

// isShut says that the dialog has closed and that only whose answer it was is not
// known yet.
func (e *entry) isShut() bool { return e.ShutBy != "" }

// Machine decides over the dialogs of one task.
type Machine struct {
	spec      *messages.TaskSpec // never written: others have it
	seq       uint64
	unheard   [2]uint64 // behind the first, up to the second: another node may have given them out
	open      []*entry  // oldest first
	recent    []messages.ClosedDialog
	late      []mail.SeenDialog
	isLeaving bool
	// lapsedAt is since when the task's node may not decide; zero while it may.
	lapsedAt time.Time
	out      []Effect

	answeredKeys []string             // of bridged dialogs, newest last
	takenKeys    []string             // of those that have ended with an answer and whose resume was not seen, newest last
	overs        []mail.BridgedEnd    // newest last
	ended        []messages.SessionID // newest last; no name is used again

	dooms map[messages.TargetID]*doom

	lost     [messages.Roles]mail.Generation // of the newest link that is gone
	watches  [messages.Roles]smallmap.Map[messages.TargetID, watch]
	list     []mail.PageWatch // of watches, never written again
	isListed bool             // and that is how they are
}

// NewMachine starts from memory, which is empty for a new task. Every remembered dialog
// gets its watchdog back with the first Step, [Start].
func NewMachine(spec messages.TaskSpec, memory mail.DialogMemory) *Machine {
	return newMachine(&spec, memory)
}

func newMachine(spec *messages.TaskSpec, memory mail.DialogMemory) *Machine {
	m := &Machine{
		spec: spec, lapsedAt: memory.LapsedAt, seq: memory.Seq, recent: memory.Recent, late: slices.Clone(memory.Late),
		answeredKeys: slices.Clone(memory.Answered), takenKeys: slices.Clone(memory.Taken), overs: slices.Clone(memory.Overs),
	}
	for _, w := range memory.Watches {
		m.watches[w.Role].Set(w.Page, watch{session: w.Session, gen: w.Gen, isCovered: w.IsCovered, isRemembered: true})
	}
	for _, o := range memory.Open {
		m.open = append(m.open, &entry{OpenDialog: o, isRemembered: true})
	}
	for _, page := range memory.Doomed {
		smallmap.Put(&m.dooms, page, &doom{dialogs: 1})
	}
	return m
}

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(now time.Time, in any) []Effect {
	switch in := in.(type) {
	case Start:
		for _, e := range m.entries() {
			if e.isShut() {
				m.end(now, e, e.ShutBy) // the actor that awaited the outcome is gone
				continue
			}
			if m.isUnreachable(e) {
				m.end(now, e, messages.ClosedByLost)
				continue
			}
			m.armWatchdog(e, e.ExpiresAt.Sub(now))
			if e.isBridged() && len(e.Ways) > 0 {
				m.doubt(e)
			}
			m.noteRule(e)
			if a, ok := m.policy(e); ok && !m.isLapsed() && (e.isBridged() || m.isRepeatable(a.by)) {
				m.decide(e, a) // what the last one had decided is not known
			}
			m.probe(e)
		}
		m.doomsRemembered()
	case mail.DialogOpened:
		if in.Pause.Key != "" {
			m.bridgedOpened(now, in)
		} else {
			m.opened(now, in)
		}
	case mail.BridgedOver:
		m.bridgedOver(now, in)
	case mail.AnswerTaken:
		if e := m.byID(in.Dialog); e != nil && e.answer != nil && e.answer.way.Session == in.Session {
			e.answer.taken = in.Session
		}
	case mail.SessionGone:
		m.sessionGone(now, in)
	case mail.SessionFailed:
		m.sessionFailed(now, in)
	case mail.DialogClosed:
		m.closed(now, in)
	case mail.AnswerDialog:
		m.answered(now, in)
	case mail.DialogHandled:
		m.handled(now, in)
	case mail.DialogProbed:
		m.probed(now, in)
	case mail.PageMoved:
		m.pageMoved(in)
	case TimerFired:
		m.timerFired(now, in.Name)
	case mail.DialogOver:
		// With an answer under way it is for its outcome to say.
		if e := m.byID(in.Dialog); e != nil && e.answer == nil {
			m.end(now, e, messages.ClosedByRemote)
		}
	case mail.FramesRemoved:
		m.framesRemoved(now, in)
	case mail.PageGone:
		by := messages.ClosedByRemote
		if in.IsLost {
			by = messages.ClosedByLost
		}
		m.endAll(now, func(e *entry) bool { return e.Dialog.TargetID == in.Page }, by)
		m.pageForgotten(in.Page)
		if m.dooms[in.Page] != nil {
			m.doomOver(in.Page)
		}
		m.changed(nil, nil)
	case mail.PageWatched:
		if m.noteWatched(in) {
			m.changed(nil, nil)
		}
		m.endLost(now)
	case mail.NoneAsks:
		m.noneAsks(now, in)
	case mail.PageCovered:
		if m.noteCovered(now, in) {
			m.changed(nil, nil)
		}
	case mail.LinkLost:
		if in.Gen > m.lost[in.Role] {
			m.lost[in.Role] = in.Gen
			m.linkGone(in.Role)
			m.doomsGoOn(in.Role)
			m.changed(nil, nil)
			m.endLost(now)
		}
	case mail.SetDialogPolicy:
		m.spec = &in.Spec
	case mail.Lease:
		m.lease(now, in)
	case mail.InheritDialogs:
		m.inherit(now, in)
	case Leave:
		m.isLeaving = true
		for _, e := range m.entries() {
			if !m.isLapsed() {
				m.decide(e, dismissOnLeave)
			}
			m.hasten(e)
		}
		m.maybeLeft()
	}
	return m.effects()
}

func (m *Machine) do(e Effect) {
	if m.out == nil {
		m.out = make([]Effect, 0, 4) // one has seldom more to do, and seldom only one thing
	}
	m.out = append(m.out, e)
}

// effects takes what is to be done: a machine that idles holds nothing of it.
func (m *Machine) effects() []Effect {
	out := m.out
	m.out = nil
	return out
}

// MaxMessage is where Chrome cuts a dialog's message (C2), in characters; what
// a stranger browser sends is cut to as many bytes times four.
const MaxMessage = 10240

// MaxMessageBytes is what is kept of one, in bytes: a character takes four at most.
const MaxMessageBytes = 4 * MaxMessage

func (m *Machine) opened(now time.Time, o mail.DialogOpened) {
	if o.Gen <= m.lost[o.Role] {
		return // said by a link that is gone
	}
	if w := m.watches[o.Role].At(o.Page); w.session != "" && w.session != o.Session {
		return // by a session that is
	}
	looks := mail.SeenDialog{Page: o.Page, Frame: o.Frame, Type: o.Type, Message: redact.Text(clip(o.Message))}
	// Who tells of an opening listens, whether or not Page.enable has been answered.
	m.noteCovered(now, mail.PageCovered{Role: o.Role, Gen: o.Gen, Page: o.Page, Session: o.Session})
	m.expectBelated(now, o.Role, looks)
	m.frameGoesOn(o.Role, looks)
	if d, ok := m.opening(o.Role, looks); ok {
		m.seenAgain(d, o)
		return
	}
	// A page has one dialog at a time: what this link has told the end of was the one
	// before this, after all.
	for _, e := range m.entries() {
		if c := e.ends[o.Role]; c != nil && e.Dialog.TargetID == o.Page && !e.isShut() {
			m.isOver(now, seen{&e.Seen, e}, *c)
		}
	}
	// Had our answer closed the one before, its outcome would have come on the
	// same link with the closing event, before anything new on the page.
	m.endAll(now, func(e *entry) bool {
		if e.isShut() && e.Dialog.TargetID == o.Page && e.answer.way.Session == o.Session {
			if e.answer.err == nil { // else it was said before as well, by another link
				e.ShutBy = ""
			}
			return true
		}
		return false
	}, messages.ClosedByRemote)
	if len(o.Message) > MaxMessageBytes {
		m.do(Cut{shed.DialogText})
	}
	m.seq++
	looks.Seq, looks.Sights = m.seq, m.sights(o.Role, o.Page)
	e := &entry{OpenDialog: mail.OpenDialog{
		Seen: looks, Ways: m.ways(o), RawDefault: clip(o.Default), OpenedAt: now, ExpiresAt: now.Add(m.spec.DialogTimeout()), IsUnproved: canBeDoomed(o.Type),
		Dialog: messages.Dialog{
			ID: messages.NewDialogID(m.seq), Type: o.Type,
			Message: looks.Message, DefaultPrompt: redact.Text(clip(o.Default)),
			OpenedAt: messages.SecondsOf(now), FrameID: o.Frame, FrameURL: redact.PageURL(o.URL), TargetID: o.Page, Path: messages.PathNative, Heard: o.Heard,
		},
	}}
	m.name(e)
	m.noteRule(e)
	e.Dialog.ExpiresAt = messages.SecondsOf(e.ExpiresAt)

	if old := m.on(o.Page); old != nil && len(old.Ways) == 0 {
		// It ended while no link could report it.
		old.Seen.Sights[o.Role] = mail.SightOver
		m.end(now, old, messages.ClosedByRemote)
	}
	if old := m.on(o.Page); old != nil && old.isRemembered && (old.answer == nil || isUnasked(old.answer.by)) {
		// It is over in any case: most likely its end is what was lost. This link
		// will not tell of it again.
		old.Seen.Sights[o.Role] = mail.SightOver
		by := messages.ClosedByRemote
		if old.answer != nil {
			by = old.answer.by // the failed actor's, which this one only repeats
		}
		m.end(now, old, by)
	}
	if old := m.on(o.Page); old != nil {
		old.isOvertaken = true
		// Two at once: Chrome closes the first by itself and leaves the second
		// where no command reaches it (M7, C14).
		opened := e.Dialog
		m.open = append(m.open, e)
		m.changed(&opened, nil)
		// Before the end: at no moment is the page said to be well.
		m.do(ToSupervisor{mail.PageUnreachable{Page: o.Page}})
		m.end(now, e, messages.ClosedByLost)
		return
	}
	m.open = append(m.open, e)
	m.armWatchdog(e, m.spec.DialogTimeout())
	opened := e.Dialog
	m.decideAlone(e)
	m.probe(e)
	m.changed(&opened, nil)
}

// seenAgain takes a second link's word of a dialog.
func (m *Machine) seenAgain(d seen, o mail.DialogOpened) {
	d.Sights[o.Role] = mail.SightOpened
	if e := d.entry; e != nil {
		e.ends[o.Role] = nil // that was of one before
		if !hasWay(e.Ways, o.Session) {
			e.Ways = addWay(e.Ways, mail.Way{Role: o.Role, Gen: o.Gen, Session: o.Session})
			m.name(e)
			m.wayFound(e)
		}
	}
	m.changed(nil, nil)
}

const watchdogPrefix = "watchdog:"

func watchdog(id messages.DialogID) string { return watchdogPrefix + string(id) }

func (m *Machine) timerFired(now time.Time, name string) {
	if m.handleUnreachableTimer(now, name) || m.handleDoomedDue(name) || m.handleProbeDue(name) || m.handleLeaseDue(name) || m.handleHasteDue(name) {
		return
	}
	if id, ok := strings.CutPrefix(name, outcomePrefix); ok {
		m.outcomeUnknown(messages.DialogID(id))
		return
	}
	id, ok := strings.CutPrefix(name, watchdogPrefix)
	if !ok {
		return
	}
	e := m.byID(messages.DialogID(id))
	if e == nil || m.isLapsed() {
		return
	}
	m.do(Arm{name, RetryWatchdog})
	m.decide(e, answer{by: messages.ClosedByWatchdog, action: messages.ActionDismiss})
}

// armWatchdog has a dialog dismissed that no one answers in time.
func (m *Machine) armWatchdog(e *entry, after time.Duration) {
	if !m.isLapsed() {
		m.do(Arm{watchdog(e.Dialog.ID), after})
	}
}

// RetryWatchdog is how soon a watchdog barks again at a dialog that its
// answer did not close.
const RetryWatchdog = 10 * time.Second

func (m *Machine) changed(opened *messages.Dialog, closed *messages.ClosedDialog) {
	memory := mail.DialogMemory{
		Seq: m.seq, LapsedAt: m.lapsedAt, Recent: m.recent, Late: slices.Clone(m.late), Watches: m.remembered(),
		Answered: slices.Clone(m.answeredKeys), Taken: slices.Clone(m.takenKeys), Overs: slices.Clone(m.overs), Doomed: m.doomedPages(),
	}
	for _, e := range m.open {
		memory.Open = append(memory.Open, e.OpenDialog)
	}
	m.do(ToSupervisor{mail.DialogsChanged{Memory: memory, Pending: m.pending(), Opened: opened, Closed: closed}})
}

// pending are the dialogs that wait for an answer. One that the policy has answered does
// not wait, though it may stand open for a moment yet.
func (m *Machine) pending() []messages.Dialog {
	pending := make([]messages.Dialog, 0, len(m.open))
	for _, e := range m.open {
		if !e.isShut() && (e.answer == nil || !isUnasked(e.answer.by)) {
			pending = append(pending, e.Dialog)
		}
	}
	return pending
}

// on returns the dialog that stands open on a page, if any.
func (m *Machine) on(page messages.TargetID) *entry {
	for _, e := range m.open {
		if e.Dialog.TargetID == page && !e.isShut() && !e.isBridged() {
			return e
		}
	}
	return nil
}

func (m *Machine) byID(id messages.DialogID) *entry {
	for _, e := range m.open {
		if e.Dialog.ID == id {
			return e
		}
	}
	return nil
}

// entries is a copy: ending a dialog takes it out of the list.
func (m *Machine) entries() []*entry { return append([]*entry(nil), m.open...) }

// clip bounds a page's text without splitting a character.
func clip(s string) string {
	n := MaxMessageBytes
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// abandon returns the answers to the calls that still wait when the actor ends.
func (m *Machine) abandon() []Answer {
	var answers []Answer
	for _, e := range m.open {
		if e.answer != nil {
			answers = append(answers, Answer{
				To:  e.answer.reply,
				Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the task ended before the answer arrived").WithSent(messages.SentYes),
			})
		}
	}
	return answers
}
