package supervisor

import (
	"maps"
	"slices"
	"strings"
	"time"

	"holdfast/actors/dialog"
	"holdfast/actors/session"
	"holdfast/messages"
)

// Inputs of the machine besides messages.
type (
	// BrowserStarting says that the browser session of gen begins to dial;
	// BrowserWaiting that the next attempt waits for its backoff.
	BrowserStarting struct{ Gen messages.Generation }
	BrowserWaiting  struct{}

	// Linked says that the link of Gen stands.
	Linked struct {
		Gen      messages.Generation
		Endpoint string
	}

	// BrowserExited says that the browser's session has ended. Err is nil when
	// it was asked to.
	BrowserExited struct{ Err error }

	// GaveUp says that the restart policy will not try again.
	GaveUp struct{ Err error }

	// BrowserGone says that the browser the node launched has ended.
	BrowserGone struct{ Why string }

	// PageOpened is the outcome of an OpenTab.
	PageOpened struct {
		Target messages.TargetID
		Err    error
		URL    string
		Reply  messages.ReplyTo
	}

	// FramesRestarted says that the frame actor begins anew on the same link.
	FramesRestarted struct{}

	// DialogsRestarted says that the dialog actor begins anew, or for the first
	// time, with the memory the machine has.
	DialogsRestarted struct{}

	// SessionRestarted says that a session's actor begins anew on the same session.
	SessionRestarted struct{ Session messages.SessionID }

	// Flush publishes what was held back to be published together.
	Flush struct{}

	// TimerFired is an Arm that has come due.
	TimerFired struct{ Name string }
)

// Effects of the machine.
type (
	// Effect is anything the machine wants done.
	Effect any

	// Publish shows the state as it is now.
	Publish struct{ Events []messages.Event }

	// FlushSoon asks for a Flush after what is in the mailbox now.
	FlushSoon struct{}

	// SpawnSession and StopSession start and end a session's actor.
	SpawnSession struct{ Config session.Config }
	StopSession  struct{ Session messages.SessionID }

	// ToDialog, ToFrame, ToBrowser and ToSession are messages to the children.
	ToDialog  struct{ Msg any }
	ToFrame   struct{ Msg any }
	ToBrowser struct{ Msg any }
	ToSession struct {
		Session messages.SessionID
		Msg     any
	}

	// Ready tells the restart policy that the link is healthy.
	Ready struct{}

	// FramesStable tells it that the forest is.
	FramesStable struct{}

	// FirstActive tells the registry that the task has attached.
	FirstActive struct{}

	// OpenTab asks the browser's session for a blank page; PageOpened follows.
	OpenTab struct {
		URL       string
		NewWindow bool
		Reply     messages.ReplyTo
	}

	// Arm sets a named timer anew.
	Arm struct {
		Name  string
		After time.Duration
	}

	// Answer replies to whoever gave an order.
	Answer struct {
		To    messages.ReplyTo
		Value any
		Err   error
	}

	// Finish ends the supervisor, and the browser that was launched for it; Err
	// is nil when it was asked to.
	Finish struct{ Err error }
)

// The budgets of an orderly stop (requirement A10: 5 s in all).
const (
	stopBudget   = 4 * time.Second
	dialogBudget = time.Second

	// releaseGrace lets the command that removed the frame have its reply
	// before the page's session is left.
	releaseGrace = 50 * time.Millisecond

	// framesProbation is how long a restarted frame actor has to live for its
	// failure to be forgiven.
	framesProbation = time.Minute
)

const (
	timerStop    = "stop"
	timerDialogs = "dialogs"
	timerFrames  = "frames"
	timerRelease = "release:"
)

// Machine folds what the children say into the task's state.
type Machine struct {
	id   messages.TaskID
	spec messages.TaskSpec
	out  []Effect

	state    messages.TaskState
	reason   string
	version  uint64
	conn     messages.Connection
	gen      messages.Generation
	lostGen  messages.Generation // the newest that is over
	lostAt   time.Time
	everUp   bool
	rooted   bool // RootAttached of this generation has come
	stopping bool

	pages    map[messages.TargetID]*pageEntry
	order    []messages.TargetID // as opened
	current  messages.TargetID
	sessions map[messages.SessionID]*sessionEntry
	opening  map[messages.TargetID]opening

	memory  messages.DialogMemory
	pending []messages.Dialog
	told    map[messages.TargetID]bool // pages whose sessions know of open dialogs

	trees   map[messages.TargetID]*messages.FrameTree
	console []messages.ConsoleError // copied on write

	events   []messages.Event
	held     []messages.Event // console errors, published together
	flushing bool
}

