package supervisor

import (
	"strings"

	"holdfast/actors/supervisor/admit"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A recovery runs in the steps that its action needs; each page has one at a time, and
// further callers of the same share its outcome.
type recovery struct {
	action  messages.RecoverAction
	replies []mail.Call // none where the task does it by itself
	step    recoverStep
	old     messages.SessionID // of the page when it began
	tries   int                // releases begun anew
	by      messages.TargetID  // the page in its place
}

// releaseTries bounds how often a release is begun anew: a client that is attached to the
// page at the wrong moment spoils it (C19), and every link of a shared browser looks at
// every page when it comes up.
const releaseTries = 3

type recoverStep uint8

const (
	stepLeaving   recoverStep = iota // the page is being left, to be freed or attached to anew
	stepAttaching                    // and being attached to
	stepReloading
	stepReplacing // a page is being opened in its place
	stepClosing
)

const timerRecover = "recover:"

// recover begins what was asked for, or says why the page's state forbids it.
func (m *Machine) recover(o mail.RecoverPage) {
	t := o.Request.TargetID
	if t == "" {
		t = m.current
	}
	refuse := func(err *messages.Error) { m.do(Answer{To: o.Reply, Err: err}) }
	p := m.pages.At(t)
	switch r := m.recovering[t]; {
	case p == nil && t == "":
		refuse(messages.Errorf(messages.CodeTargetNotFound, "the task has no page"))
	case p == nil:
		refuse(messages.Errorf(messages.CodeTargetNotFound, "the task has no page %s", t))
	case r != nil && r.action == o.Request.Action:
		r.replies = append(r.replies, o.Reply)
	case r != nil:
		refuse(messages.Errorf(messages.CodePageWedged, "the page is being recovered (%s); try again in a moment", r.action).
			With("page_state", m.pageState(t)))
	default:
		switch v := admit.Recovery(m.known(t), o.Request.Action); v.Action {
		case admit.Wait:
			m.park(t, o)
		case admit.Refuse:
			refuse(v.Err)
		case admit.Answer:
			m.do(Answer{To: o.Reply, Value: messages.RecoverResult{Page: m.page(t)}})
		default:
			m.beginRecovery(t, o.Request.Action, o.Reply)
		}
	}
}

// beginRecovery begins one; reply is nil where nobody asked for it.
func (m *Machine) beginRecovery(t messages.TargetID, action messages.RecoverAction, reply mail.Call) {
	p := m.pages.At(t)
	r := &recovery{action: action, old: p.session}
	if reply != 0 {
		r.replies = append(r.replies, reply)
	}
	smallmap.Put(&m.recovering, t, r)
	m.do(Arm{timerRecover + string(t), action.Budget()})
	switch {
	case action == messages.RecoverClose:
		r.step = stepClosing
		m.do(ShutTab{t})
	case action == messages.RecoverReplace:
		r.step = stepReplacing
		m.do(ReplaceTab{Page: t, URL: p.info.URL})
	case action == messages.RecoverReattach:
		m.do(ToBrowser{mail.ReattachPage{Page: t}})
	case action == messages.RecoverRelease || p.poisoned:
		m.releasePage(t) // also before a reload: with the dialog there it ends the browser (C15)
	default:
		m.reloadPage(t)
	}
}

// releasePage and closePage are the only ways to have a page freed or closed:
// every session of it has to be gone before, the anchor's too.
func (m *Machine) releasePage(t messages.TargetID) {
	m.withoutParties(t, ToBrowser{mail.ReleasePage{Page: t}})
}

func (m *Machine) closePage(o mail.ClosePage) {
	if !m.stopping() && m.isUnsettled(o.Page) {
		m.park(o.Page, o)
		return
	}
	o.Free = m.needsFreeing(o.Page)
	if p := m.pages.At(o.Page); p != nil && m.conn.Primary == messages.LinkUp {
		p.closing = true
	}
	m.withoutParties(o.Page, ToBrowser{o})
}

// pageKept comes when a page could not be closed.
func (m *Machine) pageKept(t messages.TargetID) {
	if p := m.pages.At(t); p != nil {
		p.closing = false
		m.coverPage(t)
	}
}

// needsFreeing says that a page may hold a dialog of a frame of another process,
// or of one that is gone (C15).
func (m *Machine) needsFreeing(t messages.TargetID) bool {
	p := m.pages.At(t)
	if p == nil {
		return false
	}
	for _, d := range m.dialogsOn(t) {
		if d.FrameID != messages.FrameID(t) {
			return true
		}
	}
	o, known := m.orphaned[t]
	return p.poisoned || p.held || known && o.frame != messages.FrameID(t) || !known && p.stuck
}

func (m *Machine) reloadPage(t messages.TargetID) {
	m.recovering[t].step = stepReloading
	m.do(ToSession{m.pages.At(t).session, mail.ReloadPage{URL: m.pages.At(t).info.URL}})
}

func (m *Machine) pageReleased(t messages.TargetID) {
	if p := m.pages.At(t); p != nil {
		m.forgive(t)
		m.coverPage(t)
		m.pageChanged(t)
	}
	if r := m.recovering[t]; r != nil && r.step == stepLeaving {
		r.step = stepAttaching
	}
}

func (m *Machine) pageReloaded(f mail.PageReloaded) {
	if r := m.recovering[f.Page]; r != nil && r.step == stepReloading && m.pages.At(f.Page).session == f.Session {
		m.endRecovery(f.Page, f.Err)
	}
}

func (m *Machine) pageShut(s PageShut) {
	// Its success is a PageClosed.
	if r := m.recovering[s.Page]; r != nil && r.step == stepClosing && s.Err != nil {
		m.endRecovery(s.Page, s.Err)
	}
}

// pageReplaced closes a page whose successor is there.
func (m *Machine) pageReplaced(o PageReplaced) {
	r := m.recovering[o.Page]
	switch {
	case r == nil || r.step != stepReplacing:
		if m.pages.At(o.New) != nil {
			m.do(ShutTab{o.New}) // it came too late, and no caller knows of it
		}
	case o.Err != nil:
		m.endRecovery(o.Page, o.Err)
	default:
		r.step, r.by = stepClosing, o.New
		if m.target == o.Page {
			m.target = o.New
		}
		m.do(ShutTab{o.Page})
	}
}

func (m *Machine) isStranded(t messages.TargetID) bool {
	e := m.sessions.At(m.pages.At(t).session)
	return e != nil && e.stranded
}

// goOn takes a recovery further for which the page had to be attached to anew.
func (m *Machine) goOn(t messages.TargetID, r *recovery) {
	p := m.pages.At(t)
	if r.step != stepAttaching && (r.step != stepLeaving || r.action != messages.RecoverReattach) ||
		p.session == "" || p.session == r.old || !m.attachedWhole(t) {
		return
	}
	if r.action == messages.RecoverReload {
		m.reloadPage(t)
		return
	}
	var err error
	if r.action == messages.RecoverRelease {
		err = m.stillWedged(t)
		if err != nil && m.pageState(t) == messages.PageDialogUnreachable && r.tries < releaseTries {
			r.tries++
			r.step, r.old = stepLeaving, p.session
			m.releasePage(t)
			return
		}
	}
	m.endRecovery(t, err)
}

// stillWedged says what is left to be done about a page that was released.
func (m *Machine) stillWedged(t messages.TargetID) error {
	switch state := m.pageState(t); state {
	case messages.PageDialogUnreachable:
		return messages.Errorf(messages.CodePageWedged, "the page still holds a dialog that no connection can reach; recover with reload, and with replace or close if that fails").
			With("page_state", state)
	case messages.PageCrashed, messages.PageHung:
		return admit.Forbids(m.known(t), messages.RecoverRelease)
	}
	return nil
}

// recoverTimer ends a recovery that takes too long; one that the page's next
// answer may still complete is not undone.
func (m *Machine) recoverTimer(name string) bool {
	if t, ok := strings.CutPrefix(name, timerRelease); ok {
		m.freePoisoned(messages.TargetID(t))
		return true
	}
	if m.parkedTimer(name) {
		return true
	}
	target, ok := strings.CutPrefix(name, timerRecover)
	if !ok {
		return false
	}
	t := messages.TargetID(target)
	if r := m.recovering[t]; r != nil {
		next := ""
		if r.action != messages.RecoverClose {
			next = "; recover with replace or close"
		}
		m.endRecovery(t, messages.Errorf(messages.CodePageWedged, "the page was not recovered within %s (%s)%s", r.action.Budget(), r.action, next).
			With("page_state", m.pageState(t)))
	}
	return true
}

// recoveryOfClosed ends the recovery of a page that is no more.
func (m *Machine) recoveryOfClosed(closed messages.Page) {
	t := closed.TargetID
	r := m.recovering[t]
	if r == nil {
		return
	}
	var err error
	switch {
	case r.action == messages.RecoverClose:
	case r.by != "" && m.pages.At(r.by) != nil:
		closed = m.page(r.by)
	default:
		err = messages.Errorf(messages.CodeTargetNotFound, "the page was closed meanwhile")
	}
	m.concludeRecovery(t, closed, err)
}

func (m *Machine) endRecovery(t messages.TargetID, err error) { m.concludeRecovery(t, m.page(t), err) }

// concludeRecovery tells of the end of page t's recovery, and which page came of it.
func (m *Machine) concludeRecovery(t messages.TargetID, page messages.Page, err error) {
	r := m.recovering[t]
	delete(m.recovering, t)
	if p := m.pages.At(t); p != nil && p.poisoned && r.action != messages.RecoverRelease {
		m.do(Arm{timerRelease + string(t), releaseGrace}) // it had to wait
	}
	outcome := &messages.Recovery{Action: r.action, Result: messages.RecoveryOK, Automatic: len(r.replies) == 0}
	if err != nil {
		outcome.Result = messages.RecoveryFailed
		if outcome.Automatic {
			m.do(Warn{Text: "a page could not be recovered", Page: t, Err: err})
		}
	}
	m.tell(messages.Event{Type: messages.EventPageRecovery, Page: &page, Recovery: outcome})
	for _, to := range r.replies {
		a := Answer{To: to, Err: err}
		if err == nil {
			a.Value = messages.RecoverResult{Page: page}
		}
		m.answers = append(m.answers, a)
	}
}

// abandonRecoveries answers every caller of one that will not end.
func (m *Machine) abandonRecoveries(err *messages.Error) {
	for _, t := range m.order {
		if r := m.recovering[t]; r != nil {
			delete(m.recovering, t)
			for _, to := range r.replies {
				m.answers = append(m.answers, Answer{To: to, Err: err})
			}
		}
	}
}

// giveAnswers comes behind what they follow from: who has an answer reads a
// snapshot that knows of it.
func (m *Machine) giveAnswers() {
	for _, a := range m.answers {
		m.do(a)
	}
	m.answers = nil
}
