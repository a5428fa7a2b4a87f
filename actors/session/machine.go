package session

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"holdfast/messages"
)

// Config is what a page or iframe session is born with.
type Config struct {
	Gen     messages.Generation
	Session messages.SessionID
	Target  messages.TargetID
	Page    messages.TargetID // the top-level target; equals Target for a page
	IsPage  bool
	// Fresh pages have run nothing yet, so nothing can have wedged them: if
	// they are slow to answer, the machine is.
	Fresh bool
}

// The budgets of a session (requirement A10). What an attach does not answer
// within AttachClassify is classified, not waited for (C24).
const (
	AttachClassify = 300 * time.Millisecond
	// VerdictAfter is what the sign of life gets that tells a dialog from a
	// busy renderer; more than it needs, because a starved machine looks busy.
	VerdictAfter  = 700 * time.Millisecond
	FreshClassify = 5 * time.Second
	ProbeBudget   = time.Second
	BlockedProbe  = 300 * time.Millisecond
	AnswerBudget  = 5 * time.Second
	// InterruptGrace lets a reply that was already on its way arrive before
	// the calls behind a dialog are called blocked.
	InterruptGrace = 50 * time.Millisecond
)

// Timer names.
const (
	timerClassify  = "classify"
	timerVerdict   = "verdict"
	timerProbe     = "probe"
	timerInterrupt = "interrupt"
	timerReload    = "reload"
	timerNavigate  = "navigate:"
)

// Inputs of the machine besides messages.
type (
	// Start begins, or begins anew, the attach.
	Start struct{}

	// Replied is the outcome of a Command.
	Replied struct {
		Tag    Tag
		Result []byte
		Err    error
	}

	// TimerFired is an Arm that has come due.
	TimerFired struct{ Name string }
)

// Tag tells replies apart. Round is the attach they belong to: a crash begins
// a new one and replies of the old one mean nothing any more.
type Tag struct {
	Kind  TagKind
	Round uint32
	Seq   uint32 // of a navigation, or of a page being created
	ID    messages.DialogID
	Page  messages.TargetID
}

// TagKind names what a command was for.
type TagKind uint8

// What commands are for.
const (
	TagAttach TagKind = iota
	TagTree
	TagInfo
	TagVerdictKey
	TagProbe
	TagDialog
	TagNavigate

	TagRoot
	TagCreate
	TagClose
	TagCheck
	TagReattach
	TagCalm
	TagFlushed
	TagNone // whatever it says, nothing follows
)

// Effects of the machine.
type (
	// Effect is anything a machine wants done.
	Effect any

	// Command is a CDP command on Session, or on the machine's own session
	// when that is empty.
	Command struct {
		Session messages.SessionID
		Tag     Tag
		Method  string
		Params  []byte
		Timeout time.Duration // 0: none
	}

	// ToDialog, ToFrame and ToSupervisor are messages to the actors around.
	ToDialog     struct{ Msg any }
	ToFrame      struct{ Msg any }
	ToSupervisor struct{ Msg any }

	// Arm sets a named timer anew; Disarm drops it.
	Arm struct {
		Name  string
		After time.Duration
	}
	Disarm struct{ Name string }

	// Interrupt ends the agents' calls that hang on this session. Renderer
	// limits it to commands that need the renderer, Before to those that began
	// before it: what is called once the dialog has been answered is not held
	// up by it, though word of the answer may still be on the way here.
	Interrupt struct {
		Err      *messages.Error
		Renderer bool
		Before   time.Time // zero: all
	}

	// Exit ends the actor; Err is nil when it was asked to.
	Exit struct{ Err error }

	// Answer replies to whoever gave an order.
	Answer struct {
		To    messages.ReplyTo
		Value any
		Err   error
	}
)

// Machine decides for one page or iframe session.
type Machine struct {
	cfg Config
	out []Effect

	round     uint32
	ready     bool
	attended  bool // the attach of this round is over: navigations may begin
	announced bool // and SessionReady was sent
	keyAlive  bool // the browser process answered for this page (C24)
	crashed   bool
	probing   bool
	paused    bool
	hung      bool
	orphan    bool // a dialog nobody told us of stands open

	dialogs  []messages.Dialog
	holding  bool
	told     time.Time // when the dialogs were heard of last
	probedAt time.Time // when the probe was sent, or waited for anew

	health messages.PageState

	loader    string // of the main frame's document
	url       string
	documents []document
	navs      []*navigation
	nav       uint32
}

