package supervisor

import (
	"cmp"
	"slices"
	"strings"

	"holdfast/actors/session"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/page"
	"holdfast/actors/session/wanted"
	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/redact"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func (m *Machine) targetAttached(a mail.TargetAttached) {
	isPage := a.Via == ""
	fresh := a.Waiting || !m.everUp && a.Info.URL == "about:blank"
	cfg := page.Config{Identity: effect.Identity{Gen: a.Gen, Session: a.Session, Target: a.Info.ID, Page: a.Page}, IsPage: isPage, Fresh: fresh}
	cfg.Bridge = m.sessionBridge()
	if !isPage {
		cfg.Site = new(wanted.Site)
		cfg.Site.Show(a.Info.URL)
	}
	cfg.Held = isPage && a.Waiting && a.Info.CanAccessOpener && m.conn.Anchor == messages.LinkUp
	if old := m.sessions.At(a.Session); old != nil {
		return
	}
	if isPage {
		m.pageAttached(a)
		m.do(ToFrame{a})
	} else if m.pages.At(a.Page) == nil || m.sessions.At(a.Via) == nil {
		return // its page, or the session that reported it, has ended meanwhile, and it as well
	}
	if !isPage && m.sessions.Len() >= effect.MaxSessions {
		m.do(LetGo{a})
		return
	}
	m.sessions.Set(a.Session, &sessionEntry{cfg: cfg, via: a.Via, info: a.Info, seq: m.nextSeq(), health: messages.PageOK, unbridged: m.unheard()})
	m.do(SpawnSession{a.Session})
	m.tellRequest(a.Session)
	m.coverFrame(m.sessions.At(a.Session))
	if m.told[a.Page] {
		m.tellDialogs(a.Page)
	}
}

// sessionConfig is what the actor of a session is born with.
func (m *Machine) sessionConfig(s messages.SessionID) page.Config {
	if e := m.sessions.At(s); e != nil {
		return e.cfg
	}
	return page.Config{}
}

func (m *Machine) nextSeq() uint64 {
	var last uint64
	for _, s := range m.sessions.All() {
		last = max(last, s.seq)
	}
	return last + 1
}

func (m *Machine) pageAttached(a mail.TargetAttached) {
	p := m.pages.At(a.Info.ID)
	if p != nil {
		p.info, p.session, p.health, p.held = a.Info, a.Session, messages.PageOK, false
		if p.poisoned {
			m.do(Arm{timerRelease + string(a.Info.ID), releaseGrace}) // the link that was to free it is gone
		}
		m.tellWatched(a.Info.ID)
		m.pageChanged(a.Info.ID)
		return
	}
	p = &pageEntry{info: a.Info, session: a.Session, health: messages.PageOK}
	m.pages.Set(a.Info.ID, p)
	m.order = append(m.order, a.Info.ID)
	// While attaching, the first page that is not the browser's own; later,
	// whatever was opened last.
	if m.rooted || m.current == "" || isInternal(m.pages.At(m.current).info.URL) {
		m.current = a.Info.ID
	}
	m.tellWatched(a.Info.ID)
	m.tellPage(messages.EventPageOpened, a.Info.ID)
	if a.Info.Opener == "" || !a.Waiting { // a popup it sees by itself
		m.toAnchor(mail.CoverPage{Page: a.Info.ID})
	}
}

// tellWatched tells the dialogs of the session that a page has.
func (m *Machine) tellWatched(t messages.TargetID) {
	m.do(ToDialog{mail.PageWatched{Role: messages.RolePrimary, Gen: m.gen, Page: t, Session: m.pages.At(t).session}})
}

func isInternal(url string) bool {
	return strings.HasPrefix(url, "chrome:") || strings.HasPrefix(url, "devtools:") || strings.HasPrefix(url, "chrome-extension:")
}

