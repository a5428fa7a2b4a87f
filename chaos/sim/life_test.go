package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdfast/chaos"
	"holdfast/chaos/plan"
	"holdfast/messages"
)

// act does what a step says.
func (w *world) act(s plan.Step) {
	t := w.tasks[s.Task]
	if s.HasDialog && isLinkFault(s.Kind) {
		w.openDialog(t, s.Pick[2])
		w.quiet()
	}
	switch s.Kind {
	case plan.Navigate:
		w.navigate(t, s)
	case plan.UserNavigate:
		if p, ok := t.page(s.Pick[0]); ok {
			t.host.now().Navigate(p.Target, address(s.Pick[1]))
		}
	case plan.AddFrame:
		w.addFrame(t, s)
	case plan.NavigateFrame:
		w.navigateFrame(t, s)
	case plan.RemoveFrame:
		w.removeFrame(t, s)
	case plan.OpenPopup:
		if p, ok := t.page(s.Pick[0]); ok && len(t.pages()) < 5 {
			if f, ok := t.frame(p.Target, s.Pick[1], func(f chaos.Frame) bool { return !f.IsLoading }); ok {
				t.host.now().OpenPopup(f.ID, address(s.Pick[2]))
			}
		}
	case plan.ClosePage:
		// The last one stays: what a task without pages does is known.
		if p, ok := t.page(s.Pick[0]); ok && len(t.pages()) > 1 {
			t.host.now().ClosePage(p.Target)
		}
	case plan.OpenTab:
		w.openTab(t, s)
	case plan.CloseTab:
		if p, ok := t.page(s.Pick[0]); ok && len(t.pages()) > 1 {
			t.clearShared()
			w.cdp(t, "Target.closeTarget", "", fmt.Sprintf(`{"targetId":%q}`, p.Target), 10, nil)
		}
	case plan.OpenDialog:
		w.openDialog(t, s.Pick[0])
	case plan.Answer:
		w.answerOne(t, s)
	case plan.UserAnswer:
		w.userAnswer(t, s)
	case plan.Evaluate:
		if p, ok := t.page(s.Pick[0]); ok {
			w.evaluate(t, p.Target, messages.FrameID(p.Target), s.Pick[1])
		}
	case plan.EvaluateFrame:
		w.evaluateFrame(t, s)
	case plan.Console:
		if p, ok := t.page(s.Pick[0]); ok {
			for i := range s.Count {
				t.host.now().LogError(messages.FrameID(p.Target), fmt.Sprint("oh dear ", i))
			}
		}
	case plan.Read:
		w.read(t, s)
	case plan.Revive:
		w.revive(t)
	case plan.Restart:
		firm := t.firm()
		t.stop(s.Pick[0])
		w.checkStopped(t)
		if firm {
			w.checkGone(t)
		}
		t.start(s.Pick[1])
		w.fault(0)
	case plan.Rebind:
		w.rebind(t, s)
	default:
		if slices.Contains(plan.ClientKinds(), s.Kind) {
			w.actOfClient(t, s)
			return
		}
		w.inject(t, s)
	}
}

// isLinkFault says whether a dialog that is open makes a difference to the
// fault.
func isLinkFault(k plan.Kind) bool {
	switch k {
	case plan.ResetPrimary, plan.ResetAnchor, plan.ResetBoth, plan.ResetAll, plan.CleanClose, plan.HalfOpen, plan.Stall,
		plan.DialRefused, plan.DialError, plan.DialSlow, plan.DialBlackHole, plan.ActorPanic, plan.Detach, plan.BrowserRestart,
		plan.Outage, plan.LateEnd:
		return true
	}
	return false
}

// address is one of a few documents on three sites.
func address(pick uint32) string {
	path := []string{"p", "q", "frames", "slow", "asks"}[pick/3%5]
	return fmt.Sprintf("http://%c.test/%s", 'a'+rune(pick%3), path)
}

func (w *world) navigate(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok {
		return
	}
	r := messages.NavigateRequest{URL: address(s.Pick[1]), TargetID: p.Target, TimeoutS: 5}
	w.begin(t, fmt.Sprintf("%s: navigate %s to %s", t.id, w.trace.name("p", string(p.Target)), r.URL), 5*time.Second+answerBudget,
		func(ctx context.Context) (any, error) { return w.agentFor(s.Pick[2]).Navigate(ctx, t.id, r) }, nil)
}