// NewMachine returns the machine of a session that has just been attached.
func NewMachine(cfg Config) *Machine {
	return &Machine{cfg: cfg, health: messages.PageOK}
}

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(now time.Time, in any) []Effect {
	m.out = nil
	switch in := in.(type) {
	case Start:
		m.attach()
	case Replied:
		m.replied(in)
	case TimerFired:
		m.timerFired(in.Name)

	case messages.Navigate:
		m.navigate(in)
	case messages.HandleDialog:
		m.handleDialog(in)
	case messages.DialogsOpen:
		m.dialogsOpen(now, in)
	case messages.ProbeSession:
		m.probe(now)
	case messages.ReloadFrames:
		m.reloadFrames()

	case messages.DialogOpened:
		m.do(ToDialog{in})
	case messages.DialogClosed:
		m.do(ToDialog{in})
	case messages.FrameNavigated:
		m.frameNavigated(in)
	case messages.FrameURLChanged:
		if in.Frame == messages.FrameID(m.cfg.Target) {
			m.url = in.URL
			m.askInfo(0)
		}
		m.do(ToFrame{in})
	case messages.FrameAttached, messages.FrameDetached, messages.FrameSubtreeWillBeDetached:
		m.do(ToFrame{in})
	case lifecycle:
		m.lifecycle(in)
	case crashed:
		m.becomeCrashed()
	case revived:
		m.revive()
	case pausedEvent:
		m.paused = bool(in)
		m.publishHealth()
	case messages.ConsoleReported:
		m.do(ToSupervisor{in})
	case messages.TargetAttached:
		in.Page = m.cfg.Page
		m.do(ToFrame{in})
		m.do(ToSupervisor{in})
	case messages.TargetDetached:
		m.do(ToFrame{in})
		m.do(ToSupervisor{in})
	}
	return m.out
}

func (m *Machine) do(e Effect) { m.out = append(m.out, e) }

// attach writes the whole batch and waits for nothing. The order is that of
// requirement A8, with the resume last (C33).
func (m *Machine) attach() {
	m.round++
	m.ready, m.attended, m.announced, m.keyAlive = false, false, false, false
	for _, c := range attachBatch {
		if c.pageOnly && !m.cfg.IsPage {
			continue
		}
		m.do(Command{Tag: Tag{Kind: c.tag, Round: m.round}, Method: c.method, Params: c.params})
	}
	if m.cfg.Fresh && m.round == 1 {
		m.do(Arm{timerClassify, FreshClassify})
	} else {
		m.do(Arm{timerClassify, AttachClassify})
	}
}

type attachStep struct {
	method   string
	params   []byte
	tag      TagKind
	pageOnly bool
}

