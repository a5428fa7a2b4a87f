// Package page decides for one page, or for one frame of another process.
//
// [Machine] attaches, finds out why a page does not answer, navigates, reloads, and keeps
// the dialogs that are open on it. It has no clock and no link: package session feeds it
// and carries its effects out.
package page

import (
	"slices"
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/wanted"
	"holdfast/actors/supervisor/admit"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Config is what a page or iframe session is born with.
type Config struct {
	effect.Identity
	IsPage bool
	// IsHeld popups wait until the anchor sees their dialogs too: such a page runs
	// as soon as the first of the clients that hold it lets it go.
	IsHeld bool
	// IsHeldForClients says that a held popup waits for clients of the gateway, too.
	IsHeldForClients bool
	// IsFresh pages have run nothing yet, so nothing can have wedged them: if
	// they are slow to answer, the machine is.
	IsFresh bool
	// Watches is what else the page's questions are watched for.
	Watches Watches
	// AskPatience is how long a page waits for a word about a permission.
	AskPatience time.Duration
	Bridge      bridge.Settings
	// Site is the site of a frame's document; nil for a page.
	Site *wanted.Site
}

// Source is what its events are decoded for.
func (c Config) Source() decode.Source {
	return decode.Source{Identity: c.Identity, Secret: c.Bridge.Secret}
}

// Place is where package wanted keeps what agents have set on the session.
func (c Config) Place() wanted.Place {
	return wanted.PlaceOf(c.Page, c.Target, c.Session, c.Site)
}

// InterruptGrace is the time for a reply that was already being delivered before the calls
// behind a dialog are called blocked.
const InterruptGrace = 50 * time.Millisecond

// HoldBudget is how long a popup waits for the anchor: it freezes its opener
// meanwhile.
const HoldBudget = 250 * time.Millisecond

// ClientHoldBudget is how long a popup waits for clients of the gateway that hold popups: what
// they set in it is to be there before its first request.
const ClientHoldBudget = 10 * time.Second

// Timer names.
const (
	timerClassify  effect.TimerName = "classify"
	timerVerdict   effect.TimerName = "verdict"
	timerProbe     effect.TimerName = "probe"
	timerInterrupt effect.TimerName = "interrupt"
	timerReload    effect.TimerName = "reload"
	timerResume    effect.TimerName = "resume"
	timerStuck     effect.TimerName = "stuck"
	timerLoading   effect.TimerName = "loading"
	timerRestore   effect.TimerName = "restore"
	timerRegive    effect.TimerName = "regive"
	timerNavigate  effect.TimerName = "navigate"
)

// Machine decides for one page or iframe session.
type Machine struct {
	cfg *Config // never written; the actor has it too
	out []effect.Effect

	round        uint32
	bridge       *bridge.Machine
	isEnabled    bool // the Page domain, in this round
	isHeld       bool // a popup that waits for the anchor
	isReady      bool
	isAttachOver bool // the attach of this round is over: navigations may begin
	isAnnounced  bool // and SessionReady was sent
	isStarting   bool // a new renderer, which has not been asked why it is silent
	// wasStarting says that the page had no document yet when this session looked.
	wasStarting         bool
	isRestoring         bool // what the agents had set is being sent to the renderer
	isAwaited           bool // and something waits for that, until timerRestore at the longest
	regiven             int  // of regiveAfter
	isCrashed           bool
	isProbing           bool // the renderer was asked for a sign of life and owes it
	isPaused            bool
	isHung              bool
	hasUnreportedDialog bool // a dialog is open that no event told of
	isAway              bool // sent to a blank page, to leave what it hangs in
	isStranded          bool // it hangs between two documents, where only its end frees it
	mustReport          bool // who asked for a probe wants to hear of it either way
	trial               trial
	now                 time.Time // of the step under way
	silence             time.Time // since when the renderer has been owing an answer
	reloading           *reloading

	dialogs   []messages.Dialog
	isHolding bool
	isStopped bool      // in a bridged dialog
	told      time.Time // when the dialogs were heard of last
	storm     storm
	isAsking  bool      // the page has a native dialog open, as far as the session has heard
	movedAt   time.Time // when the page was moved on last
	probedAt  time.Time // when the probe was sent, or waited for anew

	health messages.PageState

	children   []mail.TargetAttached // attached through this session, in order
	heldFrames map[messages.FrameID]heldFrame
	titleAsked int // how often since the last load, or the last change of the URL

	unreachable string // the address that an error page stands for, between two replies

	loader    string // of the main frame's document
	url       string
	documents []document
	navs      []*navigation
	nav       uint32
}

// New returns the machine of a session that has just been attached.
func New(cfg Config) *Machine {
	m := &Machine{cfg: &cfg, isHeld: cfg.IsHeld, health: messages.PageOK}
	m.bridge = bridge.New(bridge.Config{Identity: cfg.Identity, Settings: cfg.Bridge}, m.do)
	return m
}

// Config returns what the session was born with. It is never written.
func (m *Machine) Config() *Config { return m.cfg }

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(now time.Time, msg any) []effect.Effect {
	m.now = now
	switch in := msg.(type) {
	case effect.Start:
		m.attach()
	case effect.Replied:
		m.replied(in)
	case effect.TimerFired:
		m.timerFired(now, in.Timer)
	case effect.Restored:
		m.restored(in)

	case mail.Navigate:
		m.navigate(now, in)
	case mail.HandleDialog:
		if in.Pause.Key != "" {
			m.bridge.Handle(in)
		} else {
			m.do(effect.AnswerDialog(in))
		}
	case mail.ProbeDialog:
		m.do(effect.ProbeDialog(in))
	case mail.MovePage:
		m.do(effect.MovePage(in))
	case mail.BlockerRaised:
		m.do(effect.ToSupervisor{Msg: in})
	case mail.SettleBlocker:
		m.settleBlocker(in)
	case mail.SetBridge:
		m.bridge.Set(in)
		for _, c := range m.children {
			m.bridge.AskElement(c.Session, c.Info.ID)
		}
	case mail.RearmBridge:
		m.bridge.Rearm(in.Method)
	case mail.FrameBoxed:
		m.bridge.Boxed(in.IsShut)
	case bridge.ScriptRuns:
		m.bridge.ScriptRuns(in)
	case bridge.CallPaused:
		m.isPaused = false
		m.bridge.Paused(in)
		m.asks()
	case bridge.CallGarbled:
		m.bridge.Unread()
	case mail.RequestHeld:
		m.bridge.RequestHeld(in)
	case bridge.CallSaid, bridge.DocumentSaid:
		m.bridge.RequestWord(in)
		m.asks()
	case mail.ResumePage:
		m.letRun()
	case effect.TellAgain:
		m.tellCovered()
		m.tellNoneAsks()
		m.bridge.TellAll()
	case mail.DialogsOpen:
		m.dialogsOpen(now, in)
	case mail.SharedDialogs:
		m.sharedDialogs(now, in)
	case mail.ProbeSession:
		m.probe(now, in.MustReport)
	case mail.RendererReplied:
		m.repliedMeanwhile()
	case mail.ReloadPage:
		m.reload(in)
	case mail.ReloadFrames:
		m.listTargets()
		m.reloadFrames()

	case mail.DialogOpened:
		if in.Type != messages.DialogBeforeUnload { // that comes with leaving, not with staying
			m.storm.note(now)
		}
		m.isAsking = true
		m.do(effect.ToDialog{Msg: in})
	case mail.DialogClosed:
		m.isAsking = false
		m.do(effect.ToDialog{Msg: in})
	case mail.FrameNavigated:
		if in.Frame.ID == messages.FrameID(m.cfg.Target) {
			m.storm = storm{} // it is one document that rages
		}
		m.do(effect.ToFrame{Msg: msg})
		m.frameNavigated(in)
	case mail.FrameURLChanged:
		if in.Frame == messages.FrameID(m.cfg.Target) {
			m.url = in.URL
			m.askInfo(0)
		}
		m.do(effect.ToFrame{Msg: in})
	case mail.FrameDetached:
		m.frameMoved(in.Frame)
		m.bridge.FrameDetached(in.Frame)
		m.do(effect.ToSupervisor{Msg: mail.FrameMoved{Gen: m.cfg.Gen, Page: m.cfg.Page, Frame: in.Frame}})
		m.do(effect.ToFrame{Msg: in})
	case mail.FrameAttached, mail.FrameSubtreeWillBeDetached:
		m.do(effect.ToFrame{Msg: in})
	case decode.Lifecycle:
		m.lifecycle(in)
	case decode.MovedOn:
		m.movedOn(now)
	case decode.Navigating:
		// The browser closes a native dialog now, and not only when the next document is there.
		m.do(effect.ToSupervisor{Msg: mail.FrameMoved{Gen: m.cfg.Gen, Page: m.cfg.Page, Frame: in.Frame}})
		m.bridge.Leaving()
		m.reloadStarted(in)
	case decode.Crashed:
		m.becomeCrashed()
	case decode.Revived:
		m.revive()
	case bridge.Pause:
		m.stops(in)
	case bridge.SiblingLeft:
		m.bridge.SiblingLeft(in)
	case mail.ConsoleReported:
		m.do(effect.ToSupervisor{Msg: msg})
	case mail.TargetAttached:
		in.Page = m.cfg.Page
		if len(m.children) >= effect.MaxSessions {
			for _, e := range effect.LeaveFrame(m.cfg.Session, in) {
				m.do(e)
			}
			m.do(effect.ToSupervisor{Msg: effect.TooMany{}})
			break
		}
		m.children = append(m.children, in)
		m.frameHeld(in)
		m.bridge.AskElement(in.Session, in.Info.ID)
		m.do(effect.ToFrame{Msg: in})
		m.do(effect.ToSupervisor{Msg: in})
	case mail.TargetDetached:
		m.frameTorn(in.Session)
		m.children = slices.DeleteFunc(m.children, func(c mail.TargetAttached) bool { return c.Session == in.Session })
		m.do(effect.ToFrame{Msg: in})
		m.do(effect.ToSupervisor{Msg: in})
	}
	m.maybeReloaded(now)
	return m.effects()
}

func (m *Machine) do(e effect.Effect) { m.out = append(m.out, e) }

func (m *Machine) setTimer(name effect.TimerName, after time.Duration) {
	m.do(effect.Arm{Timer: effect.Timer{Name: name}, After: after})
}

func (m *Machine) dropTimer(name effect.TimerName) {
	m.do(effect.Disarm{Timer: effect.Timer{Name: name}})
}

// effects takes what is to be done: a machine that idles holds nothing of it.
func (m *Machine) effects() []effect.Effect {
	out := m.out
	m.out = nil
	return out
}

func (m *Machine) replied(r effect.Replied) {
	switch r.Tag.Kind {
	case TagTree:
		if r.Tag.Round == m.round && r.Err == nil {
			m.treeLoaded(r.Result)
		}
	case effect.TagEnabled:
		if r.Tag.Round == m.round && r.Err == nil {
			m.isEnabled = true
			m.tellCovered()
		}
	case TagInfo:
		m.infoReplied(r)
	case TagKey:
		m.keyTaken(r)
	case TagSign:
		m.signed(r)
	case TagHistory:
		m.historyReplied(r)
	case TagProbe:
		switch {
		case r.Tag.Round != m.round: // of a renderer that is no more
		case messages.CodeOf(r.Err) == messages.CodeUpstreamUnavailable:
			m.unasked()
		default:
			m.answered()
		}
	case effect.TagDialog:
		m.do(effect.ToDialog{Msg: mail.DialogHandled{Dialog: r.Tag.ID, Session: m.cfg.Session, Err: effect.DialogError(r.Err)}})
	case effect.TagDoomed:
		m.do(effect.ToDialog{Msg: effect.DialogProbed(r)})
	case effect.TagMove:
		m.do(effect.ToDialog{Msg: effect.PageMoved(r)})
	case TagNavigate:
		m.navigateReplied(r)
	case TagAway:
		m.awayReplied(r)
	case TagReload:
		m.reloadReplied(r)
	case TagUnreachable, TagErrorPage:
		m.errorPageReplied(r)
	default:
		if r.Tag.Kind.IsBridge() {
			m.bridge.Replied(r)
		}
	}
}

func (m *Machine) timerFired(now time.Time, t effect.Timer) {
	switch t.Name {
	case timerResume:
		m.letRun()
	case timerClassify, timerProbe:
		m.classify()
	case timerVerdict:
		m.verdict()
	case timerReload:
		m.announce(true)
	case timerTitle:
		m.sendInfo(0)
	case timerTorn:
		m.freeTorn()
	case timerStuck:
		m.reloadStuck()
	case timerLoading:
		m.stillLoading(now)
	case timerRegive:
		m.regive()
	case timerRestore:
		m.isAwaited = false
		m.goOn()
	case timerInterrupt:
		if (m.isHolding || m.isStopped) && len(m.dialogs) > 0 {
			m.do(effect.Interrupt{Err: admit.BlockedByDialog(m.dialogs), NeedsRenderer: true, Before: m.told})
		}
	case timerNavigate:
		m.navigateTimedOut(t.Seq)
	default:
		m.bridge.TimerFired(t)
	}
}

func (m *Machine) frameNavigated(f mail.FrameNavigated) {
	m.frameMoved(f.Frame.ID)
	m.do(effect.ToSupervisor{Msg: mail.FrameMoved{Gen: m.cfg.Gen, Page: m.cfg.Page, Frame: f.Frame.ID, Heard: f.Heard}})
	root := string(f.Frame.ID) == string(m.cfg.Target)
	m.bridge.Navigated(f.Frame.ID, root)
	if root {
		m.regiveDocument()
	}
	if root && m.isPaused {
		m.isPaused = false // without a word of the debugger (C47)
		m.publishHealth()
	}
	if f.IsRestored {
		m.reloadFrames()
	}
	if !m.cfg.IsPage || f.Frame.Parent != "" {
		return
	}
	m.loader, m.url = f.Frame.Loader, f.Frame.URL
	m.do(effect.ToSupervisor{Msg: mail.PageNavigated{Gen: m.cfg.Gen, Page: m.cfg.Page, URL: f.Frame.URL}})
	if m.isDiagnosed() && m.isReady {
		m.answered() // another document, perhaps another process: what hung is gone
	}
	m.documentCommitted()
	m.reloadCommitted()
	m.leftHung()
	m.lookForBlocker(f.IsPDF)
}

func navTimer(id uint32) effect.Timer { return effect.Timer{Name: timerNavigate, Seq: id} }
