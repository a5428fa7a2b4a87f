package task

import (
	"maps"
	"time"

	"holdfast/actors/console"
	"holdfast/actors/dialog"
	"holdfast/actors/session"
	"holdfast/actors/session/bridge"
	"holdfast/actors/supervisor/blocker"
	"holdfast/actors/supervisor/mechanism"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/party"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Machine folds what the children say into the task's state.
type Machine struct {
	step.Work

	Context  string          // the browser context of the task's own; "" is the browser's
	Contexts []string        // those that clients of the gateway have made
	lostGen  mail.Generation // the newest that is over
	linkedAt time.Time       // since when the primary link stands
	isRooted bool            // RootAttached of this generation has come
	process  model.Process
	bridge   mechanism.Machine

	Target  messages.TargetID // of scope target: the spec's, or what has replaced it
	opening map[messages.TargetID]opening

	hasOpenDialog bool // some dialog of the task is open

	told    map[messages.TargetID]bool // pages whose sessions know of open dialogs
	doubted map[messages.DialogID]bool // may be over, without a report
	// unframed are the pending dialogs whose frame may have been removed without a
	// word (C15).
	unframed map[messages.DialogID]bool
	// outlived are the pending dialogs whose page has another document by now. They
	// should have ended with theirs.
	outlived map[messages.DialogID]bool

	reports console.Replays

	failures []time.Time // of sessions' actors, in the last minute

	// withoutClients are the pages that clients of the gateway have to keep off, and clientPages
	// what they were told last.
	withoutClients map[messages.TargetID]bool
	clientPages    step.ClientPages
	clientsStay    map[messages.TargetID]bool // of the former, at the task's end
	// holdsPopups says that clients of the gateway hold popups.
	holdsPopups bool
	seenEarly   map[messages.TargetID]bool // see popupSeen

	standbys     map[string]bool           // by node: whether they see the pages
	standbyStays map[mail.StandbyLeft]bool // what is still to come, at the task's end

	isStandby bool                       // another node has the task
	off       map[messages.TargetID]bool // pages that a standby keeps away from
}

// opening is a page that is to go somewhere once its session answers: a page
// created with its URL would load unwatched (C30).
type opening struct {
	url   string
	order *messages.NavigateRequest // whose answer the reply is; nil: it is the page's id
	reply mail.Call
}

// New returns the machine of a task that has not begun. The spec is never written.
func New(id messages.TaskID, spec *messages.TaskSpec) *Machine {
	conn := messages.Connection{Primary: messages.LinkDialing, Anchor: messages.LinkDown, Endpoint: spec.CDPURL.String()}
	if spec.Anchor == messages.AnchorNone {
		conn.AnchorOff = messages.AnchorOffSpec
	}
	if spec.Scope != messages.ScopeOwn || spec.Isolation == messages.IsolationShared {
		conn.Isolation = messages.IsolationShared // nothing to find out
	}
	m := &Machine{
		Work: step.Work{Task: model.Task{ID: id, Spec: spec, State: messages.StateStarting, Conn: conn}}, Target: spec.TargetID,
	}
	m.bridge = mechanism.New(&m.Work)
	m.ShowBridge()
	return m
}

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(now time.Time, in any) []step.Effect {
	m.Now = now
	if m.HasFinished() {
		// What the children report while they stop changes nothing any more: each version
		// is final that was published with the last state.
		m.late(in)
		return m.Effects()
	}
	switch in := in.(type) {
	case step.BrowserStarting:
		m.Gen, m.isRooted = in.Gen, false
		m.bridge.LinkStarts()
		if !m.LostAt.IsZero() {
			m.Conn.Attempt++
		}
		m.setPrimary(messages.LinkDialing)
	case step.BrowserWaiting:
		m.setPrimary(messages.LinkBackoff)
	case step.Linked:
		if in.Gen == m.Gen {
			m.Conn.Endpoint, m.linkedAt = in.Endpoint, now
			if m.process.NoteLink(in.Browser) {
				m.bridge.BrowserChanged()
			}
			m.ask()
		}
	case step.BrowserExited:
		m.browserExited(now, in)
	case step.AnchorStarting:
		m.anchorStarting(in)
	case step.AnchorWaiting:
		m.setAnchor(messages.LinkBackoff, "")
	case step.AnchorExited:
		m.anchorExited(now, in)
	case step.AnchorLinked:
		if in.Gen == m.Anchor.Gen {
			m.Anchor.LinkAt, m.Anchor.Linked, m.Anchor.Browser = now, in.Gen, in.Browser
		}
	case step.AnchorGaveUp:
		m.Anchor.IsRunning = false
		m.anchorUseless(now, messages.AnchorOffUnreachable)
	case mail.AnchorAttached:
		if m.Anchor.IsHeard(in.Gen) {
			m.anchorAttached(now, in)
		}
	case mail.AnchorSettled:
		if m.Anchor.IsHeard(in.Gen) && m.Conn.AnchorOff == "" {
			m.anchorSettled(now)
		}
	case mail.PageCovered:
		m.pageCovered(in)
	case mail.HoldPopups:
		m.holdPopups(in.IsOn)
	case mail.ClientsAttached:
		m.clientsAttached(in.IsOn)
	case mail.ClientContexts:
		m.clientContexts(in)
	case mail.ClientsLeft:
		m.clientsLeft(in.Page)
	case mail.StandbyAttached:
		m.standbyAttached(in)
	case mail.StandbyLeft:
		m.standbyLeft(in)
	case mail.StandbyGone:
		m.standbyGone(in.Node)
	case mail.FollowTask:
		m.follow(in.News)
	case mail.LeaveAsStandby:
		m.leaveAsStandby(in)
	case mail.FilesGiven:
		m.endBlockers(messages.ClosedByRemote, blocker.GivenBy(in))
	case mail.PopupSeen:
		m.popupSeen(in.Page)
	case mail.PageUncovered:
		if in.Gen == m.Anchor.Gen {
			m.Parties.Uncover(party.Anchor, in.Page)
		}
	case mail.PageLeft:
		if in.Gen == m.Anchor.Gen {
			m.DoAll(m.Parties.Left(party.Anchor, in.Page))
		}
	case step.GaveUp:
		m.stop(model.ReasonOf(in.Err), in.Err)
	case step.BrowserGone:
		if !m.IsStopping() {
			m.finish(messages.StateLost, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser has ended: %s", in.Why))
		}
	case step.PageOpened:
		m.pageOpened(in)
	case step.WantedFull:
		if !m.Conn.WantedTruncated {
			m.Conn.WantedTruncated = true
			m.TellConnection()
		}
	case step.FramesRestarted:
		m.framesRestarted()
	case step.DialogsRestarted:
		m.dialogsRestarted()
	case step.SessionFailed:
		m.sessionFailed(now, in.Session)

	case mail.Isolated:
		m.isolated(in)
	case mail.RootAttached:
		if in.Gen == m.Gen {
			m.rootAttached(in)
		}
	case mail.TargetAttached:
		if in.Gen == m.Gen && !m.IsStopping() {
			m.targetAttached(in)
		}
	case mail.TargetDetached:
		if in.Gen == m.Gen {
			m.sessionEnded(in.Session)
		}
	case mail.SessionReady:
		m.sessionReady(in)
	case mail.SessionHealth:
		m.sessionHealth(in)
	case mail.PageInfoChanged:
		if in.Gen == m.Gen {
			m.pageInfoChanged(in.Info)
		}
	case mail.PageNavigated:
		if in.Gen == m.Gen {
			m.pageNavigated(in)
		}
	case mail.PageClosed:
		if in.Gen == m.Gen {
			m.pageClosed(in.Page)
		}
	case mail.PageKept:
		if in.Gen == m.Gen {
			m.pageKept(in.Page)
		}
	case mail.PageReleased:
		if in.Gen == m.Gen {
			m.pageReleased(in.Page)
		}
	case mail.PageReloaded:
		if in.Gen == m.Gen {
			m.pageReloaded(in)
		}
	case step.PageShut:
		m.pageShut(in)
	case step.Elsewhere:
		m.elsewhereIs(in.Sites)
	case step.PageReplaced:
		m.pageReplaced(in)
	case mail.FrameMoved:
		if in.Gen == m.Gen {
			m.bridge.FrameMoved(in)
			m.frameBlockersEnd(in)
		}
	case mail.BlockerRaised:
		m.blockerRaised(in)
	case mail.BridgeNeeded:
		if !m.isStandby { // else the task's node has answered it
			m.bridge.Needed(in)
		}
	case mail.FrameBoxed:
		m.bridge.FrameBoxed(in)
	case mail.RequestsHeard:
		m.bridge.RequestsHeard(in)
	case mail.RequestHeld:
		m.bridge.RequestHeld(in)
	case mail.EndRequest:
		m.bridge.EndRequest(in)
	case mail.BridgeStands:
		m.bridge.Stands(in)
	case mail.BridgeRefused:
		m.bridge.Refused(in)
	case bridge.SiblingLeft:
		m.siblingLeft(in)
	case session.Restoring:
		m.restoring(in)
	case mail.PageUnreachable:
		m.pageUnreachable(in)
	case mail.PageDoomed:
		m.pageDoomed(in)
	case mail.DialogsChanged:
		m.dialogsChanged(in)
	case dialog.Left:
		m.dialogsLeft()
	case mail.FramesUnheard:
		if in.Gen == m.Gen && m.Sessions.At(in.Session) != nil {
			m.ToSession(in.Session, mail.ReloadFrames{})
		}
	case mail.FramesChanged:
		if in.Gen == m.Gen && m.Pages.At(in.Page) != nil {
			m.framesChanged(in)
		}
	case mail.ConsoleReported:
		if in.Gen == m.Gen {
			m.consoleReported(in.Page, in.Target, &in.Entry)
		}
	case mail.ConsoleReports:
		if in.Gen == m.Gen {
			m.consoleReports(in)
		}

	case mail.Lease:
		m.lease(in)
	case mail.AnswerDialog:
		m.ToDialog(in)
	case mail.AnswerBlocker:
		m.answerBlocker(in)
	case mail.AskHuman:
		m.askHuman(in)
	case mail.Navigate:
		m.navigate(in)
	case mail.OpenPage:
		m.openPage(in)
	case mail.ClosePage:
		m.closePage(in)
	case mail.RecoverPage:
		m.recover(in)
	case mail.UpdateSpec:
		if m.isStandby {
			m.Spec = &in.Spec
			m.ToDialog(mail.SetDialogPolicy(in))
			break
		}
		if !maps.Equal(m.Spec.Labels, in.Spec.Labels) {
			m.TellConnection() // labels have no event of their own
		}
		patience := m.Spec.GiveUpAfter()
		wedges := m.Spec.OnWedge != in.Spec.OnWedge || m.Spec.OnWedgeAfterS != in.Spec.OnWedgeAfterS
		if m.Spec = &in.Spec; wedges {
			m.Turned = append(m.Turned[:0], m.Order...)
		}
		m.patience(patience)
		m.anchorSpec(now)
		m.bridge.FollowSpec()
		m.ToDialog(mail.SetDialogPolicy(in))
	case mail.StopTask:
		if !m.IsStopping() {
			m.Outcome = in.Outcome
		}
		m.stop(in.Reason, nil)

	case step.TimerFired:
		if in.Name == step.TimerElsewhere {
			m.watchElsewhere()
			break
		}
		if !m.handleWedgeTimer(in.Name) && !m.handleRecoverTimer(in.Name) && !m.bridge.HandleTimer(in.Name) {
			m.timerFired(now, in.Name)
		}
	case step.Flush:
		m.Flushed()
	}
	m.unpark()
	// Whatever happened, a page that went away included: the attach may be over.
	up := m.Conn.Primary == messages.LinkUp
	m.maybeActive(now)
	m.attend(now, !up)
	m.tellClients() // first: a client may leave a page as soon as its dialog is shown
	if m.HasNews() {
		m.Publish()
	}
	m.DoAll(m.Later)
	m.Later = nil
	m.GiveAnswers()
	if r, ok := in.(mail.Relay); ok {
		m.Do(step.Answer(r))
	}
	return m.Effects()
}