type pageEntry struct {
	info     messages.TargetInfo
	session  messages.SessionID
	health   messages.PageState
	stuck    bool // holds a dialog nobody can answer
	poisoned bool
}

type sessionEntry struct {
	cfg    session.Config
	via    messages.SessionID
	info   messages.TargetInfo
	seq    uint64
	ready  bool
	health messages.PageState
}

// opening is a page that is to go somewhere once its session answers: a page
// created with its URL would load unwatched (C30).
type opening struct {
	url   string
	reply messages.ReplyTo
}

// NewMachine returns the machine of a task that has not begun.
func NewMachine(id messages.TaskID, spec messages.TaskSpec) *Machine {
	return &Machine{
		id: id, spec: spec, state: messages.StateStarting,
		conn: messages.Connection{
			Primary: messages.LinkDialing, Anchor: messages.LinkDown, Endpoint: spec.CDPURL.String(),
		},
		pages: map[messages.TargetID]*pageEntry{}, sessions: map[messages.SessionID]*sessionEntry{},
		opening: map[messages.TargetID]opening{}, told: map[messages.TargetID]bool{},
		trees: map[messages.TargetID]*messages.FrameTree{},
	}
}

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(now time.Time, in any) []Effect {
	m.out = nil
	if m.finished() {
		// What the children say on their way out changes nothing any more: each
		// version is final that was published with the last state.
		m.late(in)
		return m.out
	}
	switch in := in.(type) {
	case BrowserStarting:
		m.gen, m.rooted = in.Gen, false
		m.setPrimary(messages.LinkDialing)
	case BrowserWaiting:
		m.setPrimary(messages.LinkBackoff)
	case Linked:
		if in.Gen == m.gen {
			m.conn.Endpoint = in.Endpoint
		}
	case BrowserExited:
		m.browserExited(now, in)
	case GaveUp:
		m.finish(messages.StateLost, in.Err)
	case BrowserGone:
		if !m.stopping {
			m.finish(messages.StateLost, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser has ended: %s", in.Why))
		}
	case PageOpened:
		m.pageOpened(in)
	case FramesRestarted:
		m.framesRestarted()
	case DialogsRestarted:
		m.dialogsRestarted()
	case SessionRestarted:
		m.sessionRestarted(in.Session)

	case messages.RootAttached:
		if in.Gen == m.gen {
			m.rootAttached(in)
		}
	case messages.TargetAttached:
		if in.Gen == m.gen && !m.stopping {
			m.targetAttached(in)
		}
	case messages.TargetDetached:
		if in.Gen == m.gen {
			m.sessionEnded(in.Session)
		}
	case messages.SessionReady:
		m.sessionReady(in)
	case messages.SessionHealth:
		m.sessionHealth(in)
	case messages.PageInfoChanged:
		if in.Gen == m.gen {
			m.pageInfoChanged(in.Info)
		}
	case messages.PageNavigated:
		if in.Gen == m.gen {
			m.pageNavigated(in)
		}
	case messages.PageClosed:
		if in.Gen == m.gen {
			m.pageClosed(in.Page)
		}
	case messages.PageReleased:
		if p := m.pages[in.Page]; p != nil && in.Gen == m.gen {
			p.stuck, p.poisoned = false, false
			m.pageChanged(in.Page)
		}
	case messages.PageUnreachable:
		m.pageUnreachable(in)
	case messages.DialogsChanged:
		m.dialogsChanged(in)
	case dialog.Left:
		if m.stopping {
			m.do(ToBrowser{messages.Leave{}})
		}
	case messages.FramesChanged:
		if in.Gen == m.gen && m.pages[in.Page] != nil {
			m.framesChanged(in)
		}
	case messages.ConsoleReported:
		if in.Gen == m.gen {
			m.consoleReported(in.Entry)
		}

	case messages.AnswerDialog:
		m.do(ToDialog{in})
	case messages.Navigate:
		m.navigate(in)
	case messages.OpenPage:
		m.openPage(in)
	case messages.ClosePage:
		m.do(ToBrowser{in})
	case messages.UpdateSpec:
		if !maps.Equal(m.spec.Labels, in.Spec.Labels) {
			m.tellConnection() // labels have no event of their own
		}
		m.spec = in.Spec
		m.do(ToDialog{messages.SetDialogPolicy(in)})
	case messages.StopTask:
		m.stop(in.Reason)

	case TimerFired:
		m.timerFired(in.Name)
	case Flush:
		m.flushing = false
	}
	// Whatever happened, a page that went away included: the attach may be over.
	m.maybeActive(now)
	if len(m.events) > 0 || !m.flushing && len(m.held) > 0 {
		m.do(Publish{m.take()})
	}
	if r, ok := in.(messages.Relay); ok {
		m.do(Answer(r))
	}
	return m.out
}

func (m *Machine) finished() bool {
	return m.state == messages.StateLost || m.state == messages.StateStopped
}

// late answers what comes after the end.
func (m *Machine) late(in any) {
	refuse := func(to messages.ReplyTo) { m.do(Answer{To: to, Err: ended()}) }
	switch in := in.(type) {
	case messages.Relay:
		m.do(Answer(in))
	case messages.AnswerDialog:
		refuse(in.Reply)
	case messages.Navigate:
		refuse(in.Reply)
	case messages.OpenPage:
		refuse(in.Reply)
	case messages.ClosePage:
		refuse(in.Reply)
	case PageOpened:
		refuse(in.Reply)
	}
}

func ended() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended").With("sent", true)
}

