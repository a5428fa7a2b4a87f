package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// dialog is one dialog of a page: what became of it, and what was said of it.
type dialog struct {
	message string
	kind    chaos.DialogType
	byText  string // the default text of a prompt
	fake    *chaos.Dialog
	raised  time.Time
	// mayBeLost says, by task, why the loss is no fault.
	mayBeLost map[messages.TaskID]string
	given     []given
	seen      map[messages.TaskID]messages.DialogID
	bridged   map[messages.TaskID]bool
	closedBy  map[messages.TaskID]messages.ClosedBy
	closedAt  map[messages.TaskID]time.Time
	confirmed int // callers who were told that theirs was the answer
	// cut says that the outcome of an answer was cut off. The event that the dialog has
	// closed names neither it nor the client that closed it (C1): a close that matches the
	// answer is taken for it.
	cut       bool
	explained bool
	checked   bool
}

// given is an answer that was given.
type given struct {
	accept bool
	text   *string
}

// dialogs are all dialogs that the plan has opened, by their message.
type dialogs struct {
	w  *world
	mu sync.Mutex
	by map[string]*dialog
	in []*dialog // in order
	// byClients are the answers of CDP clients, which name no dialog.
	byClients []*clientAnswer
}

// raise has a script of the frame open a dialog.
func (d *dialogs) raise(b *chaos.Browser, frame messages.FrameID, pick uint32) *dialog {
	return d.raiseBy(func(o *dialog) *chaos.Dialog { return b.OpenDialog(frame, o.kind, o.message, o.byText) }, pick)
}

// raiseBy has a dialog opened by open; nil is none.
func (d *dialogs) raiseBy(open func(*dialog) *chaos.Dialog, pick uint32) *dialog {
	d.mu.Lock()
	o := &dialog{
		message: fmt.Sprintf("dialog-%d", len(d.in)+1), raised: time.Now(),
		kind: []chaos.DialogType{chaos.Alert, chaos.Confirm, chaos.Prompt}[pick%3],
		seen: map[messages.TaskID]messages.DialogID{}, closedBy: map[messages.TaskID]messages.ClosedBy{},
		closedAt:  map[messages.TaskID]time.Time{},
		mayBeLost: map[messages.TaskID]string{}, bridged: map[messages.TaskID]bool{},
	}
	if o.kind == chaos.Prompt {
		o.byText = "default of " + o.message
	}
	o.fake = open(o) // no reader can have heard of it: mu is held
	if o.fake == nil {
		d.mu.Unlock()
		return nil
	}
	d.in, d.by[o.message] = append(d.in, o), o
	d.mu.Unlock()
	if r, over := o.fake.Result(); over && r.By == chaos.ClosedByNothing && d.w.calm && d.w.bridges(o.fake.Page()) {
		d.w.violate("%q was asked over the bridge of a task at rest, and nobody was told", o.message)
	}
	return o
}

func (d *dialogs) opened(t *task, m messages.Dialog) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.by[m.Message]
	if o == nil {
		if m.Message != "" {
			d.w.violate("%s: dialog %q was never raised", t.id, m.Message)
		}
		return
	}
	if o.bridged[t.id] && o.closedBy[t.id] == messages.ClosedByLost {
		// Another task's debugger held the page, and there was a link again.
		delete(o.closedBy, t.id)
	} else if o.seen[t.id] != "" {
		d.w.violate("%s: dialog %q was announced as %s and as %s", t.id, m.Message, o.seen[t.id], m.ID)
	}
	if string(m.Type) != string(o.kind) || m.DefaultPrompt != o.byText {
		d.w.violate("%s: dialog %q is announced as %+v", t.id, m.Message, m)
	}
	o.seen[t.id], o.bridged[t.id] = m.ID, m.Path == messages.PathBridge
}

func (d *dialogs) closed(t *task, m messages.ClosedDialog) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o := d.by[m.Message]; o != nil {
		o.closedBy[t.id], o.closedAt[t.id] = m.ClosedBy, time.Now()
	}
}