// sessionEnded ends a session's actor and those of the sessions that were
// attached through it: the browser drops them without a word.
func (m *Machine) sessionEnded(s messages.SessionID) {
	e := m.sessions.At(s)
	if e == nil {
		return
	}
	m.sessions.Delete(s)
	m.do(StopSession{s})
	if m.bridged() {
		m.do(ToDialog{mail.SessionGone{Role: messages.RolePrimary, Session: s}})
	}
	if e.via == "" {
		m.do(ToFrame{mail.TargetDetached{Gen: m.gen, Session: s}})
		if p := m.pages.At(e.cfg.Page); p != nil && p.session == s {
			p.session = ""
			m.pageChanged(e.cfg.Page)
		}
	}
	if p := m.pages.At(e.cfg.Page); p != nil && p.restoring.Len() > 0 {
		p.restoring.Delete(s)
		m.pageChanged(e.cfg.Page)
	}
	if p := m.pages.At(e.cfg.Page); p != nil && p.held && !m.holdsDialog(e.cfg.Page) {
		p.held = false
		m.pageChanged(e.cfg.Page)
	}
	m.childrenEnded(s)
	m.keepNative(e.cfg.Target, false)
	m.maybeHearNothing()
}

// childrenEnded ends the sessions that were attached through s.
func (m *Machine) childrenEnded(s messages.SessionID) {
	for _, child := range m.sessionOrder() {
		if c := m.sessions.At(child); c != nil && c.via == s {
			m.do(ToFrame{mail.TargetDetached{Gen: m.gen, Session: child, Via: s}})
			m.sessionEnded(child)
		}
	}
}

func (m *Machine) sessionReady(r mail.SessionReady) {
	e := m.sessions.At(r.Session)
	if e == nil || r.Gen != m.gen {
		return
	}
	e.ready, e.retells, e.heard = true, false, e.heard || !r.Blocked
	if p := m.pages.At(e.cfg.Page); p != nil && e.cfg.IsPage && !r.Blocked {
		p.answered = true
	}
	e.tells = e.tells || !r.Blocked && m.isTold(e.cfg.Page)
	if m.resolve(r.Session); r.Blocked {
		m.askDoubted(r.Session)
	}
	m.sendOnItsWay(r.Session, r.Target)
}

// ignoreNavigation lets through only what says that the page itself is lost.
func ignoreNavigation(err error) error {
	switch messages.CodeOf(err) {
	case messages.CodeUpstreamUnavailable, messages.CodePageCrashed:
		return err
	}
	return nil
}

func (m *Machine) sessionHealth(h mail.SessionHealth) {
	e := m.sessions.At(h.Session)
	if e == nil || h.Gen != m.gen {
		return
	}
	news := e.health != h.State // else it was asked to say so
	e.since, e.stranded = h.Since, h.Stranded
	if e.health = h.State; news && h.State == messages.PageCrashed {
		e.crashed = m.now
		if n, noted := m.needed[h.Page]; noted && m.crashedUnder(n.BridgeNeeded) {
			delete(m.needed, h.Page)
		}
	}
	if h.State == messages.PageOK {
		e.tells = e.tells || e.ready && m.isTold(h.Page)
	}
	switch h.State {
	case messages.PageOK, messages.PagePaused, messages.PageCrashed: // a crash ends the dialogs of its process (C13)
		e.heard = true
		m.resolve(h.Session)
	}
	p := m.pages.At(h.Page)
	switch {
	case p == nil:
	case h.IsPage:
		p.health, p.answered = h.State, p.answered || h.State == messages.PageOK
	default:
		// An iframe's renderer: callers meet it in the view, but for a dialog,
		// which is the whole page's affair (C7).
		p.held = m.holdsDialog(h.Page)
	}
	if news {
		m.pageChanged(h.Page)
		m.tellShared(h.Session, e)
	}
}

// isTold reports whether a page's session hears of the dialogs that open on it.
func (m *Machine) isTold(t messages.TargetID) bool {
	p := m.pages.At(t)
	if p == nil {
		return false
	}
	e := m.sessions.At(p.session)
	return e != nil && e.enabled
}

func (m *Machine) pageInfoChanged(info mail.TargetInfo) {
	p := m.pages.At(info.ID)
	if p == nil || p.info.URL == info.URL && p.info.Title == info.Title {
		return
	}
	opener := p.info.Opener
	if info.URL == "" {
		info.URL = p.info.URL // it is between two documents: where it was last is worth keeping
	}
	p.info = info
	if info.Opener == "" {
		p.info.Opener = opener
	}
	m.pageChanged(info.ID)
}

