package link

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// creation is a page being made.
type creation struct {
	seq         uint32
	reply       mail.Call
	context     string // "" is the task's
	isNewWindow bool
	isWaiting   bool              // for what the browser says of its windows
	isFirst     bool              // the page without which there is nothing to attach (A9)
	helper      messages.TargetID // not a page of the task but the one that frees this page
	mustClose   bool              // which is closed then
	isAwaited   bool              // leaving waits for the helper's end
	target      messages.TargetID // known once the reply has come
}

func (m *Primary) create(c *creation, newWindow bool) {
	if m.cfg.Lacks.HasTargets {
		m.do(effect.Answer{To: c.reply, Err: messages.Errorf(messages.CodeCDPError, "the browser opens no pages").WithSent(messages.SentNo)})
		return
	}
	m.seq++
	c.seq = m.seq
	m.creating = append(m.creating, c)
	c.isNewWindow = newWindow && !m.cfg.Lacks.HasWindows
	if c.isWaiting = c.helper == "" && !c.isNewWindow && m.needsDisplay(); !c.isWaiting {
		m.openTab(c)
	}
}

func (m *Primary) openTab(c *creation) {
	isHelper := c.helper != ""
	newWindow := c.isNewWindow || !isHelper && m.display == displayHeadless
	url := "about:blank"
	if isHelper {
		url = m.cfg.HelperURL
	}
	m.do(createPage(effect.Tag{Kind: TagCreate, Seq: c.seq}, url, newWindow, isHelper || c.isNewWindow, cmp.Or(c.context, m.isolation.context)))
}

// createPage has a page made, in the background: no agent's tab may come between a
// person and theirs (demand 20). A release needs the opposite (C19). In a browser without
// windows a page gets a window of its own: Chromium draws the page in front of a window alone,
// and a screenshot of another one waits for the next request of the kind.
func createPage(tag effect.Tag, url string, newWindow, isForeground bool, context string) effect.Command {
	return effect.OnBrowser(tag, "Target.createTarget", struct {
		URL        string `json:"url"`
		Background bool   `json:"background,omitempty"`
		NewWindow  bool   `json:"newWindow,omitempty"`
		Context    string `json:"browserContextId,omitempty"`
	}{url, !isForeground, newWindow, context}, pageBudget)
}

func (m *Primary) created(r effect.Replied) {
	c := m.takeCreation(r.Tag.Seq)
	if c == nil {
		return
	}
	if c.mustClose {
		m.freed(c, r)
		return
	}
	if m.isLeaving {
		m.createdLate(c, r)
		return
	}
	var res targetParam
	err := r.Err
	if err == nil {
		err = json.Unmarshal(r.Result, &res)
	}
	if err != nil {
		m.decide()
		switch {
		case c.isFirst && m.isContextLost():
		case c.isFirst:
			m.fail(fmt.Errorf("no page could be opened: %w", err))
		case c.helper != "":
			// Without another page in front the dialog stands, and the page is
			// not to be touched while it does.
			m.do(effect.Arm{Timer: effect.Timer{Name: timerRelease, Page: c.helper}, After: releaseAgain})
		default:
			m.do(effect.Answer{To: c.reply, Err: err})
		}
		return
	}
	c.target = res.TargetID
	if c.helper != "" {
		m.creating = append(m.creating, c) // known now, and no page of ours
		m.decide()
		m.reattach(c.helper)
		return
	}
	m.owned.Set(c.target, true)
	m.decide()
	if c.isFirst {
		if m.pages.At(c.target) == nil {
			m.first = c.target // its attach is on the way
		} else {
			m.rootAttached()
		}
		return
	}
	m.do(effect.Answer{To: c.reply, Value: c.target})
}

func (m *Primary) takeCreation(seq uint32) *creation {
	for i, c := range m.creating {
		if c.seq == seq {
			m.creating = append(m.creating[:i:i], m.creating[i+1:]...)
			return c
		}
	}
	return nil
}

