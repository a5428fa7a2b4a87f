package link

import (
	"slices"
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// pageBudget is what the browser gets to open or close a page (requirement A10).
const pageBudget = 10 * time.Second

const (
	timerAttach  effect.TimerName = "attach"
	timerRelease effect.TimerName = "release"
	timerFree    effect.TimerName = "free"
)

// Primary decides for the browser's own session: which pages are the
// task's, how they are opened, closed and freed.
//
// A page is the task's by scope: every page (browser), or the pages it made,
// the one it was given, and whatever they open (own, target). All others are
// resumed and left at once; this connection holds every new page of the
// browser for a moment, and a page held too long is a frozen page (C33).
type Primary struct {
	core

	first       messages.TargetID // made for want of any other, not attached yet (A9)
	closing     int               // what leaving still waits for
	pages       smallmap.Map[messages.TargetID, *browserPage]
	toFree      map[messages.TargetID]bool // before they are closed at the end
	isRootTold  bool                       // the supervisor knows of the task's first pages
	helpersLeft []messages.TargetID        // by earlier links, to be closed once that is so
	undecided   []mail.TargetAttached
	creating    []*creation
	seq         uint32
	isolation   isolation
	display     display
	downloads   string // the directory for what the task downloads; "" leaves it to the browser
}

type browserPage struct {
	session     messages.SessionID
	opener      messages.TargetID // "" without one
	isClosing   bool
	closeReply  mail.Call
	isReleasing bool
	isReturning bool               // left, to be attached to again
	left        messages.SessionID // the session that was told to leave it last
	failed      messages.SessionID // the session whose actor has failed
	asked       int                // how often since then whether it may be left
	tries       int                // to close it while no client is attached
	isAwaited   bool               // leaving waits for its end
}

// NewPrimary returns the machine of a link that has just been dialled.
func NewPrimary(cfg Config) *Primary {
	m := &Primary{core: newCore(cfg)}
	m.requests = bridge.NewRequests(cfg.Bridge.Secret, m.do)
	if cfg.Target != "" {
		m.owned.Set(cfg.Target, true)
	}
	return m
}

// Asks implements Machine.
func (m *Primary) Asks(in any) []mail.TargetInfo {
	var list []mail.TargetInfo
	switch in := in.(type) {
	case mail.TargetAttached:
		list = append(list, in.Info)
	case effect.Replied, effect.TimerFired, mail.Leave:
		for _, a := range m.undecided {
			list = append(list, a.Info)
		}
	}
	return list
}

// Step implements Machine.
func (m *Primary) Step(_ time.Time, in any) []effect.Effect {
	if m.handle(in) {
		return m.effects()
	}
	switch in := in.(type) {
	case effect.Start:
		m.downloads = in.Downloads
		m.start()
	case effect.Replied:
		m.replied(in)
	case effect.TimerFired:
		m.timerFired(in.Timer)
	case mail.TargetAttached:
		m.targetAttached(in)
	case mail.TargetDetached:
		m.targetDetached(in)
	case decode.TargetDestroyed:
		m.pageClosed(in.Target)
	case mail.PageInfoChanged:
		if m.pages.At(in.Info.ID) != nil {
			m.do(effect.ToSupervisor{Msg: in})
		}
	case mail.SetBridge:
		m.setBridge(in)
	case bridge.RequestPaused:
		if m.requests.AcceptRequest(in) {
			m.do(effect.ToSupervisor{Msg: in.RequestHeld})
		}
	case mail.EndRequest:
		if in.Gen == m.cfg.Gen {
			m.do(bridge.EndRequest(m.cfg.Bridge.Secret, in))
		}
	case mail.OpenPage:
		m.create(&creation{reply: in.Reply, context: in.Context}, in.IsNewWindow)
	case mail.ClosePage:
		m.closePage(in)
	case mail.ReleasePage:
		m.release(in.Page)
	case mail.ReattachPage:
		if in.Failed != "" {
			m.sessionFailed(in)
		} else {
			m.comeAgain(in.Page)
		}
	case mail.Leave:
		m.leave()
	}
	return m.effects()
}

// setBridge is sent to a link that is being dialled as well. A request for the state that
// holds already is answered at once.
func (m *Primary) setBridge(s mail.SetBridge) {
	m.cfg.Bridge.IsOn, m.cfg.Bridge.By = s.IsOn, s.By
	stood := m.requests.IsConfirmed()
	if m.requests.Hear(m.cfg.Bridge); stood && m.requests.IsOn() {
		m.do(effect.ToSupervisor{Msg: mail.RequestsHeard{Gen: m.cfg.Gen}})
	}
}

type targetFilter struct {
	Type string `json:"type"`
}

// pagesOnly keeps out browser_ui and the like (C27).
var pagesOnly = []targetFilter{{Type: "page"}}

func (m *Primary) start() {
	if m.cfg.Lacks.HasTargets {
		m.startGiven()
		return
	}
	m.discover()
	m.download(m.cfg.Context)
	m.isolate()
	m.requests.Begin(m.cfg.Bridge) // before any page is attached to
	m.attach()
}

// discover has titles and ends of pages reported: auto-attach alone reports neither for
// top-level targets.
func (m *Primary) discover() {
	if m.cfg.Lacks.HasDiscovery {
		return
	}
	m.root(effect.Tag{Kind: effect.TagNone}, "Target.setDiscoverTargets", struct {
		Discover bool           `json:"discover"`
		Filter   []targetFilter `json:"filter"`
	}{true, pagesOnly}, 0)
}

func (m *Primary) replied(r effect.Replied) {
	switch r.Tag.Kind {
	case TagRoot:
		if r.Err != nil {
			m.fail(refused(r.Err))
			return
		}
		m.isolation.isRooted = true
		m.maybeKnown()
	case TagGiven:
		m.allGiven()
	case TagVersion:
		m.versionKnown(r)
	case TagDisplay:
		m.displayKnown(r)
	case TagContext:
		m.contextMade(r)
	case TagDispose:
		m.oneLeft()
	case bridge.TagRequests:
		m.requests.Answered(r.Err)
		m.do(effect.ToSupervisor{Msg: mail.RequestsHeard{Gen: m.cfg.Gen, Err: r.Err}})
	case TagCalm:
		// What was attached up to this reply has been resumed; the next reply
		// says that the browser has heard so.
		m.flush()
	case TagFlushed:
		m.oneLeft()
	case TagOff, TagLate, TagHeard:
		m.endReplied(r)
	case TagCreate:
		m.created(r)
	case TagClose:
		m.closed(r)
	case TagAlone:
		m.alone(r)
	case TagCheck:
		m.checked(r)
	case TagReattach:
		m.reattached(r)
	case TagLeave:
		m.mayLeave(r)
	}
}

// existingPagesKnown comes with the reply to setAutoAttach: every page that
// existed has been reported before it (C26).
func (m *Primary) existingPagesKnown() {
	m.isAttached = true
	m.decide()
	if m.cfg.Target != "" && m.pages.At(m.cfg.Target) == nil {
		m.fail(messages.Errorf(messages.CodeTargetNotFound, "the browser has no page %s", m.cfg.Target))
		return
	}
	if m.pages.Len() == 0 {
		m.create(&creation{isFirst: true}, false)
		return
	}
	m.rootAttached()
}

func (m *Primary) rootAttached() {
	m.first, m.isRootTold = "", true
	m.dropTimer(timerAttach)
	m.do(effect.ToSupervisor{Msg: mail.RootAttached{Gen: m.cfg.Gen, Pages: m.sortedPages()}})
	m.closeHelpersLeft()
}

// sortedPages keeps the machine's effects free of map order.
func (m *Primary) sortedPages() []messages.TargetID { return slices.Sorted(m.pages.Keys()) }

type targetParam struct {
	TargetID messages.TargetID `json:"targetId"`
}

type attachParams struct {
	TargetID messages.TargetID `json:"targetId"`
	Flatten  bool              `json:"flatten"`
}

// fail ends the session. What is held for us is resumed, as far as the link still carries
// it: no later link may do it (C33).
func (m *Primary) fail(err error) {
	for _, a := range m.undecided {
		m.letGo(a)
	}
	m.undecided = nil
	if m.isolation.isMade && !m.isAttached {
		m.do(disposeContext(effect.Tag{Kind: effect.TagNone}, m.isolation.context)) // nothing is in it
	}
	m.do(effect.Exit{Err: err})
}

func (m *Primary) timerFired(t effect.Timer) {
	switch t.Name {
	case timerAttach:
		m.fail(unanswered())
	case timerFree:
		m.free(t.Page)
	case timerGiven:
		m.allGiven()
	case timerFailed:
		m.leaveFailed(t.Page)
	case timerRelease:
		if p := m.pages.At(t.Page); p != nil && p.isReleasing && !m.isLeaving {
			m.root(effect.Tag{Kind: effect.TagNone}, "Target.activateTarget", targetParam{t.Page}, pageBudget)
			m.create(&creation{helper: t.Page}, true)
		}
	}
}
