package link

import (
	"maps"
	"slices"
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// AnchorSettle is the time for the pages to enable their Page domain before the anchor
// counts as up. One that holds a dialog does not answer until that is gone; the anchor does
// not wait for it.
const AnchorSettle = 300 * time.Millisecond

const timerSettle effect.TimerName = "settle"

// Anchor decides for the second link of a task. It is passive: a session
// with the Page domain enabled on every page of the task, so that whatever
// dialog opens can be answered when the primary link is lost (M2, C18).
type Anchor struct {
	core

	isSettled bool
	isCalm    bool // and nothing is attached any more
	isAlone   bool
	left      map[messages.TargetID]bool // on order, while an attach to them may still come
	seen      map[messages.TargetID]bool // left as well, and the browser has them
	pages     smallmap.Map[messages.TargetID, *anchored]
	toFree    map[messages.TargetID]bool // before they are closed
	closer    *Primary                   // closes the task's pages where the primary is away; nil before

	isBridgeOn bool
	native     map[messages.TargetID]bool             // where the primary has no bridge
	bridges    map[messages.SessionID]*bridge.Machine // of the pages, and of their frames of other processes
	frames     map[messages.TargetID]*anchoredFrame

	requested map[string]mail.RequestHeld  // told to the primary
	strays    map[string]mail.DialogOpened // by request: of frames without a session, left to the actor that remembers
}

// anchored is a page the anchor has a session on, or is about to.
type anchored struct {
	session   messages.SessionID // "": being attached
	isEnabled bool
	isCovered bool
	isHeld    bool // by this session, among others
	isAsking  bool // a native dialog is open, as far as the session has heard
}

// asks notes what a page's session has heard last of its native dialogs.
func (m *Anchor) asks(s messages.SessionID, page messages.TargetID, is bool) {
	if p := m.pages.At(page); p != nil && p.session == s {
		p.isAsking = is
	}
}

// NewAnchor returns the machine of a link that has just been dialled.
func NewAnchor(cfg Config) *Anchor {
	cfg.Role = messages.RoleAnchor
	m := &Anchor{core: newCore(cfg), isAlone: cfg.IsAlone, isBridgeOn: cfg.Bridge.IsOn, bridges: map[messages.SessionID]*bridge.Machine{}}
	m.requests = bridge.NewRequests(cfg.Bridge.Secret, m.do)
	for _, t := range cfg.Left {
		smallmap.Put(&m.left, t, true)
	}
	for _, t := range cfg.Native {
		smallmap.Put(&m.native, t, true)
	}
	return m
}

// Asks implements Machine.
func (m *Anchor) Asks(in any) []mail.TargetInfo {
	a, ok := in.(mail.TargetAttached)
	if !ok {
		return nil
	}
	list := []mail.TargetInfo{a.Info}
	if f := m.frames[a.Info.ID]; f != nil { // the ends of tasks are told of pages
		list = append(list, mail.TargetInfo{ID: f.order.Page, Type: "page"})
	}
	return list
}

// Step implements Machine.
func (m *Anchor) Step(_ time.Time, in any) []effect.Effect {
	if m.handle(in) {
		return m.effects()
	}
	switch in := in.(type) {
	case effect.Start:
		m.requests.Begin(bridge.Settings{IsOn: m.isBridgeOn, By: m.cfg.Bridge.By})
		m.attach()
	case effect.Replied:
		m.replied(in)
	case effect.TimerFired:
		m.timerFired(in.Timer)
	case mail.TargetAttached:
		m.targetAttached(in)
	case mail.TargetDetached:
		m.targetDetached(in)
	case decode.TargetDestroyed:
		m.toCloser(in)
	case mail.DialogOpened:
		m.asks(in.Session, in.Page, true)
		m.do(effect.ToDialog{Msg: in})
	case mail.DialogClosed:
		m.asks(in.Session, in.Page, false)
		m.do(effect.ToDialog{Msg: in})
	case mail.HandleDialog:
		m.handleDialog(in)
	case mail.ProbeDialog:
		m.probeDialog(in)
	case mail.MovePage:
		m.movePage(in)
	case mail.ClosePage:
		m.closeDoomed(in.Page)
	case mail.SetBridge:
		m.setBridge(in)
	case bridge.SiblingLeft:
		m.siblingLeft(in)
	case FromFrame:
		m.fromFrame(in)
	case bridge.RequestPaused:
		m.requestPaused(in)
	case mail.RequestHeld:
		m.ownRequest(in)
	case mail.EndRequest:
		m.endRequest(in)
	case mail.CoverPage:
		m.cover(in.Page)
	case mail.CoverFrame:
		m.coverFrame(in)
	case mail.KeepNative:
		m.keepNative(in)
	case mail.LeavePage:
		m.leavePage(in.Page)
	case mail.ResumePage:
		if p := m.pages.At(in.Page); p != nil && p.isHeld {
			m.resume(p)
		}
	case mail.PrimaryUp:
		m.primaryUp(in.IsUp)
	case mail.FreeFirst:
		m.freeFirst(in.Page)
	case effect.TellAgain:
		m.tellAgain()
	case mail.Leave:
		m.leave()
	}
	return m.effects()
}

func (m *Anchor) replied(r effect.Replied) {
	switch r.Tag.Kind {
	case TagRoot:
		if r.Err != nil {
			m.do(effect.Exit{Err: refused(r.Err)})
			return
		}
		m.rootAttached()
	case effect.TagEnabled:
		p := m.pages.At(r.Tag.Page)
		if p == nil || p.session != r.Tag.Session || r.Err != nil {
			return
		}
		p.isEnabled = true
		m.maybeCovered(r.Tag.Page)
	case effect.TagDialog:
		m.do(effect.ToDialog{Msg: mail.DialogHandled{Dialog: r.Tag.ID, Session: r.Tag.Session, Err: effect.DialogError(r.Err)}})
	case effect.TagDoomed:
		m.do(effect.ToDialog{Msg: effect.DialogProbed(r)})
	case effect.TagMove:
		m.do(effect.ToDialog{Msg: effect.PageMoved(r)})
	case bridge.TagRequest:
		m.requestEnded(r)
	case TagLeft:
		m.do(effect.ToSupervisor{Msg: mail.PageLeft{Gen: m.cfg.Gen, Page: r.Tag.Page}})
	case TagCover:
		delete(m.left, r.Tag.Page)
		// The attach itself has been reported before the reply.
		if p := m.pages.At(r.Tag.Page); p != nil && p.session == "" {
			m.pages.Delete(r.Tag.Page)
			m.owned.Delete(r.Tag.Page) // it is no more
			m.maybeSettled()
		}
	case TagCoverFrame:
		m.frameGone(r.Tag.Page)
	case TagCalm:
		// What was attached up to this reply has been resumed; the next reply
		// says that the browser has heard so.
		m.isCalm = true
		m.maybeCloseOwned()
		m.flush()
	case TagFlushed:
		m.flushed(r)
	case TagOff, TagLate, TagHeard:
		if m.closer != nil {
			m.toCloser(r)
		} else {
			m.endReplied(r)
		}
	case TagCreate, TagAlone, TagClose, TagDispose:
		m.toCloser(r)
	default:
		if r.Tag.Kind.IsBridge() {
			m.bridgeReplied(r)
		}
	}
}

// rootAttached comes with the reply to setAutoAttach: every page that existed
// has been reported before it (C26).
func (m *Anchor) rootAttached() {
	if m.isLeaving {
		return
	}
	m.isAttached = true
	m.dropTimer(timerAttach)
	m.do(effect.ToSupervisor{Msg: mail.AnchorAttached{Gen: m.cfg.Gen, Pages: m.present()}})
	clear(m.left) // from here on pages are attached to on order
	clear(m.seen)
	m.setTimer(timerSettle, AnchorSettle)
	m.maybeSettled()
}

// present are the task's pages that this browser has, those among them that the
// anchor was told to keep away from when they were reported.
func (m *Anchor) present() []messages.TargetID {
	list := slices.AppendSeq(slices.Collect(m.pages.Keys()), maps.Keys(m.seen))
	slices.Sort(list)
	return slices.Compact(list)
}

func (m *Anchor) maybeSettled() {
	for _, p := range m.pages.All() {
		if !p.isCovered {
			return
		}
	}
	if m.passesOnFrames() {
		m.settle()
	}
}

func (m *Anchor) settle() {
	if m.isAttached && !m.isSettled && !m.isLeaving {
		m.isSettled = true
		m.dropTimer(timerSettle)
		m.do(effect.ToSupervisor{Msg: mail.AnchorSettled{Gen: m.cfg.Gen}})
	}
}

func (m *Anchor) timerFired(t effect.Timer) {
	switch t.Name {
	case timerAttach:
		m.do(effect.Exit{Err: unanswered()})
	case timerSettle:
		m.settle()
	case timerFree:
		m.toCloser(effect.TimerFired{Timer: t})
	default:
		if b := m.bridges[t.Session]; b != nil {
			b.TimerFired(t)
		}
	}
}

func (m *Anchor) isOurs(a mail.TargetAttached) bool {
	if a.Info.Type != "page" || m.isLeaving || m.hasHelperURL(a.Info) {
		return false
	}
	if m.left[a.Info.ID] {
		smallmap.Put(&m.seen, a.Info.ID, true)
		return false
	}
	return m.owned.hasAll(a.Info) || m.owned.At(a.Info.ID) || m.owned.hasOpened(a.Info)
}

func (m *Anchor) targetAttached(a mail.TargetAttached) {
	if a.Info.Type == "iframe" {
		m.frameAttached(a)
		return
	}
	p := m.pages.At(a.Info.ID)
	switch {
	case p != nil && p.session != "":
		m.do(detachFrom(effect.Tag{Kind: effect.TagNone}, a.Session)) // attached both by itself and on order
		return
	case m.last.isBegun && m.closer == nil:
		m.heldLate(a)
		return
	case m.closer != nil:
		m.toCloser(a) // which lets it go, and closes what a page of the task has opened
		return
	case m.isLeaving, p == nil && (!m.isOurs(a) || m.pages.Len() >= effect.MaxPages):
		m.letGo(a)
		if m.isLeaving && m.owned.hasOpened(a.Info) {
			m.owned.Set(a.Info.ID, true) // to be closed, if the primary cannot
		}
		return
	}
	m.owned.Set(a.Info.ID, true)
	p = &anchored{session: a.Session, isHeld: a.IsWaiting}
	m.pages.Set(a.Info.ID, p)
	m.do(effect.Listen{Session: a.Session, Page: a.Info.ID})
	m.tellWatched(a.Info.ID)
	// In a page that holds a dialog the command takes effect at once, for the
	// dialogs after that one; only its reply is held up (C22).
	m.do(effect.Command{Session: a.Session, Tag: effect.Tag{Kind: effect.TagEnabled, Page: a.Info.ID, Session: a.Session}, Method: "Page.enable"})
	m.attachBridge(m.bridgeOf(a.Session, a.Info.ID, a.Info.ID))
	// Only a popup that the first resume releases waits, for the primary to be ready as
	// well. The others wait for every holder, and answer nothing before that.
	if m.isAlone || a.IsWaiting && !a.Info.CanAccessOpener {
		m.resume(p)
	}
}

// tellWatched tells the dialogs of the session on a page.
func (m *Anchor) tellWatched(t messages.TargetID) {
	p := m.pages.At(t)
	if p.session == "" {
		return
	}
	m.do(effect.ToDialog{Msg: mail.PageWatched{Role: messages.RoleAnchor, Gen: m.cfg.Gen, Page: t, Session: p.session}})
	if p.isCovered {
		m.do(effect.ToDialog{Msg: m.coveredFact(t)})
	}
}

func (m *Anchor) coveredFact(t messages.TargetID) mail.PageCovered {
	return mail.PageCovered{Role: messages.RoleAnchor, Gen: m.cfg.Gen, Page: t, Session: m.pages.At(t).session}
}

func (m *Anchor) handleDialog(o mail.HandleDialog) {
	if b := m.bridges[o.Session]; b != nil && o.Pause.Key != "" {
		b.Handle(o)
		return
	}
	if o.Pause.Request != "" {
		m.answerRequest(o)
		return
	}
	if p := m.pages.At(o.Page); p == nil || p.session != o.Session {
		m.do(effect.ToDialog{Msg: mail.DialogHandled{Dialog: o.Dialog, Session: o.Session, Err: effect.NotConnected()}})
		return
	}
	c := effect.AnswerDialog(o)
	c.Session, c.Tag.Session = o.Session, o.Session
	m.do(c)
}

func (m *Anchor) targetDetached(d mail.TargetDetached) {
	if m.handleFrameDetached(d.Session) {
		return
	}
	m.sessionGone(d.Session)
	for t, p := range m.pages.All() {
		if p.session != d.Session {
			continue
		}
		m.pages.Delete(t)
		m.do(effect.ToSupervisor{Msg: mail.PageUncovered{Gen: m.cfg.Gen, Page: t}})
		m.maybeSettled()
		if !m.isLeaving {
			// Closed, or torn from us? Coming back fails if there is nothing to
			// come back to.
			m.attachTo(t)
		}
		return
	}
}

// cover takes up a page of the task that has not come by itself.
func (m *Anchor) cover(t messages.TargetID) {
	m.owned.Set(t, true)
	delete(m.left, t)
	if m.pages.At(t) == nil && !m.isLeaving && m.isAttached {
		m.attachTo(t)
	}
}

func (m *Anchor) attachTo(t messages.TargetID) {
	m.pages.Set(t, &anchored{})
	m.do(effect.OnBrowser(effect.Tag{Kind: TagCover, Page: t}, "Target.attachToTarget", attachParams{t, true}, pageBudget))
}