func (m *Machine) pageNavigated(n mail.PageNavigated) {
	p := m.pages.At(n.Page)
	if p == nil {
		return
	}
	p.info.URL, p.answered = n.URL, true
	m.bridgeHeals(n.Page)
	for _, d := range m.dialogsOn(n.Page) {
		smallmap.Put(&m.outlived, d.ID, true)
	}
	m.forgive(n.Page) // another document: whatever froze the old one went with it
	m.current = n.Page
	m.pageChanged(n.Page)
}

func (m *Machine) pageClosed(t messages.TargetID) {
	p := m.pages.At(t)
	if p == nil {
		return
	}
	closed := m.page(t)
	for _, s := range m.sessionOrder() {
		if e := m.sessions.At(s); e != nil && e.cfg.Page == t {
			m.sessionEnded(s)
		}
	}
	m.pages.Delete(t)
	for _, o := range p.parked {
		m.carryOut(o) // it has its answer by that
	}
	m.trees = m.trees.Clone() // the published one is not written
	m.trees.Delete(t)
	delete(m.needed, t)
	delete(m.told, t)
	m.reports.forget(t)
	delete(m.orphaned, t)
	m.order = slices.DeleteFunc(m.order, func(o messages.TargetID) bool { return o == t })
	if o, ok := m.opening[t]; ok {
		delete(m.opening, t)
		m.do(Answer{To: o.reply, Err: messages.Errorf(messages.CodeTargetNotFound, "the page was closed before it loaded")})
	}
	if m.current == t {
		m.current = ""
		if n := len(m.order); n > 0 {
			m.current = m.order[n-1]
		}
	}
	m.do(ToDialog{mail.PageGone{Page: t}})
	m.do(ToFrame{mail.PageGone{Page: t}})
	m.tell(messages.Event{Type: messages.EventPageClosed, Page: &closed, Lasted: m.now.Sub(p.since)})
	m.recoveryOfClosed(closed)
	m.resettle()
	if m.spec.Scope == messages.ScopeTarget && len(m.order) == 0 && !m.stopping() {
		m.finish(messages.StateLost, messages.Errorf(messages.CodeTargetNotFound, "the browser has no page %s any more", m.target))
	}
}

func (m *Machine) pageChanged(t messages.TargetID) {
	m.tellPage(messages.EventPageChanged, t)
	m.resettle()
}

func (m *Machine) tellPage(typ messages.EventType, t messages.TargetID) {
	if m.pages.At(t) == nil {
		return
	}
	p, e := m.page(t), m.pages.At(t)
	event := messages.Event{Type: typ, Page: &p}
	if typ == messages.EventPageChanged {
		event.Changed = messages.PageChangeOf(&e.told, &p)
	}
	e.told = p
	if e.shown != p.PageState {
		event.Was, event.Lasted = e.shown, m.now.Sub(e.since)
		e.shown, e.since = p.PageState, m.now
		if e.shown == messages.PageBlockedElsewhere {
			m.do(Arm{timerElsewhere, elsewhereAgain})
		}
		m.turned = append(m.turned, t)
	}
	m.tell(event)
}

// page is a page as the contract shows it.
func (m *Machine) page(t messages.TargetID) messages.Page { return m.pageWith(t, m.pageBridge(t)) }

func (m *Machine) pageWith(t messages.TargetID, bridge messages.Bridge) messages.Page {
	p := m.pages.At(t)
	v := messages.Page{
		Restoring: p.missing(), TargetID: t, SessionID: p.session, URL: cmp.Or(redact.PageURL(p.info.URL), "about:blank"), Title: redact.Text(p.info.Title), PageState: m.pageState(t), Bridge: bridge,
	}
	if p.info.Opener != "" {
		opener := p.info.Opener
		v.OpenerID = &opener
	}
	return v
}

