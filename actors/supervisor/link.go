package supervisor

import (
	"errors"
	"slices"
	"time"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

func (m *Machine) setPrimary(s messages.LinkState) {
	if m.conn.Primary == s {
		return
	}
	m.conn.Primary = s
	m.tellConnection()
}

func (m *Machine) tellConnection() {
	m.tell(messages.Event{Type: messages.EventConnection, Connection: new(m.conn)})
}

// browserExited is the loss of the link, unless it was asked for.
func (m *Machine) browserExited(now time.Time, e BrowserExited) {
	for _, s := range m.sessionOrder() {
		m.do(StopSession{s})
	}
	m.sessions = smallmap.Map[messages.SessionID, *sessionEntry]{}
	m.forgetRequests(messages.RolePrimary)
	for t, o := range m.opening {
		delete(m.opening, t)
		m.do(Answer{To: o.reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser ended").WithSent(messages.SentYes)})
	}
	for _, t := range m.order {
		p := m.pages.At(t)
		p.session, p.health, p.closing, p.restoring = "", messages.PageOK, false, smallmap.Map[messages.SessionID, []string]{}
	}
	m.process.lost(m.rooted, m.order)
	m.rooted = false
	m.unlinkTrees()
	clear(m.needed) // a browser that ends closes its dialogs
	m.abandonRecoveries(messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser ended").WithSent(messages.SentYes))
	m.lostGen = m.gen
	m.do(ToDialog{mail.LinkLost{Role: messages.RolePrimary, Gen: m.gen}})
	linked := !m.linkedAt.IsZero()
	m.primaryFell(now)
	m.conn.Primary = messages.LinkDown
	switch {
	case m.parting == browserLeaving:
		m.parted()
	case m.stopping():
		m.tellConnection()
		if m.parting == anchorLeaving {
			m.anchorHas(false)
		}
	case !m.everUp:
		// Never attached: nothing to hold on to, say so at once (A15).
		m.finish(messages.StateLost, e.Err)
	case messages.CodeOf(e.Err) == messages.CodeTargetNotFound:
		m.finish(messages.StateLost, e.Err)
	default:
		lost := messages.Event{Type: messages.EventConnection}
		switch {
		case m.lostAt.IsZero():
			m.outageBegins(now, e.Err)
		case linked:
			m.conn.LastError = m.lastError(e.Err)
			lost.Reconnect = &messages.Reconnect{Cause: messages.CauseAttach}
		default:
			m.conn.LastError = m.lastError(e.Err)
			lost.Reconnect = &messages.Reconnect{Cause: messages.CauseDial}
		}
		lost.Connection = new(m.conn)
		m.tell(lost)
		m.become(messages.StateRecovering)
	}
}

// lostBy is why a link that stood was lost.
func lostBy(err error) messages.ReconnectCause {
	var link *transport.LinkError
	if errors.As(err, &link) {
		switch link.Cause {
		case transport.CauseHalfOpen:
			return messages.CauseHalfOpen
		case transport.CauseFlood:
			return messages.CauseFlood
		}
	}
	return messages.CauseClosed
}

// unlinkTrees keeps what is known of the frames, without the sessions they had.
func (m *Machine) unlinkTrees() {
	var trees smallmap.Map[messages.TargetID, *messages.FrameTree] // the published ones are not written
	for t, tree := range m.trees.All() {
		unlinked := *tree
		unlinked.Children = slices.Clone(tree.Children)
		for i := range unlinked.Children {
			unlinked.Children[i].SessionID = ""
		}
		trees.Set(t, &unlinked)
	}
	m.trees = trees
}

// isolated notes where the task's pages are made. It comes during an attach, whose
// end tells of the connection.
func (m *Machine) isolated(i mail.Isolated) {
	if i.Gen != m.gen {
		return
	}
	m.context, m.conn.Isolation, m.conn.IsolationOff = i.Context, messages.IsolationShared, i.Off
	if i.Context != "" {
		m.conn.Isolation = messages.IsolationContext
	}
	if i.Off == messages.IsolationOffRefused {
		m.do(Warn{Text: "the browser makes no context for the task: it shares cookies and storage with others"})
	}
}

func (m *Machine) rootAttached(r mail.RootAttached) {
	m.rooted = true
	m.toAnchor(mail.PrimaryUp{Up: true})
	if gone, restarted := m.process.attached(r.Pages); restarted {
		m.conn.BrowserRestarts++
		// What the anchor has is a link to the browser before, though its end may
		// not have been heard of yet; unless it has, and was faster to come back.
		if a := &m.anchor; a.linked == a.gen && (a.browser == "" || a.browser != m.process.now) {
			m.do(ToDialog{mail.LinkLost{Role: messages.RoleAnchor, Gen: a.gen}})
		}
		for _, t := range m.order {
			// Also where the anchor's end is not known yet. Those of the new browser
			// have been attached to already.
			if !slices.Contains(r.Pages, t) {
				m.do(ToDialog{mail.PageGone{Page: t, Lost: true}})
			}
		}
		m.do(BrowserRestarted{Pages: gone})
	}
	// What was ours and is not there any more was closed while we were away.
	for _, t := range slices.Clone(m.order) {
		if !slices.Contains(r.Pages, t) {
			m.pageClosed(t)
		}
	}
}

// maybeActive ends an attach once every session has answered or been
// classified.
func (m *Machine) maybeActive(now time.Time) {
	if !m.rooted || m.conn.Primary == messages.LinkUp || m.stopping() || m.finished() {
		return
	}
	for _, t := range m.order {
		if m.pages.At(t).session == "" {
			return
		}
	}
	for _, s := range m.sessions.All() {
		if !s.ready {
			return
		}
	}
	m.conn.Primary = messages.LinkUp
	stands := messages.Event{Type: messages.EventConnection}
	if !m.lostAt.IsZero() {
		m.conn.Reconnects++
		m.conn.LastGapMS = now.Sub(m.lostAt).Milliseconds()
		m.outageEnds()
		stands.Reason, stands.Reconnect = messages.ReasonReconnected, &messages.Reconnect{OK: true, Cause: m.lostBy}
	}
	stands.Connection = new(m.conn)
	m.tell(stands)
	m.maybeCalm(now)
	m.do(Ready{})
	m.become(m.settled())
	m.anchorWanted(now)
	if !m.everUp {
		m.everUp = true
		// Published first: the caller of the start reads next (A5).
		m.do(m.take())
		m.do(FirstActive{})
	}
}

// settled is active, or wedged when the current page cannot answer.
func (m *Machine) settled() messages.TaskState {
	switch m.pageState(m.current) {
	case messages.PageDialogUnreachable, messages.PageCrashed, messages.PageHung:
		return messages.StateWedged
	}
	return messages.StateActive
}

func (m *Machine) resettle() {
	if m.state == messages.StateActive || m.state == messages.StateWedged {
		m.become(m.settled())
	}
}