// answer has a caller answer one of the dialogs that a task shows.
func (w *world) answer(t *task, shown messages.Dialog, caller int, pick uint32) {
	a := messages.DialogAnswer{Action: messages.ActionDismiss, DialogID: shown.ID}
	g := given{}
	if (pick>>caller)%2 == 0 {
		a.Action, g.accept = messages.ActionAccept, true
	}
	if shown.Type == "prompt" && (pick>>(caller+8))%3 > 0 {
		text := fmt.Sprintf("%s by caller %d", shown.Message, caller)
		a.PromptText, g.text = &text, &text
	}
	w.dialogs.mu.Lock()
	o := w.dialogs.by[shown.Message]
	if o != nil {
		o.given = append(o.given, g)
	}
	w.dialogs.mu.Unlock()
	what := fmt.Sprintf("%s: answer %d to %q", t.id, caller, shown.Message)
	w.begin(t, what, answerBudget, func(ctx context.Context) (any, error) {
		return w.agentFor(uint32(caller)).Respond(ctx, t.id, a)
	}, func(v any, err error) {
		if err != nil || o == nil {
			return
		}
		closed := v.(messages.ClosedDialog)
		w.dialogs.mu.Lock()
		o.confirmed++
		twice, deaf := o.confirmed > 1 && !o.cut, o.mayBeLost[t.id] != ""
		w.dialogs.mu.Unlock()
		if twice {
			w.violate("%s: two callers were told that theirs was the answer", what)
		}
		if closed.ClosedBy != messages.ClosedByAgent {
			w.violate("%s: closed by %s and no error", what, closed.ClosedBy)
		}
		// Without the actor's last messages, the answer may have met the dialog
		// that came next: it names none.
		if r, over := o.fake.Result(); !deaf && (!over || r.By != chaos.ClosedByAnswer && !o.cut || !g.got(o, r)) {
			w.violate("%s: told that it won, and the page got %+v", what, r)
		}
	})
}

// got says whether the page got what the caller gave.
func (g given) got(o *dialog, r chaos.DialogResult) bool {
	if o.kind == chaos.Alert {
		return true
	}
	if g.accept != r.IsAccepted {
		return false
	}
	if o.kind != chaos.Prompt || !g.accept {
		return r.Text == ""
	}
	if g.text != nil {
		return r.Text == *g.text
	}
	return r.Text == o.byText // without a text: the default (C3)
}

// check holds every dialog to: answered at most once, with an answer that was given; none
// lost while a link could reach it.
func (d *dialogs) check() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.in {
		if o.checked {
			continue
		}
		r, over := o.fake.Result()
		for id, by := range o.closedBy {
			switch {
			case by == messages.ClosedByLost && o.fake.IsDoomed():
			case by == messages.ClosedByLost && o.bridged[id] && (r.By == chaos.ClosedByNavigation || r.By == chaos.ClosedByCrash):
				// A document that goes says nothing, and its task may have lost its
				// link before it heard of the next.
			case by == messages.ClosedByLost && d.w.task(id).isLost():
				// The dialog ends with its task; restartLost judges whether that might be lost.
			case by == messages.ClosedByLost && isLeftAlone(r, over):
			case by == messages.ClosedByLost && r.IsUntold && r.Host == d.w.task(id).host.name(d.w.task(id).index):
				// No link was left that could say that the page has the task's answer.
			case by == messages.ClosedByLost && o.mayBeLost[id] == "":
				d.w.violate("%s: dialog %q was lost while it could be answered; over %v, %+v", id, o.message, over, r)
			case !over && by != messages.ClosedByLost && o.mayBeLost[id] == "" && !d.w.task(id).leaving:
				d.w.violate("%s: dialog %q is said to be closed by %s and stands open", id, o.message, by)
			}
		}
		if !over {
			continue
		}
		o.checked = len(o.closedBy) == len(o.seen)
		if r.By != chaos.ClosedByAnswer {
			continue
		}
		o.explained = o.explained || d.explained(o, r)
		if !o.explained {
			d.w.violate("dialog %q got %+v, which nobody gave: %+v", o.message, r, o.given)
		}
	}
}

func (w *world) task(id messages.TaskID) *task {
	return w.tasks[slices.IndexFunc(w.tasks, func(t *task) bool { return t.id == id })]
}

// explained says whether a caller, or the task's spec, gave that answer.
func (d *dialogs) explained(o *dialog, r chaos.DialogResult) bool {
	for _, g := range o.given {
		if g.got(o, r) {
			return true
		}
	}
	// A task that has not heard of the end of the page's last dialog answers that,
	// and the answer names none (C1).
	for _, last := range d.in {
		if last == o || last.fake.Page() != o.fake.Page() {
			continue
		}
		for _, why := range last.mayBeLost {
			if why == deafened && slices.ContainsFunc(last.given, func(g given) bool { return g.got(last, r) || g.got(o, r) }) {
				return true
			}
		}
	}
	if d.isStray(o, r) || d.isOfClient(o, r) {
		return true
	}
	for _, t := range d.w.tasks {
		_, saw := o.seen[t.id]
		// A supervisor that was broken took along what it had to tell of a dialog,
		// and not the answer, which the dialog actor gives.
		if !saw && !(r.Host == t.host.name(t.index) && d.w.breaker.hasBroken(t.id, "supervisor")) {
			continue
		}
		policy := given{accept: t.plan.Policy == messages.PolicyAutoAccept}
		if t.plan.Policy != messages.PolicyMustRespond && policy.got(o, r) {
			return true
		}
		patience := t.plan.DialogTimeout
		if patience == 0 {
			patience = messages.DefaultDialogTimeout
		}
		// A task that is lost takes its tabs along.
		failed, _ := t.watch.failures()
		lost := t.plan.Scope == messages.ScopeOwn && failed >= maxFailures
		if (t.leaving || lost || time.Since(o.raised) >= patience) && (given{}).got(o, r) {
			return true
		}
	}
	return false
}