func (m *Machine) do(e Effect) { m.out = append(m.out, e) }

// tell adds an event; the state is published at the end of the Step.
func (m *Machine) tell(e messages.Event) { m.events = append(m.events, e) }

// take numbers the events: a version each.
func (m *Machine) take() []messages.Event {
	// What was held back shows in the snapshot that is published now, and came
	// first.
	events := append(m.held, m.events...)
	for i := range events {
		m.version++
		events[i].TaskID, events[i].Version = m.id, m.version
	}
	m.held, m.events = nil, nil
	return events
}

func (m *Machine) become(s messages.TaskState) {
	if m.state == s {
		return
	}
	m.state = s
	m.tell(messages.Event{Type: messages.EventTaskState, State: s, Reason: m.reason})
}

func (m *Machine) setPrimary(s messages.LinkState) {
	if m.conn.Primary == s {
		return
	}
	m.conn.Primary = s
	m.tellConnection()
}

func (m *Machine) tellConnection() {
	conn := m.conn
	m.tell(messages.Event{Type: messages.EventConnection, Connection: &conn})
}

// browserExited is the loss of the link, unless it was asked for.
func (m *Machine) browserExited(now time.Time, e BrowserExited) {
	m.rooted = false
	for _, s := range m.sessionOrder() {
		m.do(StopSession{s})
	}
	clear(m.sessions)
	for t, o := range m.opening {
		delete(m.opening, t)
		m.do(Answer{To: o.reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser ended").With("sent", true)})
	}
	for _, t := range m.order {
		m.pages[t].session, m.pages[t].health = "", messages.PageOK
	}
	m.lostGen = m.gen
	m.do(ToDialog{messages.LinkLost{Gen: m.gen}})
	m.conn.Primary = messages.LinkDown
	switch {
	case m.stopping:
		m.finish(messages.StateStopped, nil)
	case !m.everUp:
		// Never attached: nothing to hold on to, say so at once (A15).
		m.finish(messages.StateLost, e.Err)
	case messages.CodeOf(e.Err) == messages.CodeTargetNotFound:
		m.finish(messages.StateLost, e.Err)
	default:
		if m.lostAt.IsZero() {
			m.lostAt = now
		}
		m.tellConnection()
		m.become(messages.StateRecovering)
	}
}

func (m *Machine) rootAttached(r messages.RootAttached) {
	m.rooted = true
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
	if !m.rooted || m.conn.Primary == messages.LinkUp || m.stopping || m.finished() {
		return
	}
	for _, t := range m.order {
		if m.pages[t].session == "" {
			return
		}
	}
	for _, s := range m.sessions {
		if !s.ready {
			return
		}
	}
	m.conn.Primary = messages.LinkUp
	if !m.lostAt.IsZero() {
		m.conn.Reconnects++
		m.conn.LastGapMS = now.Sub(m.lostAt).Milliseconds()
		m.lostAt = time.Time{}
	}
	m.tellConnection()
	m.do(Ready{})
	m.become(m.settled())
	if !m.everUp {
		m.everUp = true
		// Published first: whoever waits for the start reads next (A5).
		m.do(Publish{m.take()})
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

func (m *Machine) framesRestarted() {
	m.do(Arm{timerFrames, framesProbation})
	for _, s := range m.sessionOrder() {
		e := m.sessions[s]
		m.do(ToFrame{messages.TargetAttached{Gen: m.gen, Session: s, Via: e.via, Page: e.cfg.Page, Info: e.info}})
		m.do(ToSession{s, messages.ReloadFrames{}})
	}
}

func (m *Machine) sessionRestarted(s messages.SessionID) {
	e := m.sessions[s]
	if e == nil {
		return
	}
	// What it said of its renderer died with it; it will say so again.
	e.ready, e.health = false, messages.PageOK
	m.tellDialogs(e.cfg.Page)
	if p := m.pages[e.cfg.Page]; p != nil && p.session == s {
		p.health = messages.PageOK
	}
	m.pageChanged(e.cfg.Page) // callers need the new actor's port
}

// dialogsRestarted tells a dialog actor that goes on from memory what may have
// been lost with the mailbox of the last one.
func (m *Machine) dialogsRestarted() {
	if m.lostGen > 0 {
		m.do(ToDialog{messages.LinkLost{Gen: m.lostGen}})
	}
	told := map[messages.TargetID]bool{}
	for _, o := range m.memory.Open {
		t := o.Dialog.TargetID
		if told[t] {
			continue
		}
		told[t] = true
		switch p := m.pages[t]; {
		case p == nil:
			m.do(ToDialog{messages.PageGone{Page: t}})
		case p.session != "":
			m.do(ToDialog{messages.PageReattached{Page: t, Session: p.session}})
		}
	}
}

// sessionOrder lists the sessions as they were attached.
func (m *Machine) sessionOrder() []messages.SessionID {
	return slices.SortedFunc(maps.Keys(m.sessions), func(a, b messages.SessionID) int {
		if m.sessions[a].seq < m.sessions[b].seq {
			return -1
		}
		return 1
	})
}

func (m *Machine) consoleReported(e messages.ConsoleError) {
	keep := m.console
	if len(keep) >= messages.MaxConsoleErrors {
		keep = keep[len(keep)-messages.MaxConsoleErrors+1:]
	}
	m.console = append(append(make([]messages.ConsoleError, 0, messages.MaxConsoleErrors), keep...), e)
	m.held = append(m.held, messages.Event{Type: messages.EventConsoleError, Console: &e})
	if !m.flushing {
		m.flushing = true
		m.do(FlushSoon{})
	}
}

func (m *Machine) stop(why string) {
	if m.stopping {
		return
	}
	m.stopping, m.reason = true, why
	m.do(Arm{timerStop, stopBudget})
	if m.conn.Primary != messages.LinkUp && m.conn.Primary != messages.LinkDialing {
		m.finish(messages.StateStopped, nil)
		return
	}
	// Also while it dials or attaches: a tab may have been made, a popup may
	// be held.
	if m.spec.Launch == nil && m.spec.Scope != messages.ScopeOwn && len(m.memory.Open) > 0 {
		// These pages outlive the task: a dialog left open would freeze them.
		m.do(ToDialog{dialog.Leave{}})
		m.do(Arm{timerDialogs, dialogBudget})
		return
	}
	m.do(ToBrowser{messages.Leave{}})
}

func (m *Machine) timerFired(name string) {
	switch name {
	case timerStop:
		m.finish(messages.StateStopped, nil)
	case timerDialogs:
		m.do(ToBrowser{messages.Leave{}})
	case timerFrames:
		m.do(FramesStable{})
	default:
		page, _ := strings.CutPrefix(name, timerRelease)
		if p := m.pages[messages.TargetID(page)]; p != nil && p.poisoned {
			m.do(ToBrowser{messages.ReleasePage{Page: messages.TargetID(page)}})
		}
	}
}

// finish publishes the last state and ends the supervisor. What only a living
// supervisor can know is absent from it, not empty (D27).
func (m *Machine) finish(s messages.TaskState, err error) {
	if m.finished() {
		return
	}
	if err != nil {
		m.reason = reasonOf(err)
	}
	m.conn.Primary = messages.LinkDown
	m.become(s)
	m.do(Publish{m.take()})
	m.do(Finish{err})
}

func reasonOf(err error) string {
	if e, ok := err.(*messages.Error); ok {
		return e.Message
	}
	return err.Error()
}

// end is finish for a supervisor that ends without having decided to.
func (m *Machine) end(s messages.TaskState, err error) []Effect {
	m.out = nil
	m.finish(s, err)
	for t, o := range m.opening {
		delete(m.opening, t)
		m.do(Answer{To: o.reply, Err: ended()})
	}
	return m.out
}

// owned are the pages of the task, for the next link to find again.
func (m *Machine) owned() []messages.TargetID { return slices.Clone(m.order) }