// closePage leaves the page's session first: closing a page that holds the
// dialog of a removed frame with a session attached ends the browser (C15). Leaving
// one with a doomed dialog does as well, which is why that is closed as it is (C58).
func (m *Primary) closePage(o mail.ClosePage) {
	p := m.pages.At(o.Page)
	if p == nil && o.MustFree && m.owned.At(o.Page) {
		p = &browserPage{} // that this link has not attached to yet
		m.pages.Set(o.Page, p)
	}
	if p == nil || p.isClosing {
		m.do(effect.Answer{To: o.Reply, Err: messages.Errorf(messages.CodeTargetNotFound, "the task has no page %s", o.Page)})
		return
	}
	if m.cfg.Lacks.HasTargets {
		m.closeGiven(o, p)
		return
	}
	p.isClosing, p.closeReply = true, o.Reply
	if !o.IsAttached {
		m.leavePage(p)
	}
	if o.MustFree {
		m.free(o.Page)
		return
	}
	m.closeTarget(o.Page)
}

func (m *Primary) closeTarget(t messages.TargetID) { m.do(closeTarget(t)) }

func closeTarget(t messages.TargetID) effect.Command {
	return effect.OnBrowser(effect.Tag{Kind: TagClose, Page: t}, "Target.closeTarget", targetParam{t}, pageBudget)
}

func (m *Primary) closed(r effect.Replied) {
	p := m.pages.At(r.Tag.Page)
	if p == nil || !p.isClosing {
		return // targetDestroyed was faster
	}
	switch {
	case r.Err == nil && m.isLeaving && m.cfg.Scope == messages.ScopeOwn && !m.cfg.Lacks.HasDiscovery:
		return // up to its end, which is told, it may open another one
	case r.Err == nil:
		m.pageClosed(r.Tag.Page)
		return
	}
	m.notClosed(r.Tag.Page, r.Err)
}

// notClosed continues with a page that stays.
func (m *Primary) notClosed(t messages.TargetID, err error) {
	p := m.pages.At(t)
	if p.closeReply != 0 {
		m.do(effect.Answer{To: p.closeReply, Err: err})
	}
	p.isClosing, p.closeReply = false, 0
	m.ended(p)
	m.leaveFailed(t)
	if !m.isLeaving {
		m.do(effect.ToSupervisor{Msg: mail.PageKept{Gen: m.cfg.Gen, Page: t}})
		if m.cfg.Lacks.HasTargets {
			return
		}
		m.root(effect.Tag{Kind: TagCheck, Page: t}, "Target.getTargetInfo", targetParam{t}, pageBudget)
	}
}

func (m *Primary) pageClosed(t messages.TargetID) {
	m.undecided = slices.DeleteFunc(m.undecided, func(a mail.TargetAttached) bool { return a.Info.ID == t })
	p := m.pages.At(t)
	if p == nil {
		return
	}
	m.pages.Delete(t)
	m.owned.Delete(t)
	m.do(effect.ToSupervisor{Msg: mail.PageClosed{Gen: m.cfg.Gen, Page: t}})
	if p.closeReply != 0 {
		m.do(effect.Answer{To: p.closeReply})
	}
	if o := m.pages.At(p.opener); o != nil && o.session != "" {
		// A popup that ends while it is held leaves its opener frozen (C33).
		m.do(effect.Command{Session: o.session, Tag: effect.Tag{Kind: effect.TagNone}, Method: effect.Resume})
	}
	m.ended(p)
}

// Abandon implements Machine: the calls wait for a page to be opened or closed.
func (m *Primary) Abandon() []effect.Answer {
	var answers []effect.Answer
	for _, c := range m.creating {
		answers = append(answers, effect.Answer{To: c.reply, Err: effect.SessionEnded()})
	}
	for _, t := range m.sortedPages() {
		p := m.pages.At(t)
		answers = append(answers, effect.Answer{To: p.closeReply, Err: effect.SessionEnded()})
	}
	m.creating, m.pages = nil, smallmap.Map[messages.TargetID, *browserPage]{}
	return answers
}