// missing are the settings that sessions of the page were refused, sorted.
func (p *pageEntry) missing() (methods []string) {
	for _, list := range p.restoring.All() {
		methods = append(methods, list...)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

func (m *Machine) restoring(r session.Restoring) {
	p := m.pages.At(r.Page)
	if p == nil || r.Gen != m.gen || m.sessions.At(r.Session) == nil {
		return
	}
	if p.restoring.Delete(r.Session); len(r.Methods) > 0 {
		p.restoring.Set(r.Session, r.Methods)
	}
	m.pageChanged(r.Page)
}

func (m *Machine) pageState(t messages.TargetID) messages.PageState {
	p := m.pages.At(t)
	if p == nil {
		return messages.PageOK
	}
	if p.health == messages.PageCrashed {
		return messages.PageCrashed
	}
	for _, d := range m.pending {
		if d.TargetID == t {
			return messages.PageDialog
		}
	}
	if p.stuck {
		return messages.PageDialogUnreachable
	}
	if p.held || p.health == messages.PageDialogUnreachable {
		return cmp.Or(m.heldState(t), messages.PageDialogUnreachable)
	}
	return p.health
}

// navigate passes the order to the page it means.
func (m *Machine) navigate(o mail.Navigate) {
	t := o.Request.TargetID
	if t == "" {
		t = m.current
	}
	p := m.pages.At(t)
	switch {
	case p == nil && o.Request.TargetID == "" && m.conn.Primary != messages.LinkUp:
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo)})
	case p == nil && o.Request.TargetID == "":
		m.do(OpenTab{URL: o.Request.URL, Order: &o.Request, Reply: o.Reply}) // its last page was closed
	case p == nil:
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeTargetNotFound, "the task has no page %s", t)})
	default:
		switch v := admit.Navigation(m.knownAt(t)); v.Action {
		case admit.Wait:
			m.park(t, o)
		case admit.Refuse:
			m.do(Answer{To: o.Reply, Err: v.Err})
		default:
			m.do(ToSession{p.session, o})
		}
	}
}

// openPage opens a blank page and navigates it once its session answers (C30).
func (m *Machine) openPage(o mail.OpenPage) {
	if m.conn.Primary != messages.LinkUp {
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo)})
		return
	}
	if len(m.order) >= effect.MaxPages {
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeLimitReached, "the task has %d pages already", len(m.order)).WithSent(messages.SentNo)})
		return
	}
	m.do(OpenTab{URL: o.URL, NewWindow: o.NewWindow, Reply: o.Reply})
}

func (m *Machine) pageOpened(o PageOpened) {
	p := m.pages.At(o.Target)
	switch {
	case o.Err != nil:
		m.do(Answer{To: o.Reply, Err: o.Err})
	case p == nil:
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeTargetNotFound, "the page was closed before it loaded")})
	case o.Order == nil && (o.URL == "" || o.URL == "about:blank"):
		m.do(Answer{To: o.Reply, Value: o.Target})
	default:
		smallmap.Put(&m.opening, o.Target, opening{o.URL, o.Order, o.Reply})
		if e := m.sessions.At(p.session); e != nil && e.ready {
			m.sendOnItsWay(p.session, o.Target)
		}
	}
}

func (m *Machine) sendOnItsWay(s messages.SessionID, t messages.TargetID) {
	o, ok := m.opening[t]
	if !ok {
		return
	}
	delete(m.opening, t)
	if o.order != nil {
		m.do(ToSession{s, mail.Navigate{Request: *o.order, Reply: o.reply}})
		return
	}
	m.do(NavigateOpened{Session: s, Page: t, URL: o.url, Reply: o.reply})
}

func (m *Machine) framesChanged(f mail.FramesChanged) {
	m.trees = m.trees.Clone()
	m.trees.Set(f.Page, f.Tree)
	e := messages.Event{Type: messages.EventFrames}
	if f.Page == m.current {
		e.FrameTree = view.Capped(f.Tree)
	}
	m.tell(e)
	if m.told[f.Page] {
		m.tellDialogs(f.Page) // which session holds the dialog may be known only now
	}
	m.resolveRemoved(f.Page)
}
