package task

import (
	"cmp"
	"slices"

	"holdfast/actors/session"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/page"
	"holdfast/actors/session/wanted"
	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func (m *Machine) targetAttached(a mail.TargetAttached) {
	isPage := a.Via == ""
	fresh := a.IsWaiting || !m.HasBeenUp && a.Info.URL == "about:blank"
	cfg := page.Config{Identity: effect.Identity{Gen: a.Gen, Session: a.Session, Target: a.Info.ID, Page: a.Page}, IsPage: isPage, IsFresh: fresh}
	cfg.Bridge, cfg.Watches, cfg.AskPatience = m.SessionBridge(), page.WatchesOf(m.Spec.Blockers), m.Spec.DialogTimeout()
	if !isPage {
		cfg.Site = new(wanted.Site)
		cfg.Site.Show(a.Info.URL)
	}
	cfg.IsHeldForClients = isPage && a.IsWaiting && m.holdsPopups && !m.seenEarly[a.Info.ID]
	delete(m.seenEarly, a.Info.ID)
	cfg.IsHeld = cfg.IsHeldForClients || isPage && a.IsWaiting && m.waitsForAnchor(a.Info)
	if old := m.Sessions.At(a.Session); old != nil {
		return
	}
	if isPage {
		m.pageAttached(a)
		m.ToFrame(a)
	} else if m.Pages.At(a.Page) == nil || m.Sessions.At(a.Via) == nil {
		return // its page, or the session that reported it, has ended meanwhile, and it as well
	}
	if !isPage && m.Sessions.Len() >= effect.MaxSessions {
		m.Do(step.LetGo{Target: a})
		return
	}
	m.Sessions.Set(a.Session, &model.Session{Cfg: cfg, Via: a.Via, Info: a.Info, Seq: m.NextSeq(), Health: messages.PageOK, IsUnbridged: m.IsUnheard()})
	m.Do(step.SpawnSession{Session: a.Session})
	m.bridge.TellRequest(a.Session)
	m.CoverFrame(m.Sessions.At(a.Session))
	if m.told[a.Page] {
		m.tellDialogs(a.Page)
	}
}

func (m *Machine) pageAttached(a mail.TargetAttached) {
	p := m.Pages.At(a.Info.ID)
	if p != nil {
		a.Info.URL = addressOf(p, a.Info)
		if p.Info.URL != a.Info.URL {
			m.pageBlockersEnd(a.Info.ID) // it has gone elsewhere while no link stood
		}
		p.Info, p.Session, p.Health, p.HoldsDialog = a.Info, a.Session, messages.PageOK, false
		if p.IsPoisoned {
			m.Arm(timerRelease+string(a.Info.ID), releaseGrace) // the link that was to free it is gone
		}
		m.tellWatched(a.Info.ID)
		m.PageChanged(a.Info.ID)
		return
	}
	p = &model.Page{Info: a.Info, Session: a.Session, Health: messages.PageOK}
	m.Pages.Set(a.Info.ID, p)
	m.Order = append(m.Order, a.Info.ID)
	// While attaching, the first page that is not the browser's own; later,
	// whatever was opened last.
	if m.isRooted || m.Current == "" || model.IsInternal(m.Pages.At(m.Current).Info.URL) {
		m.Current = a.Info.ID
	}
	m.tellWatched(a.Info.ID)
	m.TellPage(messages.EventPageOpened, a.Info.ID)
	if a.Info.Opener == "" || !a.IsWaiting { // a popup it sees by itself
		m.ToAnchor(mail.CoverPage{Page: a.Info.ID})
	}
}

// tellWatched tells the dialogs of the session that a page has.
func (m *Machine) tellWatched(t messages.TargetID) {
	m.ToDialog(mail.PageWatched{Role: messages.RolePrimary, Gen: m.Gen, Page: t, Session: m.Pages.At(t).Session})
}

// sessionEnded ends a session's actor and those of the sessions that were
// attached through it: the browser drops them without a word.
func (m *Machine) sessionEnded(s messages.SessionID) {
	e := m.Sessions.At(s)
	if e == nil {
		return
	}
	m.Sessions.Delete(s)
	m.Do(step.StopSession{Session: s})
	if m.IsBridged() {
		m.ToDialog(mail.SessionGone{Role: messages.RolePrimary, Session: s})
	}
	if e.Via == "" {
		m.ToFrame(mail.TargetDetached{Gen: m.Gen, Session: s})
		if p := m.Pages.At(e.Cfg.Page); p != nil && p.Session == s {
			p.Session = ""
			m.PageChanged(e.Cfg.Page)
		}
	}
	if p := m.Pages.At(e.Cfg.Page); p != nil && p.Restoring.Len() > 0 {
		p.Restoring.Delete(s)
		m.PageChanged(e.Cfg.Page)
	}
	if p := m.Pages.At(e.Cfg.Page); p != nil && p.HoldsDialog && !m.HoldsDialog(e.Cfg.Page) {
		p.HoldsDialog = false
		m.PageChanged(e.Cfg.Page)
	}
	m.childrenEnded(s)
	m.bridge.KeepNative(e.Cfg.Target, false)
	m.bridge.MaybeHearNothing()
}

// childrenEnded ends the sessions that were attached through s.
func (m *Machine) childrenEnded(s messages.SessionID) {
	for _, child := range m.SessionOrder() {
		if c := m.Sessions.At(child); c != nil && c.Via == s {
			m.ToFrame(mail.TargetDetached{Gen: m.Gen, Session: child, Via: s})
			m.sessionEnded(child)
		}
	}
}

func (m *Machine) sessionReady(r mail.SessionReady) {
	e := m.Sessions.At(r.Session)
	if e == nil || r.Gen != m.Gen {
		return
	}
	e.IsReady, e.IsRetelling, e.HasAnswered = true, false, e.HasAnswered || !r.IsBlocked
	if p := m.Pages.At(e.Cfg.Page); p != nil && e.Cfg.IsPage {
		p.HasAnswered, p.HasFailed = p.HasAnswered || !r.IsBlocked, false
	}
	e.IsTelling = e.IsTelling || !r.IsBlocked && m.IsTold(e.Cfg.Page)
	if m.resolve(r.Session); r.IsBlocked {
		m.askDoubted(r.Session)
	}
	m.sendOnItsWay(r.Session, r.Target)
}

func (m *Machine) sessionHealth(h mail.SessionHealth) {
	e := m.Sessions.At(h.Session)
	if e == nil || h.Gen != m.Gen {
		return
	}
	news := e.Health != h.State // else it was asked to say so
	e.Since, e.IsStranded = h.Since, h.IsStranded
	if e.Health = h.State; news && h.State == messages.PageCrashed {
		e.Crashed = m.Now
		m.bridge.PageCrashed(h.Page)
	}
	if h.State == messages.PageOK {
		e.IsTelling = e.IsTelling || e.IsReady && m.IsTold(h.Page)
	}
	switch h.State {
	case messages.PageOK, messages.PagePaused, messages.PageCrashed: // a crash ends the dialogs of its process (C13)
		e.HasAnswered = true
		if m.resolve(h.Session); m.HasGoneOn(h.Session) {
			m.leaveAnchor()
		}
	}
	p := m.Pages.At(h.Page)
	switch {
	case p == nil:
	case h.IsPage:
		p.Health, p.HasAnswered = h.State, p.HasAnswered || h.State == messages.PageOK
	default:
		// An iframe's renderer: callers meet it in the view, but for a dialog,
		// which is the whole page's affair (C7).
		p.HoldsDialog = m.HoldsDialog(h.Page)
	}
	if news {
		m.PageChanged(h.Page)
		m.tellShared(h.Session, e)
	}
}

// addressOf is a known page's address by new information about it. Chrome has none for a page
// between two documents: the last one is kept, for replace goes there.
func addressOf(p *model.Page, info mail.TargetInfo) string {
	return cmp.Or(info.URL, p.Info.URL)
}

func (m *Machine) pageInfoChanged(info mail.TargetInfo) {
	p := m.Pages.At(info.ID)
	if p == nil || p.Info.URL == info.URL && p.Info.Title == info.Title {
		return
	}
	opener := p.Info.Opener
	info.URL = addressOf(p, info)
	p.Info = info
	if info.Opener == "" {
		p.Info.Opener = opener
	}
	m.PageChanged(info.ID)
}

func (m *Machine) pageNavigated(n mail.PageNavigated) {
	p := m.Pages.At(n.Page)
	if p == nil {
		return
	}
	p.Info.URL, p.HasAnswered = n.URL, true
	m.BridgeHeals(n.Page)
	for _, d := range m.DialogsOn(n.Page) {
		smallmap.Put(&m.outlived, d.ID, true)
	}
	m.pageBlockersEnd(n.Page)
	m.Forgive(n.Page) // another document: whatever froze the old one went with it
	m.Current = n.Page
	m.PageChanged(n.Page)
}

func (m *Machine) pageClosed(t messages.TargetID) {
	p := m.Pages.At(t)
	if p == nil {
		return
	}
	closed := m.Page(t)
	for _, s := range m.SessionOrder() {
		if e := m.Sessions.At(s); e != nil && e.Cfg.Page == t {
			m.sessionEnded(s)
		}
	}
	m.Pages.Delete(t)
	m.pageBlockersEnd(t)
	for _, o := range p.Parked {
		m.carryOut(o) // it has its answer by that
	}
	m.Trees = m.Trees.Clone() // the published one is not written
	m.Trees.Delete(t)
	m.bridge.PageClosed(t)
	delete(m.told, t)
	m.reports.Forget(t)
	delete(m.Orphaned, t)
	m.Order = slices.DeleteFunc(m.Order, func(o messages.TargetID) bool { return o == t })
	if o, ok := m.opening[t]; ok {
		delete(m.opening, t)
		m.Refuse(o.reply, messages.Errorf(messages.CodeTargetNotFound, "the page was closed before it loaded"))
	}
	if m.Current == t {
		m.Current = ""
		if n := len(m.Order); n > 0 {
			m.Current = m.Order[n-1]
		}
	}
	m.ToDialog(mail.PageGone{Page: t})
	m.ToFrame(mail.PageGone{Page: t})
	m.Tell(messages.Event{Type: messages.EventPageClosed, Page: &closed, Lasted: m.Now.Sub(p.Since)})
	m.recoveryOfClosed(closed)
	m.Resettle()
	if m.Spec.Scope == messages.ScopeTarget && len(m.Order) == 0 && !m.IsStopping() {
		m.finish(messages.StateLost, messages.Errorf(messages.CodeTargetNotFound, "the browser has no page %s any more", m.Target))
	}
}

func (m *Machine) restoring(r session.Restoring) {
	p := m.Pages.At(r.Page)
	if p == nil || r.Gen != m.Gen || m.Sessions.At(r.Session) == nil {
		return
	}
	if p.Restoring.Delete(r.Session); len(r.Methods) > 0 {
		p.Restoring.Set(r.Session, r.Methods)
	}
	m.PageChanged(r.Page)
}

// navigate passes the order to the page it means.
func (m *Machine) navigate(o mail.Navigate) {
	if m.IsRefused(o.Reply) {
		return
	}
	t := o.Request.TargetID
	if t == "" {
		t = m.Current
	}
	p := m.Pages.At(t)
	switch {
	case p == nil && o.Request.TargetID == "" && m.Conn.Primary != messages.LinkUp:
		m.Refuse(o.Reply, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo))
	case p == nil && o.Request.TargetID == "":
		m.Do(step.OpenTab{URL: o.Request.URL, Order: &o.Request, Reply: o.Reply}) // its last page was closed
	case p == nil:
		m.Refuse(o.Reply, messages.Errorf(messages.CodeTargetNotFound, "the task has no page %s", t))
	default:
		switch v := admit.Navigation(m.KnownAt(t)); v.Action {
		case admit.Wait:
			m.park(t, o)
		case admit.Refuse:
			m.Refuse(o.Reply, v.Err)
		default:
			m.ToSession(p.Session, o)
		}
	}
}

