package task

import (
	"strings"

	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/party"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// releaseTries bounds how often a release is begun anew: a client that is attached to the
// page at the wrong moment spoils it (C19), and every link of a shared browser looks at
// every page when it comes up.
const releaseTries = 3

const timerRecover = "recover:"

// recover begins what was asked for, or says why the page's state forbids it.
func (m *Machine) recover(o mail.RecoverPage) {
	if m.IsRefused(o.Reply) {
		return
	}
	t := o.Request.TargetID
	if t == "" {
		t = m.Current
	}
	refuse := func(err *messages.Error) { m.Refuse(o.Reply, err) }
	p := m.Pages.At(t)
	switch r := m.Recovering[t]; {
	case p == nil && t == "":
		refuse(messages.Errorf(messages.CodeTargetNotFound, "the task has no page"))
	case p == nil:
		refuse(messages.Errorf(messages.CodeTargetNotFound, "the task has no page %s", t))
	case r != nil && r.Action == o.Request.Action:
		r.Replies = append(r.Replies, o.Reply)
	case r != nil:
		refuse(messages.Errorf(messages.CodePageWedged, "the page is being recovered (%s); try again in a moment", r.Action).
			With("page_state", m.PageState(t)))
	default:
		switch v := admit.Recovery(m.Known(t), o.Request.Action); v.Action {
		case admit.Wait:
			m.park(t, o)
		case admit.Refuse:
			refuse(v.Err)
		case admit.Answer:
			m.Reply(o.Reply, messages.RecoverResult{Page: m.Page(t)})
		default:
			m.beginRecovery(t, o.Request.Action, o.Reply)
		}
	}
}

// beginRecovery begins one; reply is zero where no caller asked for it.
func (m *Machine) beginRecovery(t messages.TargetID, action messages.RecoverAction, reply mail.Call) {
	p := m.Pages.At(t)
	r := &model.Recovery{Action: action, Old: p.Session}
	if reply != 0 {
		r.Replies = append(r.Replies, reply)
	}
	smallmap.Put(&m.Recovering, t, r)
	m.Arm(timerRecover+string(t), action.Budget())
	switch {
	case action == messages.RecoverClose:
		r.Step = model.StepClosing
		m.Do(step.ShutTab{Page: t})
	case action == messages.RecoverReplace:
		r.Step = model.StepReplacing
		m.Do(step.ReplaceTab{Page: t, URL: p.Info.URL})
	case action == messages.RecoverReattach:
		m.ToBrowser(mail.ReattachPage{Page: t})
	case action == messages.RecoverRelease || p.IsPoisoned:
		m.releasePage(t) // also before a reload: with the dialog there it ends the browser (C15)
	default:
		m.reloadPage(t)
	}
}

// releasePage and closePage are the only ways to have a page freed or closed:
// every session of it has to be gone before, the anchor's too.
func (m *Machine) releasePage(t messages.TargetID) {
	m.askClients(t)
	m.withoutParties(t, step.ToBrowser{Msg: mail.ReleasePage{Page: t}})
}

func (m *Machine) closePage(o mail.ClosePage) {
	if m.IsRefused(o.Reply) {
		return
	}
	if !m.IsStopping() && m.IsUnsettled(o.Page) {
		m.park(o.Page, o)
		return
	}
	o.MustFree = m.NeedsFreeing(o.Page)
	if p := m.Pages.At(o.Page); p != nil && m.Conn.Primary == messages.LinkUp {
		p.IsClosing = true
	}
	if !o.MustFree {
		m.withoutParties(o.Page, step.ToBrowser{Msg: o}, party.Clients)
		return
	}
	m.askClients(o.Page)
	m.withoutParties(o.Page, step.ToBrowser{Msg: o})
}

// pageKept comes when a page could not be closed.
func (m *Machine) pageKept(t messages.TargetID) {
	if p := m.Pages.At(t); p != nil {
		p.IsClosing = false
		m.CoverPage(t)
	}
}

func (m *Machine) reloadPage(t messages.TargetID) {
	m.Recovering[t].Step = model.StepReloading
	m.ToSession(m.Pages.At(t).Session, mail.ReloadPage{URL: m.Pages.At(t).Info.URL})
}

func (m *Machine) pageReleased(t messages.TargetID) {
	if p := m.Pages.At(t); p != nil {
		m.Forgive(t)
		m.CoverPage(t)
		m.PageChanged(t)
	}
	if r := m.Recovering[t]; r != nil && r.Step == model.StepLeaving {
		r.Step = model.StepAttaching
	}
}

func (m *Machine) pageReloaded(f mail.PageReloaded) {
	if r := m.Recovering[f.Page]; r != nil && r.Step == model.StepReloading && m.Pages.At(f.Page).Session == f.Session {
		m.endRecovery(f.Page, f.Err)
	}
}

func (m *Machine) pageShut(s step.PageShut) {
	// Its success is a PageClosed.
	if r := m.Recovering[s.Page]; r != nil && r.Step == model.StepClosing && s.Err != nil {
		m.endRecovery(s.Page, s.Err)
	}
}

// pageReplaced closes a page whose successor is there.
func (m *Machine) pageReplaced(o step.PageReplaced) {
	r := m.Recovering[o.Page]
	switch {
	case r == nil || r.Step != model.StepReplacing:
		if m.Pages.At(o.New) != nil {
			m.Do(step.ShutTab{Page: o.New}) // it came too late, and no caller knows of it
		}
	case o.Err != nil:
		m.endRecovery(o.Page, o.Err)
	default:
		r.Step, r.By = model.StepClosing, o.New
		if m.Target == o.Page {
			m.Target = o.New
		}
		m.Do(step.ShutTab{Page: o.Page})
	}
}

// goOn takes a recovery further for which the page had to be attached to anew.
func (m *Machine) goOn(t messages.TargetID, r *model.Recovery) {
	p := m.Pages.At(t)
	if r.Step != model.StepAttaching && (r.Step != model.StepLeaving || r.Action != messages.RecoverReattach) ||
		p.Session == "" || p.Session == r.Old || !m.IsAttachedWhole(t) {
		return
	}
	if r.Action == messages.RecoverReload {
		m.reloadPage(t)
		return
	}
	var err error
	if r.Action == messages.RecoverRelease {
		if m.MayBeSpoilt(t) && r.Tries < releaseTries {
			r.Tries++
			r.Step, r.Old = model.StepLeaving, p.Session
			m.releasePage(t)
			return
		}
		err = m.StillWedged(t)
	}
	m.endRecovery(t, err)
}

// handleRecoverTimer ends a recovery that takes too long; one that the page's next
// answer may still complete is not undone.
func (m *Machine) handleRecoverTimer(name string) bool {
	if t, ok := strings.CutPrefix(name, timerRelease); ok {
		m.freePoisoned(messages.TargetID(t))
		return true
	}
	if m.handleParkedTimer(name) {
		return true
	}
	target, ok := strings.CutPrefix(name, timerRecover)
	if !ok {
		return false
	}
	t := messages.TargetID(target)
	if r := m.Recovering[t]; r != nil {
		next := ""
		if r.Action != messages.RecoverClose {
			next = "; recover with replace or close"
		}
		m.endRecovery(t, messages.Errorf(messages.CodePageWedged, "the page was not recovered within %s (%s)%s", r.Action.Budget(), r.Action, next).
			With("page_state", m.PageState(t)))
	}
	return true
}

// recoveryOfClosed ends the recovery of a page that is no more.
func (m *Machine) recoveryOfClosed(closed messages.Page) {
	t := closed.TargetID
	r := m.Recovering[t]
	if r == nil {
		return
	}
	var err error
	switch {
	case r.Action == messages.RecoverClose:
	case r.By != "" && m.Pages.At(r.By) != nil:
		closed = m.Page(r.By)
	default:
		err = messages.Errorf(messages.CodeTargetNotFound, "the page was closed meanwhile")
	}
	m.concludeRecovery(t, closed, err)
}

func (m *Machine) endRecovery(t messages.TargetID, err error) { m.concludeRecovery(t, m.Page(t), err) }

// concludeRecovery tells of the end of page t's recovery, and which page came of it.
func (m *Machine) concludeRecovery(t messages.TargetID, page messages.Page, err error) {
	r := m.Recovering[t]
	delete(m.Recovering, t)
	if p := m.Pages.At(t); p != nil && p.IsPoisoned && r.Action != messages.RecoverRelease {
		m.Arm(timerRelease+string(t), releaseGrace) // it had to wait
	}
	outcome := &messages.Recovery{Action: r.Action, Result: messages.RecoveryOK, Automatic: len(r.Replies) == 0}
	if err != nil {
		outcome.Result = messages.RecoveryFailed
		if outcome.Automatic {
			m.Do(step.Warn{Text: "a page could not be recovered", Page: t, Err: err})
		}
	}
	m.Tell(messages.Event{Type: messages.EventPageRecovery, Page: &page, Recovery: outcome})
	for _, to := range r.Replies {
		a := step.Answer{To: to, Err: err}
		if err == nil {
			a.Value = messages.RecoverResult{Page: page}
		}
		m.Answers = append(m.Answers, a)
	}
}

// abandonRecoveries answers every caller of one that will not end.
func (m *Machine) abandonRecoveries(err *messages.Error) {
	for _, t := range m.Order {
		if r := m.Recovering[t]; r != nil {
			delete(m.Recovering, t)
			for _, to := range r.Replies {
				m.Answers = append(m.Answers, step.Answer{To: to, Err: err})
			}
		}
	}
}
