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
	Role    messages.Role
	Gen     messages.Generation
	Session messages.SessionID
	Target  messages.TargetID
	Page    messages.TargetID // the top-level target; equals Target for a page
	IsPage  bool
	// Held popups wait until the anchor sees their dialogs too: such a page runs
	// as soon as the first of the clients that hold it lets it go.
	Held bool
	// Fresh pages have run nothing yet, so nothing can have wedged them: if
	// they are slow to answer, the machine is.
	Fresh bool
}

// The budgets of a session (requirement A10). What an attach does not answer
// within AttachClassify is on its way to being classified, and not waited for (C24).
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
	// HoldBudget is how long a popup waits for the anchor: it freezes its opener
	// meanwhile.
	HoldBudget = 250 * time.Millisecond
)

// Timer names.
const (
	timerClassify  = "classify"
	timerVerdict   = "verdict"
	timerProbe     = "probe"
	timerInterrupt = "interrupt"
	timerReload    = "reload"
	timerResume    = "resume"
	timerNavigate  = "navigate:"
)

// Machine decides for one page or iframe session.
type Machine struct {
	cfg Config
	out []Effect

	round     uint32
	enabled   bool // the Page domain, in this round
	held      bool // a popup that waits for the anchor
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
	return &Machine{cfg: cfg, held: cfg.Held, health: messages.PageOK}
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
		m.do(answerCommand(in))
	case messages.ResumePage:
		m.letRun()
	case tellAgain:
		m.tellCovered()
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

func (m *Machine) replied(r Replied) {
	switch r.Tag.Kind {
	case TagTree:
		if r.Tag.Round == m.round && r.Err == nil {
			m.treeLoaded(r.Result)
		}
	case TagEnabled:
		if r.Tag.Round == m.round && r.Err == nil {
			m.enabled = true
			m.tellCovered()
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

func (m *Machine) timerFired(name string) {
	switch name {
	case timerResume:
		m.letRun()
	case timerClassify:
		if m.ready || m.crashed {
			return
		}
		if len(m.dialogs) > 0 {
			m.announce(true) // its silence is explained
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

// answerCommand is the answer to a dialog on the wire.
func answerCommand(o messages.HandleDialog) Command {
	params := struct {
		Accept bool    `json:"accept"`
		Text   *string `json:"promptText,omitempty"`
	}{o.Accept, o.Text}
	return Command{
		Tag: Tag{Kind: TagDialog, ID: o.Dialog}, Method: "Page.handleJavaScriptDialog",
		Params: mustJSON(params), Timeout: AnswerBudget,
	}
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
