package task

import (
	"slices"
	"time"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func (m *Machine) setPrimary(s messages.LinkState) {
	if m.Conn.Primary == s {
		return
	}
	m.Conn.Primary = s
	m.TellConnection()
}

// browserExited is the loss of the link, unless it was asked for.
func (m *Machine) browserExited(now time.Time, e step.BrowserExited) {
	for _, s := range m.SessionOrder() {
		m.Do(step.StopSession{Session: s})
	}
	m.Sessions = smallmap.Map[messages.SessionID, *model.Session]{}
	m.bridge.LinkLost(messages.RolePrimary)
	for t, o := range m.opening {
		delete(m.opening, t)
		m.Refuse(o.reply, messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser ended").WithSent(messages.SentYes))
	}
	for _, t := range m.Order {
		p := m.Pages.At(t)
		p.Session, p.Health, p.IsClosing, p.Restoring = "", messages.PageOK, false, smallmap.Map[messages.SessionID, []string]{}
	}
	m.process.Lost(m.isRooted, m.Order)
	m.isRooted = false
	m.UnlinkTrees()
	m.abandonRecoveries(messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser ended").WithSent(messages.SentYes))
	m.lostGen = m.Gen
	m.ToDialog(mail.LinkLost{Role: messages.RolePrimary, Gen: m.Gen})
	linked := !m.linkedAt.IsZero()
	m.primaryFell(now)
	m.Conn.Primary = messages.LinkDown
	switch {
	case m.Parting == model.BrowserLeaving:
		m.parted()
	case m.IsStopping():
		m.TellConnection()
		if m.Parting == model.AnchorLeaving {
			m.anchorHas(false)
		}
	case !m.HasBeenUp:
		// Never attached: nothing to hold on to, say so at once (A15).
		m.finish(messages.StateLost, e.Err)
	case messages.CodeOf(e.Err) == messages.CodeTargetNotFound:
		m.finish(messages.StateLost, e.Err)
	default:
		lost := messages.Event{Type: messages.EventConnection}
		switch {
		case m.LostAt.IsZero():
			m.OutageBegins(now, e.Err)
		case linked:
			m.Conn.LastError = m.LastError(e.Err)
			lost.Reconnect = &messages.Reconnect{Cause: messages.CauseAttach}
		default:
			m.Conn.LastError = m.LastError(e.Err)
			lost.Reconnect = &messages.Reconnect{Cause: messages.CauseDial}
		}
		lost.Connection = new(m.Conn)
		m.Tell(lost)
		m.Become(messages.StateRecovering)
	}
}

// isolated notes where the task's pages are made. It comes during an attach, whose
// end tells of the connection.
func (m *Machine) isolated(i mail.Isolated) {
	if i.Gen != m.Gen {
		return
	}
	m.Context, m.Conn.Isolation, m.Conn.IsolationOff = i.Context, messages.IsolationShared, i.Off
	if i.Context != "" {
		m.Conn.Isolation = messages.IsolationContext
	}
	if i.Off == messages.IsolationOffRefused {
		m.Do(step.Warn{Text: "the browser makes no context for the task: it shares cookies and storage with others"})
	}
}

func (m *Machine) rootAttached(r mail.RootAttached) {
	m.isRooted = true
	m.ToAnchor(mail.PrimaryUp{IsUp: true})
	if gone, restarted := m.process.Attached(r.Pages); restarted {
		m.Conn.BrowserRestarts++
		// What the anchor has is a link to the browser before, though its end may
		// not have been heard of yet; unless it has, and was faster to come back.
		if a := &m.Anchor; a.Linked == a.Gen && (a.Browser == "" || a.Browser != m.process.Now) {
			m.ToDialog(mail.LinkLost{Role: messages.RoleAnchor, Gen: a.Gen})
		}
		for _, t := range m.Order {
			// Also where the anchor's end is not known yet. Those of the new browser
			// have been attached to already.
			if !slices.Contains(r.Pages, t) {
				m.ToDialog(mail.PageGone{Page: t, IsLost: true})
			}
		}
		m.Do(step.BrowserRestarted{Pages: gone})
	}
	// What was ours and is not there any more was closed while we were away.
	for _, t := range slices.Clone(m.Order) {
		if !slices.Contains(r.Pages, t) {
			m.pageClosed(t)
		}
	}
}

// maybeActive ends an attach once every session has answered or been
// classified.
func (m *Machine) maybeActive(now time.Time) {
	if !m.isRooted || m.Conn.Primary == messages.LinkUp || m.IsStopping() || m.HasFinished() {
		return
	}
	for _, t := range m.Order {
		if m.Pages.At(t).Session == "" {
			return
		}
	}
	for _, s := range m.Sessions.All() {
		if !s.IsReady {
			return
		}
	}
	m.Conn.Primary = messages.LinkUp
	stands := messages.Event{Type: messages.EventConnection}
	if !m.LostAt.IsZero() {
		m.Conn.Reconnects++
		m.Conn.LastGapMS = now.Sub(m.LostAt).Milliseconds()
		m.OutageEnds()
		stands.Reason, stands.Reconnect = messages.ReasonReconnected, &messages.Reconnect{OK: true, Cause: m.LostBy}
	}
	stands.Connection = new(m.Conn)
	m.Tell(stands)
	m.maybeCalm(now)
	m.Do(step.Ready{})
	m.Become(m.Settled())
	m.anchorWanted(now)
	if !m.HasBeenUp {
		m.HasBeenUp = true
		// Published first: the caller of the start reads next (A5).
		m.Publish()
		m.Do(step.FirstActive{})
	}
}

// patience follows a spec that wants a lost link to be tried for longer, or not so long.
func (m *Machine) patience(before time.Duration) {
	after := m.Spec.GiveUpAfter()
	if after == before {
		return
	}
	m.Do(step.SetPatience{Patience: after})
	if !m.LostAt.IsZero() {
		m.Conn.GiveUpAfterS = after.Seconds()
		m.TellConnection()
	}
}