func (w *world) addFrame(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok || len(t.host.now().FramesOf(p.Target)) > 20 {
		return
	}
	if f, ok := t.frame(p.Target, s.Pick[1], func(chaos.Frame) bool { return true }); ok {
		id := t.host.now().AddFrame(f.ID, address(s.Pick[2]))
		w.trace.say("%s in %s", w.trace.name("f", string(id)), w.trace.name("f", string(f.ID)))
	}
}

func isChild(f chaos.Frame) bool { return f.Parent != "" }

func (w *world) navigateFrame(t *task, s plan.Step) {
	if p, ok := t.page(s.Pick[0]); ok {
		if f, ok := t.frame(p.Target, s.Pick[1], isChild); ok {
			t.host.now().NavigateFrame(f.ID, address(s.Pick[2]))
		}
	}
}

// removeFrame removes one without a dialog in or below it.
func (w *world) removeFrame(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok || p.Dialogs > 0 {
		return
	}
	if _, waits := t.frame(p.Target, 0, func(f chaos.Frame) bool { return f.IsHanging || f.IsPaused && !f.IsOOPIF }); waits {
		return // it would be removed later, under whatever dialog is open by then
	}
	if f, ok := t.frame(p.Target, s.Pick[1], isChild); ok {
		t.host.now().RemoveFrame(f.ID)
	}
}

func (w *world) openTab(t *task, s plan.Step) {
	if len(t.pages()) >= 5 {
		return
	}
	own := t.own
	w.cdp(t, "Target.createTarget", "", fmt.Sprintf(`{"url":%q}`, address(s.Pick[0])), 10, func(v any, err error) {
		if err == nil {
			var made struct{ TargetID messages.TargetID }
			mustUnmarshal(v.(messages.CDPResult).Result, &made)
			w.mu.Lock()
			own[made.TargetID] = true // read by the driver only when all is quiet
			w.mu.Unlock()
		}
	})
	// Whether a tab was made whose reply was lost is for the task to say.
	t.tabs++
}

// openDialog has a frame of the task raise one.
func (w *world) openDialog(t *task, pick uint32) *dialog {
	p, ok := t.page(pick)
	if !ok || p.Dialogs > 0 {
		return nil
	}
	f, ok := t.frame(p.Target, pick>>4, func(f chaos.Frame) bool { return !f.IsHanging && !f.IsLoading })
	if !ok {
		return nil
	}
	d := w.dialogs.raise(t.host.now(), f.ID, pick>>8)
	w.trace.say("%s raises %s %q in %s", w.trace.name("p", string(p.Target)), d.kind, d.message, w.trace.name("f", string(f.ID)))
	return d
}

// shown picks one of the dialogs that wait for the task's agents.
func (t *task) shown(pick uint32) (messages.Dialog, bool) {
	s := t.snapshot()
	if s == nil || len(s.PendingDialogs) == 0 {
		return messages.Dialog{}, false
	}
	return s.PendingDialogs[pick%uint32(len(s.PendingDialogs))], true
}

// answerOne has several callers answer one dialog at once; where none is open,
// one is opened first.
func (w *world) answerOne(t *task, s plan.Step) {
	d, ok := t.shown(s.Pick[0])
	if !ok {
		w.openDialog(t, s.Pick[1])
		w.quiet()
		if d, ok = t.shown(s.Pick[0]); !ok {
			return
		}
	}
	for caller := range s.Count {
		w.answer(t, d, caller, s.Pick[2])
	}
}

// userAnswer closes a dialog at the screen.
func (w *world) userAnswer(t *task, s plan.Step) {
	for _, d := range t.host.now().OpenDialogs() {
		if t.own[d.Page()] && !d.IsPoisoned() {
			t.host.now().CloseDialog(d, s.Count%2 == 0, "")
			return
		}
	}
}

func (w *world) evaluateFrame(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok {
		return
	}
	if f, ok := t.frame(p.Target, s.Pick[1], func(f chaos.Frame) bool { return f.IsOOPIF && !f.IsLoading }); ok {
		w.evaluate(t, p.Target, f.ID, s.Pick[2])
	}
}