// isStray says whether o may have got an answer that was under way to another dialog of its
// page when that went with its document. The answer names no dialog (C1), so it meets the one
// that opens next, and that one's answer the one behind it.
func (d *dialogs) isStray(o *dialog, r chaos.DialogResult) bool {
	if r.Text != "" {
		return false
	}
	for _, gone := range d.in {
		end, over := gone.fake.Result()
		if gone == o || gone.fake.Page() != o.fake.Page() || !over || end.By != chaos.ClosedByNavigation {
			continue
		}
		for id, by := range gone.closedBy {
			isAnswered := by == messages.ClosedByAgent || by == messages.ClosedByAutoPolicy || by == messages.ClosedByWatchdog
			if !isAnswered || o.raised.Sub(gone.closedAt[id]) > time.Second {
				continue
			}
			accepts := slices.ContainsFunc(gone.given, func(g given) bool { return g.accept == r.IsAccepted })
			if accepts || (d.w.task(id).plan.Policy == messages.PolicyAutoAccept) == r.IsAccepted {
				return true
			}
		}
	}
	return false
}

// excuse lets open dialogs be lost for a task: those on its pages, by its own
// account.
func (d *dialogs) excuse(t *task, why string) {
	d.excuseAt(t, why, time.Now().Add(1))
}

// excuseAt does so after the event: it lets those be lost that were not said to be
// over before then.
func (d *dialogs) excuseAt(t *task, why string, then time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.in {
		if _, over := o.fake.Result(); over && o.closedBy[t.id] != "" && o.closedAt[t.id].Before(then) {
			continue
		}
		if t.own[o.fake.Page()] && o.mayBeLost[t.id] == "" {
			o.mayBeLost[t.id] = why
		}
	}
}

// excuseOpen lets what stands open in the task's browser be lost, also in a page
// that the driver does not know for the task's yet.
func (d *dialogs) excuseOpen(t *task, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range t.host.now().OpenDialogs() {
		if o := d.record(f); o != nil && o.mayBeLost[t.id] == "" {
			o.mayBeLost[t.id] = why
		}
	}
}

// cut notes which dialogs stand open with answers under way, whose link is about
// to be cut.
func (d *dialogs) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.in {
		if _, over := o.fake.Result(); !over && len(o.given) > 0 {
			o.cut = true
		}
	}
}

// look excuses what a task has no session any more to answer by, by the
// browsers' own account.
func (d *dialogs) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.in {
		if r, over := o.fake.Result(); isLeftAlone(r, over) {
			for _, t := range d.w.tasks {
				if o.seen[t.id] != "" && o.mayBeLost[t.id] == "" {
					o.mayBeLost[t.id] = "nobody was left to answer it"
				}
			}
		}
	}
	for _, t := range d.w.tasks {
		for _, f := range t.host.now().OpenDialogs() {
			if o := d.record(f); o != nil && !t.reaches(f) && o.mayBeLost[t.id] == "" {
				o.mayBeLost[t.id] = "it had no session left to answer by"
			}
		}
	}
}

// isLeftAlone says whether a dialog ended since no session was left to answer it.
func isLeftAlone(r chaos.DialogResult, over bool) bool {
	return over && (r.By == chaos.ClosedByNothing || r.IsAlone)
}

// reaches says whether one of the task's links can answer the dialog.
func (t *task) reaches(f *chaos.Dialog) bool {
	return slices.ContainsFunc(f.Audience(), func(c *chaos.Conn) bool {
		return c.Host() == t.host.name(t.index) && !t.w.zombie(c)
	})
}

// over says whether the dialog of that message is.
func (d *dialogs) over(message string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.by[message]
	if o == nil {
		return false
	}
	_, over := o.fake.Result()
	return over
}

// record is what is known of a browser's dialog, nil for one that no plan raised. With mu
// held.
func (d *dialogs) record(f *chaos.Dialog) *dialog {
	for _, o := range d.in {
		if o.fake == f {
			return o
		}
	}
	return nil
}

// excused says whether the task may have lost a dialog.
func (d *dialogs) excused(t *task, f *chaos.Dialog) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.record(f)
	if o == nil { // a beforeunload, which no step raises by name
		return t.deafened
	}
	return o.mayBeLost[t.id] != ""
}