// iframes only: workers would be held too, and nobody here would resume them.
var autoAttachIframes = []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"iframe"}]}`)

var attachBatch = []attachStep{
	{method: "Inspector.enable"},
	{method: "Page.enable"},
	{method: "Runtime.enable"},
	{method: "Target.setAutoAttach", params: autoAttachIframes},
	{method: "Page.setLifecycleEventsEnabled", params: []byte(`{"enabled":true}`), pageOnly: true},
	// Pages are opened in the background; with this they paint and take input
	// as if they had the focus, and nobody's window is raised (demand 20).
	{method: "Emulation.setFocusEmulationEnabled", params: []byte(`{"enabled":true}`), pageOnly: true},
	{method: "Page.getFrameTree", tag: TagTree},
	{method: "Runtime.runIfWaitingForDebugger"},
}

func (m *Machine) replied(r Replied) {
	switch r.Tag.Kind {
	case TagTree:
		if r.Tag.Round == m.round && r.Err == nil {
			m.treeLoaded(r.Result)
		}
	case TagInfo:
		m.infoReplied(r)
	case TagVerdictKey:
		if r.Tag.Round == m.round && r.Err == nil {
			m.keyAlive = true
		}
	case TagProbe:
		if r.Tag.Round != m.round {
			return // of a renderer that is no more
		}
		// An error is an answer too: somebody is alive behind the session.
		m.probing = false
		m.do(Disarm{timerProbe})
		m.hung = false
		m.publishHealth()
	case TagDialog:
		m.do(ToDialog{messages.DialogHandled{Dialog: r.Tag.ID, Err: dialogError(r.Err)}})
	case TagNavigate:
		m.navigateReplied(r)
	}
}

func (m *Machine) treeLoaded(result []byte) {
	frames, err := decodeFrameTree(result)
	if err != nil || len(frames) == 0 {
		return
	}
	m.ready = true
	m.hung, m.orphan = false, false
	m.do(Disarm{timerClassify})
	m.do(Disarm{timerVerdict})
	m.do(Disarm{timerReload})
	m.do(ToFrame{messages.FrameTreeLoaded{Gen: m.cfg.Gen, Session: m.cfg.Session, Page: m.cfg.Page, Frames: frames}})
	m.publishHealth()
	m.announce(false)
	if m.cfg.IsPage && m.loader != frames[0].Loader {
		// Its own event came before anybody listened.
		m.loader, m.url = frames[0].Loader, frames[0].URL
		m.documentCommitted()
	}
}

// announce tells the supervisor, once a round, that nobody has to wait for
// this session any longer.
func (m *Machine) announce(blocked bool) {
	if m.announced {
		return
	}
	m.announced, m.attended = true, true
	// Behind its frames: whoever waits for the attach reads a snapshot with a
	// frame tree in it (A5).
	m.do(ToFrame{messages.SessionReady{Gen: m.cfg.Gen, Session: m.cfg.Session, Target: m.cfg.Target, Blocked: blocked}})
	m.beginAll()
}

// keyUp is answered by the browser process while a dialog is open and hangs
// in a busy renderer (C24). Shift alone means nothing to a page.
var keyUp = []byte(`{"type":"keyUp","key":"Shift","code":"ShiftLeft","windowsVirtualKeyCode":16}`)

func (m *Machine) timerFired(name string) {
	switch name {
	case timerClassify:
		if m.ready || m.crashed {
			return
		}
		if m.cfg.IsPage {
			m.do(Command{Tag: Tag{Kind: TagVerdictKey, Round: m.round}, Method: "Input.dispatchKeyEvent", Params: keyUp})
		}
		m.do(Arm{timerVerdict, VerdictAfter})
	case timerVerdict:
		if m.ready || m.crashed {
			return
		}
		if m.keyAlive && len(m.dialogs) == 0 {
			m.orphan = true
		} else {
			m.hung = true
		}
		m.publishHealth()
		m.announce(true)
	case timerReload:
		m.announce(true)
	case timerProbe:
		m.probeUnanswered()
	case timerInterrupt:
		if m.holding && len(m.dialogs) > 0 {
			m.do(Interrupt{Err: BlockedByDialog(m.dialogs), Renderer: true, Before: m.told})
		}
	default:
		m.navigateTimedOut(name)
	}
}

// reloadFrames tells of the frames again and announces the session anew: the
// frame actor that was told before may have taken it along. A page that cannot
// tell of its frames at the moment holds up neither that nor a navigation.
func (m *Machine) reloadFrames() {
	m.announced = false
	m.do(Arm{timerReload, AttachClassify})
	m.do(Command{Tag: Tag{Kind: TagTree, Round: m.round}, Method: "Page.getFrameTree"})
}

// probe asks the renderer for a sign of life. One probe is out at a time; a
// call that began behind one that a dialog holds up has its own wait for it.
func (m *Machine) probe(now time.Time) {
	if m.crashed || !m.ready || m.probing && len(m.dialogs) == 0 {
		return
	}
	if !m.probing {
		m.probing = true
		m.do(Command{Tag: Tag{Kind: TagProbe, Round: m.round}, Method: "Runtime.evaluate", Params: []byte(`{"expression":"0","silent":true}`)})
	}
	m.probedAt = now
	budget := ProbeBudget
	if len(m.dialogs) > 0 {
		budget = BlockedProbe
	}
	m.do(Arm{timerProbe, budget})
}

func (m *Machine) probeUnanswered() {
	if !m.probing {
		return
	}
	if len(m.dialogs) > 0 {
		// This session shares its process with the frame that asks. The probe
		// stays out; its reply will come when the dialog is gone.
		m.do(Interrupt{Err: BlockedByDialog(m.dialogs), Renderer: true, Before: m.probedAt})
		return
	}
	m.hung = true
	m.publishHealth()
}

func (m *Machine) becomeCrashed() {
	if m.crashed {
		return
	}
	m.crashed = true
	m.ready, m.probing, m.paused = false, false, false
	m.round++ // replies of the old renderer mean nothing
	m.do(Disarm{timerClassify})
	m.do(Disarm{timerVerdict})
	m.do(Disarm{timerProbe})
	m.do(Disarm{timerReload})
	err := messages.Errorf(messages.CodePageCrashed, "the page's renderer has crashed; navigate or Page.reload revives it")
	m.do(Interrupt{Err: err})
	m.endNavigations(err)
	m.publishHealth()
	m.announce(true)
}

// revive attaches afresh to a page that was reloaded after a crash: commands
// queued before the reload have failed (chromium facts, section 3).
func (m *Machine) revive() {
	if !m.crashed {
		return
	}
	m.crashed, m.hung = false, false
	m.attach()
	m.publishHealth()
}

func (m *Machine) publishHealth() {
	state := messages.PageOK
	switch {
	case m.crashed:
		state = messages.PageCrashed
	case m.orphan:
		state = messages.PageDialogUnreachable
	case m.hung:
		state = messages.PageHung
	case m.paused:
		state = messages.PagePaused
	}
	if state == m.health {
		return
	}
	m.health = state
	m.do(ToSupervisor{messages.SessionHealth{
		Gen: m.cfg.Gen, Session: m.cfg.Session, Page: m.cfg.Page, IsPage: m.cfg.IsPage, State: state,
	}})
}

func (m *Machine) dialogsOpen(now time.Time, o messages.DialogsOpen) {
	m.dialogs, m.holding, m.told = o.Dialogs, o.Holding, now
	if len(m.dialogs) == 0 {
		m.do(Disarm{timerInterrupt})
		if m.probing {
			// A probe that the dialog held up: from now on silence counts.
			m.do(Arm{timerProbe, ProbeBudget})
		}
		return
	}
	if m.cfg.IsPage {
		m.endNavigations(BlockedByDialog(m.dialogs))
	}
	if m.holding {
		m.do(Arm{timerInterrupt, InterruptGrace})
	}
}

func (m *Machine) handleDialog(o messages.HandleDialog) {
	params := struct {
		Accept bool    `json:"accept"`
		Text   *string `json:"promptText,omitempty"`
	}{o.Accept, o.Text}
	m.do(Command{
		Tag: Tag{Kind: TagDialog, ID: o.Dialog}, Method: "Page.handleJavaScriptDialog",
		Params: mustJSON(params), Timeout: AnswerBudget,
	})
}

func (m *Machine) frameNavigated(f messages.FrameNavigated) {
	m.do(ToFrame{f})
	if f.Restored {
		m.reloadFrames()
	}
	if !m.cfg.IsPage || f.Frame.Parent != "" {
		return
	}
	m.loader, m.url = f.Frame.Loader, f.Frame.URL
	m.do(ToSupervisor{messages.PageNavigated{Gen: m.cfg.Gen, Page: m.cfg.Page, URL: f.Frame.URL}})
	if m.hung && m.ready {
		// Another document, perhaps another process: what hung is gone.
		m.hung, m.probing = false, false
		m.do(Disarm{timerProbe})
		m.publishHealth()
	}
	m.documentCommitted()
}

// BlockedByDialog is what a call gets that a dialog holds up.
func BlockedByDialog(dialogs []messages.Dialog) *messages.Error {
	return messages.Errorf(messages.CodeBlockedByDialog, "a dialog is open on the page; answer it first").
		With("pending_dialogs", dialogs)
}

// dialogError turns the outcome of Page.handleJavaScriptDialog into what the
// dialog actor wants to know: nil, "there is none" (somebody else was first,
// C4, C6), or another failure.
func dialogError(err error) error {
	if err == nil {
		return nil
	}
	var own *messages.Error
	if errors.As(err, &own) {
		return own
	}
	return messages.Errorf(messages.CodeInternal, "%s", err)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		// Only strings, booleans and numbers are ever passed.
		panic("session: " + err.Error())
	}
	return b
}

func navTimer(id uint32) string { return timerNavigate + strconv.FormatUint(uint64(id), 10) }
