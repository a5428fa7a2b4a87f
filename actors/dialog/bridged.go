package dialog

import (
	"slices"
	"strings"
	"time"

	"holdfast/internal/redact"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A bridged dialog has a name of its own, so that nothing has to be guessed as it
// is with native ones: both links, and a link that comes later, tell of the same
// call. It is of one session and not of the page, so several may wait at once, and
// an answer can be said twice without harm: it names the call it is for.

func (e *entry) isBridged() bool { return e.Pause.Key != "" }

func (m *Machine) byKey(key string) *entry {
	for _, e := range m.open {
		if e.Pause.Key == key {
			return e
		}
	}
	return nil
}

// maxAnswered bounds the calls that are remembered for the slower link.
const maxAnswered = 64

func (m *Machine) bridgedOpened(now time.Time, o mail.DialogOpened) {
	if o.Gen <= m.lost[o.Role] {
		return
	}
	if slices.Contains(m.ended, o.Session) {
		// It had told before it ended. What is known waits for the next session's word.
		if m.byKey(o.Pause.Key) == nil {
			m.releaseUnknown(o)
		}
		return
	}
	// A request without a message is a way to a call that was reported before, or belongs
	// to none. So is one by the name of a call that has its answer.
	wordless := o.Type == "" && m.byKey(o.Pause.Key) == nil
	if slices.Contains(m.takenKeys, o.Pause.Key) {
		// It waits still, held by another debugger, and has its answer.
		m.do(ToSession{o.Role, mail.HandleDialog{Session: o.Session, Page: o.Page, Pause: o.Pause}})
		return
	}
	if wordless || slices.Contains(m.answeredKeys, o.Pause.Key) || m.isLateReport(o.Pause.Key, o.Session) {
		m.releaseUnknown(o)
		return
	}
	way := mail.Way{Role: o.Role, Gen: o.Gen, Session: o.Session}
	if e := m.byKey(o.Pause.Key); e != nil {
		e.Pause, e.isOver = o.Pause, false
		if e.isDoubted {
			e.isDoubted, e.Ways = false, nil // those that stand tell again
		}
		if hasWay(e.Ways, o.Session) {
			return
		}
		e.Ways, e.isAwaited = addWay(e.Ways, way), false
		m.do(Disarm{waylessPrefix + string(e.Dialog.ID)})
		m.name(e)
		if e.answer != nil && e.answer.way == (mail.Way{}) {
			m.send(e)
		}
		m.changed(nil, nil)
		return
	}
	m.seq++
	e := &entry{OpenDialog: mail.OpenDialog{
		Ways: []mail.Way{way}, Pause: o.Pause, OpenedAt: now, ExpiresAt: now.Add(m.spec.DialogTimeout()),
		Dialog: messages.Dialog{
			ID: messages.NewDialogID(m.seq), Type: o.Type, Message: redact.Text(clip(o.Message)), DefaultPrompt: redact.Text(clip(o.Default)),
			OpenedAt: messages.SecondsOf(now), FrameID: o.Frame, FrameURL: redact.PageURL(o.URL), TargetID: o.Page, Path: messages.PathBridge, Heard: o.Heard,
			Holds: o.Pause.Request != "",
		},
	}}
	m.name(e)
	m.noteRule(e)
	e.Dialog.ExpiresAt = messages.SecondsOf(e.ExpiresAt)
	m.open = append(m.open, e)
	m.do(Arm{watchdog(e.Dialog.ID), m.spec.DialogTimeout()})
	opened := e.Dialog
	m.decideAlone(e)
	m.changed(&opened, nil)
}

// releaseUnknown resumes a bridged call that has no dialog. One that waits in the debugger
// continues by itself; a request is reported once, and its page waits until it has ended.
func (m *Machine) releaseUnknown(o mail.DialogOpened) {
	if o.Pause.Request != "" {
		m.do(ToSession{o.Role, mail.HandleDialog{Session: o.Session, Page: o.Page, Pause: o.Pause}})
	}
}

// bridgedOver is a call that waits no more, by the word of one session, which may
// not have come to tell of it before.
func (m *Machine) bridgedOver(now time.Time, o mail.BridgedOver) {
	e := m.byKey(o.Key)
	switch {
	case e == nil:
	case e.answer != nil:
		e.isOver, e.isDocumentGone = true, e.isDocumentGone || o.IsGone // its outcome tells by whom
	default:
		if m.overs = append(m.overs, mail.BridgedEnd{Key: o.Key, Session: o.Session}); len(m.overs) > maxAnswered {
			m.overs = m.overs[1:]
		}
		m.end(now, e, messages.ClosedByRemote)
	}
}

// isLateReport says whether a session tells late of a call, after another has told of its
// end. That one is the first to say so if it waits again.
func (m *Machine) isLateReport(key string, session messages.SessionID) bool {
	i := slices.IndexFunc(m.overs, func(o mail.BridgedEnd) bool { return o.Key == key })
	if i >= 0 && m.overs[i].Session == session {
		m.overs = slices.Delete(m.overs, i, i+1)
		return false
	}
	return i >= 0
}

// sessionGone takes a session's ways away. While the other link sees the page, it
// gets a moment to tell of the same call.
func (m *Machine) sessionGone(now time.Time, g mail.SessionGone) {
	if m.ended = append(m.ended, g.Session); len(m.ended) > maxAnswered {
		m.ended = m.ended[1:]
	}
	before := len(m.overs)
	if m.overs = slices.DeleteFunc(m.overs, func(o mail.BridgedEnd) bool { return o.Session == g.Session }); len(m.overs) < before {
		m.changed(nil, nil)
	}
	for _, e := range m.entries() {
		if e.isBridged() && hasWay(e.Ways, g.Session) {
			m.dropWays(e, func(w mail.Way) bool { return w.Session == g.Session })
		}
	}
	m.endLost(now)
}

const waylessPrefix = "wayless:"

// WaylessGrace is the time for the second link to report a call whose first reporter has
// gone. A debugger has reported it already; a request is reported only then, after the
// browser has noticed, and perhaps without its message (see session.wordGrace). A native
// dialog is reported only by a link that listened when it opened. Its report then comes
// behind what is left of attaching to the page; so does that of a frame, which may have a
// process and a session of its own.
const (
	WaylessGrace        = 500 * time.Millisecond
	WaylessRequestGrace = 5 * time.Second
	WaylessNativeGrace  = 2 * time.Second
	WaylessFrameGrace   = 2 * time.Second
)

// isUnreachable says that a dialog's last way is gone, and that none can come any more.
func (m *Machine) isUnreachable(e *entry) bool {
	if len(e.Ways) > 0 {
		return false
	}
	if !e.isBridged() {
		return !m.mayYetBeReported(e)
	}
	if !e.isUnreported && m.isAttended(e.Dialog.TargetID) {
		grace := WaylessGrace
		switch {
		case e.Dialog.Holds:
			grace = WaylessRequestGrace
		case e.Dialog.FrameID != messages.FrameID(e.Dialog.TargetID):
			grace = WaylessFrameGrace
		}
		m.await(e, grace)
		return false
	}
	return true
}

// mayYetBeReported says whether a link that stands may yet tell of a native dialog, and sees to
// it that this is not awaited for ever.
func (m *Machine) mayYetBeReported(e *entry) bool {
	for role := range messages.Roles {
		w, ok := m.watches[role].Get(e.Dialog.TargetID)
		if !ok || w.gen <= m.lost[role] || e.Seen.Sights[role] != mail.SightUnsure {
			continue
		}
		m.await(e, WaylessNativeGrace)
		return true
	}
	return false
}

// await gives a dialog without a way its grace, once: what else happens lengthens
// nothing.
func (m *Machine) await(e *entry, grace time.Duration) {
	if !e.isAwaited {
		e.isAwaited = true
		m.do(Arm{waylessPrefix + string(e.Dialog.ID), grace})
	}
}

// wayFound is for a native dialog that a link has reported at last. It gets the answer that
// was given meanwhile, or else the policy's.
func (m *Machine) wayFound(e *entry) {
	if !e.isAwaited {
		return
	}
	e.isAwaited = false
	m.do(Disarm{waylessPrefix + string(e.Dialog.ID)})
	switch {
	case e.answer == nil:
		m.decideAlone(e)
	case e.answer.way == (mail.Way{}):
		m.send(e)
	}
}

// isAttended says whether a link that stands sees the page.
func (m *Machine) isAttended(page messages.TargetID) bool {
	for role := range messages.Roles {
		if w, ok := m.watches[role].Get(page); ok && w.gen > m.lost[role] {
			return true
		}
	}
	return false
}

func (m *Machine) handleUnreachableTimer(now time.Time, name string) bool {
	id, ok := strings.CutPrefix(name, waylessPrefix)
	if !ok {
		return false
	}
	switch e := m.byID(messages.DialogID(id)); {
	case e == nil:
	case !e.isBridged():
		if e.isAwaited {
			m.end(now, e, messages.ClosedByLost)
		}
	case len(e.Ways) == 0 && m.isAttended(e.Dialog.TargetID) && e.Dialog.Holds:
		m.end(now, e, messages.ClosedByLost) // the request has not passed on: its page was dismissed
	case len(e.Ways) == 0 && m.isAttended(e.Dialog.TargetID) && e.isAnswerDelivered():
		m.endTaken(now, e)
	case len(e.Ways) == 0 && m.isAttended(e.Dialog.TargetID):
		m.end(now, e, messages.ClosedByRemote) // else it would have been told of again
	case len(e.Ways) == 0:
		e.isUnreported = true
		m.endLost(now)
	case e.isDoubted && e.answer == nil: // else its outcome tells
		m.end(now, e, messages.ClosedByRemote)
	}
	return true
}

// doubt is for a dialog whose end the actor before this one may have been told of:
// every session tells a new one what waits.
func (m *Machine) doubt(e *entry) {
	e.isDoubted = true
	m.do(Arm{waylessPrefix + string(e.Dialog.ID), WaylessGrace})
}

// isAnswerDelivered says that a call has its answer, with which it continues whatever resumes it: the
// next debugger, or the end of the last (C47). Only its document's end is faster.
func (e *entry) isAnswerDelivered() bool {
	return e.isBridged() && e.answer != nil && e.answer.taken != "" && !e.isDocumentGone
}

// endTaken ends a call that has its answer, and no way by which it could be seen to go on.
func (m *Machine) endTaken(now time.Time, e *entry) {
	if m.takenKeys = append(m.takenKeys, e.Pause.Key); len(m.takenKeys) > maxAnswered {
		m.takenKeys = m.takenKeys[1:]
	}
	m.end(now, e, e.answer.by)
}

// settled remembers a call that was answered: the slower link may tell of it yet.
func (m *Machine) settled(e *entry, by messages.ClosedBy) {
	if !e.isBridged() || by == messages.ClosedByLost || by == messages.ClosedByRemote {
		return // it may wait still, and be told of again
	}
	if m.answeredKeys = append(m.answeredKeys, e.Pause.Key); len(m.answeredKeys) > maxAnswered {
		m.answeredKeys = m.answeredKeys[1:]
	}
}

// endBy is end, for a dialog that was closed by a known party.
func (m *Machine) endBy(now time.Time, e *entry, by messages.ClosedBy) {
	if m.end(now, e, by); by == messages.ClosedByRemote {
		m.maybeNeeded(now, e)
	}
}

// maybeNeeded reports when another client has closed a dialog sooner than any agent could
// have answered it, as the client inside a hosted browser does (C49). Chrome itself closes
// the first of two at once (C14); and some dialogs this task may have closed.
func (m *Machine) maybeNeeded(now time.Time, e *entry) {
	if e.Dialog.Type == messages.DialogBeforeUnload || e.isOvertaken || e.mayHaveArrived || e.isRemembered || e.isBridged() {
		return
	}
	if after := now.Sub(e.OpenedAt); m.spec.Bridge == messages.BridgeAuto && after < m.spec.BridgeThreshold() {
		m.do(ToSupervisor{mail.BridgeNeeded{Dialog: e.Dialog.ID, Page: e.Dialog.TargetID, Frame: e.Dialog.FrameID, Heard: e.Dialog.Heard, After: after}})
	}
}