// openPage opens a blank page and navigates it once its session answers (C30).
func (m *Machine) openPage(o mail.OpenPage) {
	if m.IsRefused(o.Reply) {
		return
	}
	if m.Conn.Primary != messages.LinkUp {
		m.Refuse(o.Reply, messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo))
		return
	}
	if len(m.Order) >= effect.MaxPages {
		m.Refuse(o.Reply, messages.Errorf(messages.CodeLimitReached, "the task has %d pages already", len(m.Order)).WithSent(messages.SentNo))
		return
	}
	m.Do(step.OpenTab{URL: o.URL, IsNewWindow: o.IsNewWindow, Context: o.Context, Reply: o.Reply})
}

func (m *Machine) pageOpened(o step.PageOpened) {
	p := m.Pages.At(o.Target)
	switch {
	case o.Err != nil:
		m.Refuse(o.Reply, o.Err)
	case p == nil:
		m.Refuse(o.Reply, messages.Errorf(messages.CodeTargetNotFound, "the page was closed before it loaded"))
	case o.Order == nil && (o.URL == "" || o.URL == "about:blank"):
		m.Reply(o.Reply, o.Target)
	default:
		smallmap.Put(&m.opening, o.Target, opening{o.URL, o.Order, o.Reply})
		if e := m.Sessions.At(p.Session); e != nil && e.IsReady {
			m.sendOnItsWay(p.Session, o.Target)
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
		m.ToSession(s, mail.Navigate{Request: *o.order, Reply: o.reply})
		return
	}
	m.Do(step.NavigateOpened{Session: s, Page: t, URL: o.url, Reply: o.reply})
}

func (m *Machine) framesChanged(f mail.FramesChanged) {
	m.Trees = m.Trees.Clone()
	m.Trees.Set(f.Page, f.Tree)
	e := messages.Event{Type: messages.EventFrames}
	if f.Page == m.Current {
		e.FrameTree = model.Capped(f.Tree)
	}
	m.Tell(e)
	if m.told[f.Page] {
		m.tellDialogs(f.Page) // which session holds the dialog may be known only now
	}
	m.resolveRemoved(f.Page)
}
