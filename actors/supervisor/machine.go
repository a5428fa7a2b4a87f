package supervisor

import (
	"maps"
	"slices"
	"time"

	"holdfast/actors/dialog"
	"holdfast/actors/session"
	"holdfast/actors/session/bridge"
	"holdfast/actors/session/page"
	"holdfast/actors/supervisor/party"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Machine folds what the children say into the task's state.
type Machine struct {
	id   messages.TaskID
	spec *messages.TaskSpec // never written: others have it
	out  []Effect
	now  time.Time // of the step under way

	state    messages.TaskState
	reason   string
	version  uint64
	conn     messages.Connection
	context  string // the browser context of the task's own; "" is the browser's
	gen      mail.Generation
	lostGen  mail.Generation // the newest that is over
	lostAt   time.Time       // zero while the primary link is not missed
	linkedAt time.Time       // since when the primary link stands
	lostBy   messages.ReconnectCause
	everUp   bool
	rooted   bool // RootAttached of this generation has come
	process  process
	parting  parting
	verdict  error                // why a task that parts is lost; nil where it was told to stop
	outcome  messages.TaskOutcome // of such a stop
	bridge   bridge.Secret
	epoch    uint64 // of the bridge, as it was last turned on or off
	switched bool   // to the bridge, for want of dialogs that stay open
	by       mail.Mechanism
	had      mail.Mechanisms              // those that the task has been bridged by, ever
	asked    bool                         // the browser, whether requests can be heard
	deaf     bool                         // they cannot
	hearing  bool                         // the browser has been told to hear them
	given    bool                         // it has given a session of this link its debugger
	waiting  map[string]mail.RequestHeld  // the newest of each label
	needed   map[messages.TargetID]needed // by page, until it is known to be there and the dialog's renderer not to have crashed
	native   map[messages.TargetID]bool   // what the primary was refused the bridge of

	pages    smallmap.Map[messages.TargetID, *pageEntry]
	order    []messages.TargetID // as opened
	current  messages.TargetID
	target   messages.TargetID // of scope target: the spec's, or what has replaced it
	sessions smallmap.Map[messages.SessionID, *sessionEntry]
	opening  map[messages.TargetID]opening

	recovering map[messages.TargetID]*recovery
	orphaned   map[messages.TargetID]orphan // dialogs that were lost on a page that has not answered since
	turned     []messages.TargetID          // pages whose state is another than was shown last
	asks       bool                         // some dialog of the task is open
	elsewhere  []string                     // sites that wait in dialogs of other tasks
	later      []Effect                     // effects to run after Publish
	answers    []Answer                     // for who is to read what is published before

	memory  mail.DialogMemory
	pending []messages.Dialog
	told    map[messages.TargetID]bool // pages whose sessions know of open dialogs
	doubted map[messages.DialogID]bool // may be over, without a report
	// unframed are the pending dialogs whose frame may have been removed without a
	// word (C15).
	unframed map[messages.DialogID]bool
	// outlived are the pending dialogs whose page has another document by now. They
	// should have ended with theirs.
	outlived map[messages.DialogID]bool

	trees   smallmap.Map[messages.TargetID, *messages.FrameTree] // copied on write: views have it
	console []messages.ConsoleError                              // only what lies behind its end is written
	reports reports

	anchor  anchor
	parties party.Set[Effect] // who is attached to the pages beside the primary

	events   []messages.Event
	held     []*messages.ConsoleError // published together
	flushing bool
}

type pageEntry struct {
	info     mail.TargetInfo
	session  messages.SessionID
	health   messages.PageState
	shown    messages.PageState // the state that was told of last
	told     messages.Page      // as the last event about it has it
	since    time.Time          // when it was
	held     bool               // one of its frames holds a dialog without a report
	stuck    bool               // holds a dialog that cannot be answered
	poisoned bool               // and its frame is gone
	doomed   bool               // may not be left by any session (C58)
	waited   bool               // long enough for what is known of its dialogs
	parked   []any              // orders that wait for that
	closing  bool               // by an order that is under way
	// restoring are, by session, the settings that the browser has refused since.
	restoring smallmap.Map[messages.SessionID, []string]
	moved     []moved // the newest of its frames' documents, oldest first
	answered  bool    // its renderer has, at some time
	auto      automatic
}

type sessionEntry struct {
	cfg     page.Config
	via     messages.SessionID
	info    mail.TargetInfo
	seq     uint64
	ready   bool
	enabled bool // hears of its page's dialogs
	heard   bool // its renderer has answered since it was doubted
	tells   bool // it has answered, so that what opens on its page from then on is told
	retells bool // of its frames, to a new frame actor
	health  messages.PageState
	since   time.Time // when the silence began that health names

	stranded bool      // it hangs between two documents
	crashed  time.Time // when that was heard of last

	label     string // of its requests
	script    string // of the bridge, in the session
	bridged   bool   // its documents have the bridge
	unbridged bool   // the browser does not give it one
	slipped   bool   // a document of its that has the bridge opened a native dialog
	boxed     bool   // whether its sandbox keeps it from opening dialogs is known
	shut      bool
	stood     time.Time // when the bridge was told to stand last
}

// opening is a page that is to go somewhere once its session answers: a page
// created with its URL would load unwatched (C30).
type opening struct {
	url   string
	order *messages.NavigateRequest // whose answer the reply is; nil: it is the page's id
	reply mail.Call
}

// NewMachine returns the machine of a task that has not begun.
func NewMachine(id messages.TaskID, spec messages.TaskSpec) *Machine { return newMachine(id, &spec) }

func newMachine(id messages.TaskID, spec *messages.TaskSpec) *Machine {
	conn := messages.Connection{Primary: messages.LinkDialing, Anchor: messages.LinkDown, Endpoint: spec.CDPURL.String()}
	if spec.Anchor == messages.AnchorNone {
		conn.AnchorOff = messages.AnchorOffSpec
	}
	if spec.Scope != messages.ScopeOwn || spec.Isolation == messages.IsolationShared {
		conn.Isolation = messages.IsolationShared // nothing to find out
	}
	m := &Machine{
		id: id, spec: spec, state: messages.StateStarting, conn: conn, target: spec.TargetID,
	}
	m.showBridge()
	return m
}

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(now time.Time, in any) []Effect {
	m.now = now
	if m.finished() {
		// What the children report while they stop changes nothing any more: each version
		// is final that was published with the last state.
		m.late(in)
		return m.effects()
	}
	switch in := in.(type) {
	case BrowserStarting:
		m.gen, m.rooted = in.Gen, false
		m.mechanismStarts()
		if !m.lostAt.IsZero() {
			m.conn.Attempt++
		}
		m.setPrimary(messages.LinkDialing)
	case BrowserWaiting:
		m.setPrimary(messages.LinkBackoff)
	case Linked:
		if in.Gen == m.gen {
			m.conn.Endpoint, m.linkedAt = in.Endpoint, now
			if m.process.linked(in.Browser) {
				m.debuggerAgain()
			}
			m.ask()
		}
	case BrowserExited:
		m.browserExited(now, in)
	case AnchorStarting:
		m.anchorStarting(in)
	case AnchorWaiting:
		m.setAnchor(messages.LinkBackoff, "")
	case AnchorExited:
		m.anchorExited(now, in)
	case AnchorLinked:
		if in.Gen == m.anchor.gen {
			m.anchor.linkAt, m.anchor.linked, m.anchor.browser = now, in.Gen, in.Browser
		}
	case AnchorGaveUp:
		m.anchor.running = false
		m.anchorUseless(now, messages.AnchorOffUnreachable)
	case mail.AnchorAttached:
		if m.anchor.speaks(in.Gen) {
			m.anchorAttached(now, in)
		}
	case mail.AnchorSettled:
		if m.anchor.speaks(in.Gen) && m.conn.AnchorOff == "" {
			m.anchorSettled(now)
		}
	case mail.PageCovered:
		m.pageCovered(in)
	case mail.PageUncovered:
		if in.Gen == m.anchor.gen {
			m.parties.Uncover(party.Anchor, in.Page)
		}
	case mail.PageLeft:
		if in.Gen == m.anchor.gen {
			m.doAll(m.parties.Left(party.Anchor, in.Page))
		}
	case GaveUp:
		m.stop(reasonOf(in.Err), in.Err)
	case BrowserGone:
		if !m.stopping() {
			m.finish(messages.StateLost, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser has ended: %s", in.Why))
		}
	case PageOpened:
		m.pageOpened(in)
	case WantedFull:
		if !m.conn.WantedTruncated {
			m.conn.WantedTruncated = true
			m.tellConnection()
		}
	case FramesRestarted:
		m.framesRestarted()
	case DialogsRestarted:
		m.dialogsRestarted()
	case SessionRestarted:
		m.sessionRestarted(in.Session)

	case mail.Isolated:
		m.isolated(in)
	case mail.RootAttached:
		if in.Gen == m.gen {
			m.rootAttached(in)
		}
	case mail.TargetAttached:
		if in.Gen == m.gen && !m.stopping() {
			m.targetAttached(in)
		}
	case mail.TargetDetached:
		if in.Gen == m.gen {
			m.sessionEnded(in.Session)
		}
	case mail.SessionReady:
		m.sessionReady(in)
	case mail.SessionHealth:
		m.sessionHealth(in)
	case mail.PageInfoChanged:
		if in.Gen == m.gen {
			m.pageInfoChanged(in.Info)
		}
	case mail.PageNavigated:
		if in.Gen == m.gen {
			m.pageNavigated(in)
		}
	case mail.PageClosed:
		if in.Gen == m.gen {
			m.pageClosed(in.Page)
		}
	case mail.PageKept:
		if in.Gen == m.gen {
			m.pageKept(in.Page)
		}
	case mail.PageReleased:
		if in.Gen == m.gen {
			m.pageReleased(in.Page)
		}
	case mail.PageReloaded:
		if in.Gen == m.gen {
			m.pageReloaded(in)
		}
	case PageShut:
		m.pageShut(in)
	case Elsewhere:
		m.elsewhereIs(in.Sites)
	case PageReplaced:
		m.pageReplaced(in)
	case mail.FrameMoved:
		if in.Gen == m.gen {
			m.frameMoved(in)
		}
	case mail.BridgeNeeded:
		m.bridgeNeeded(in)
	case mail.FrameBoxed:
		m.frameBoxed(in)
	case mail.RequestsHeard:
		m.requestsHeard(in)
	case mail.RequestHeld:
		m.requestHeld(in)
	case mail.EndRequest:
		m.endRequest(in)
	case mail.BridgeScript:
		if e := m.sessions.At(in.Session); e != nil && in.Gen == m.gen {
			e.script = in.ID
		}
	case mail.BridgeStands:
		m.bridgeStands(in)
	case mail.BridgeRefused:
		m.bridgeRefused(in)
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
		m.leaveAnchor()
	case mail.FramesUnheard:
		if in.Gen == m.gen && m.sessions.At(in.Session) != nil {
			m.do(ToSession{in.Session, mail.ReloadFrames{}})
		}
	case mail.FramesChanged:
		if in.Gen == m.gen && m.pages.At(in.Page) != nil {
			m.framesChanged(in)
		}
	case mail.ConsoleReported:
		if in.Gen == m.gen {
			m.consoleReported(in.Page, in.Target, &in.Entry)
		}
	case mail.ConsoleReports:
		if in.Gen == m.gen {
			m.consoleReports(in)
		}

	case mail.AnswerDialog:
		m.do(ToDialog{in})
	case mail.Navigate:
		m.navigate(in)
	case mail.OpenPage:
		m.openPage(in)
	case mail.ClosePage:
		m.closePage(in)
	case mail.RecoverPage:
		m.recover(in)
	case mail.UpdateSpec:
		if !maps.Equal(m.spec.Labels, in.Spec.Labels) {
			m.tellConnection() // labels have no event of their own
		}
		patience := m.spec.GiveUpAfter()
		wedges := m.spec.OnWedge != in.Spec.OnWedge || m.spec.OnWedgeAfterS != in.Spec.OnWedgeAfterS
		if m.spec = &in.Spec; wedges {
			m.turned = append(m.turned[:0], m.order...)
		}
		m.patience(patience)
		m.anchorSpec(now)
		m.setBridge()
		m.do(ToDialog{mail.SetDialogPolicy(in)})
	case mail.StopTask:
		if !m.stopping() {
			m.outcome = in.Outcome
		}
		m.stop(in.Reason, nil)

	case TimerFired:
		if in.Name == timerElsewhere {
			m.watchElsewhere()
			break
		}
		if !m.wedgeTimer(in.Name) && !m.recoverTimer(in.Name) {
			m.timerFired(now, in.Name)
		}
	case Flush:
		m.flushing = false
	}
	m.unpark()
	// Whatever happened, a page that went away included: the attach may be over.
	up := m.conn.Primary == messages.LinkUp
	m.maybeActive(now)
	m.attend(now, !up)
	if len(m.events) > 0 || !m.flushing && len(m.held) > 0 {
		m.do(m.take())
	}
	m.out, m.later = append(m.out, m.later...), nil
	m.giveAnswers()
	if r, ok := in.(mail.Relay); ok {
		m.do(Answer(r))
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

// tell adds an event; the state is published at the end of the Step.
func (m *Machine) tell(e messages.Event) { m.events = append(m.events, e) }

// take numbers and dates the events: a version each.
func (m *Machine) take() Publish {
	// What was held back shows in the snapshot that is published now, and came
	// first.
	p := Publish{Before: m.version, At: messages.SecondsOf(m.now), Errors: m.held, Events: m.events}
	m.version += uint64(len(m.held))
	for i := range p.Events {
		m.version++
		p.Events[i].TaskID, p.Events[i].Version, p.Events[i].At = m.id, m.version, p.At
	}
	m.held, m.events = nil, nil
	return p
}

func (m *Machine) become(s messages.TaskState) {
	if m.state == s {
		return
	}
	m.state = s
	m.tell(messages.Event{Type: messages.EventTaskState, State: s, Reason: m.reason, Outcome: m.outcomeOf(s)})
}

// owned are the pages of the task, for the next link to find again.
func (m *Machine) owned() []messages.TargetID { return slices.Clone(m.order) }