// read does what only looks: it has to be answered whatever else is going on.
func (w *world) read(t *task, s plan.Step) {
	for range s.Count {
		w.begin(t, fmt.Sprintf("%s: read", t.id), time.Second, func(ctx context.Context) (any, error) {
			if _, err := w.client.Tasks(ctx, nil); err != nil {
				return nil, err
			}
			snap, err := w.client.Snapshot(ctx, t.id, messages.SnapshotOptions{Full: true})
			if err != nil {
				return nil, err
			}
			return nil, w.client.Renew(ctx, snap.TaskID)
		}, nil)
	}
}

// revive brings back what has crashed, hangs or is stuck, the way an agent or a
// person does.
func (w *world) revive(t *task) {
	b := t.host.now()
	for _, p := range t.pages() {
		if p.IsBusy {
			b.Unspin(p.Target)
		}
		for _, f := range b.FramesOf(p.Target) {
			if f.IsOOPIF {
				b.Unspin(f.Target)
			}
		}
	}
	for _, d := range b.OpenDialogs() {
		if t.own[d.Page()] && !d.IsPoisoned() && d.Answerable() == 0 {
			b.CloseDialog(d, false, "")
		}
	}
	w.quiet()
	for _, p := range t.pages() {
		if p.IsCrashed {
			w.cdp(t, "Page.reload", p.Target, "", 5, nil)
		}
		for _, f := range b.FramesOf(p.Target) {
			if f.IsOOPIF && f.IsHanging && !f.HasDialog {
				b.NavigateFrame(f.ID, "http://c.test/again")
			}
		}
	}
}

// heal makes everything whole, for a last look.
func (w *world) heal() {
	for len(w.outages) > 0 {
		w.pause(time.Until(w.outages[len(w.outages)-1].until))
	}
	for round := 0; round < 3; round++ {
		w.settle()
		if w.failed() {
			return
		}
		for _, t := range w.tasks {
			w.breaker.disarm(string(t.id))
			if s := t.snapshot(); s != nil {
				for _, d := range s.PendingDialogs {
					w.answer(t, d, 0, 0)
				}
			}
			w.quiet()
			w.revive(t)
		}
		w.pause(time.Second)
	}
}

// rebind puts the task on what is another browser by its address, with one PUT.
func (w *world) rebind(t *task, s plan.Step) {
	next := t.plan
	next.IsDirect = !next.IsDirect
	t.leave()
	old := t.host
	t.plan, t.host = next, w.hosts[next.Browser]
	t.start(s.Pick[0])
	w.fault(0)
	if _, _, left := old.links(t.index); old != t.host && len(left) > 0 {
		w.violate("%s has left b%d and keeps %d links to it", t.id, old.index, len(left))
	}
}

// checkStopped holds a task that was stopped to having left its browser.
func (w *world) checkStopped(t *task) {
	w.quiet()
	if _, _, left := t.host.links(t.index); len(left) > 0 {
		w.violate("%s was stopped and keeps %d links", t.id, len(left))
	}
	if s := t.snapshot(); s != nil && s.Active {
		w.violate("%s was stopped and is %s", t.id, s.State)
	}
}

// firm says whether one of the task's links stands, and none that the node takes
// for standing is silent.
func (t *task) firm() bool {
	s := t.snapshot()
	if s == nil || t.w.breaker.waits(string(t.id)) {
		return false
	}
	primary, anchor, all := t.host.links(t.index)
	up := 0
	for c, state := range map[*chaos.Conn]messages.LinkState{primary: s.Connection.Primary, anchor: s.Connection.Anchor} {
		if state != messages.LinkUp {
			continue
		}
		if up++; c == nil || !slices.Contains(all, c) {
			return false
		}
	}
	return up > 0
}

// checkGone holds a task that was stopped while a link of it stood to having
// closed its tabs.
func (w *world) checkGone(t *task) {
	if t.plan.Scope != messages.ScopeOwn {
		return
	}
	for _, p := range t.host.now().Pages() {
		if t.own[p.Target] {
			w.violate("%s was stopped and page %s is left", t.id, w.trace.name("p", string(p.Target)))
		}
	}
}
