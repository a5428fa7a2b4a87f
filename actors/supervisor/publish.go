package supervisor

import (
	"context"
	"log/slog"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func (a *Actor) publish(c *guard.Context, p step.Publish) {
	events := p.Events
	snap := a.machine.Snapshot()
	shown := &view.View{
		Snapshot: snap, Scope: a.cfg.Spec.Scope, IsLaunched: a.cfg.Spec.Launch != nil, Context: a.machine.Context,
		IsRestricted: a.cfg.Spec.IsRestricted, Downloads: a.downloadDir, Wanted: a.remember,
	}
	if snap.Active {
		if !a.isViewed || len(events) > 0 {
			a.views, a.isViewed = a.sessionViews(), true
		}
		shown.Supervisor, shown.Dialogs, shown.Browser, shown.Anchor, shown.Sessions, shown.Trees = a.self, a.pid(a.dialogs, childDialog), a.root, a.anchorRoot, a.views, a.machine.Trees
	}
	if a.isHidden {
		a.cfg.Board.Publish(shown, view.News(p)) // which its node alone looks at
		return
	}
	if !snap.Active {
		// Before the board as well: a start by a reader of that state is one anew.
		c.Send(a.cfg.Registry, mail.TaskEnding{ID: a.cfg.ID, Gen: a.cfg.Gen})
	}
	a.logEvents(events, snap) // before the board: a reader of the state finds its line
	a.cfg.Board.Publish(shown, view.News(p))
	for i := range events {
		switch e := &events[i]; e.Type {
		case messages.EventPageOpened:
			a.cfg.Owners.Claim(e.Page.TargetID, a.cfg.ID)
			// Who has ended since the page's session was told finds it on the board, or
			// here: it remembers before it looks.
			for _, l := range a.cfg.Owners.Left(e.Page.TargetID) {
				c.Send(a.self, l)
			}
		case messages.EventPageClosed:
			a.wanted.Forget(e.Page.TargetID)
			a.cfg.Owners.Release(e.Page.TargetID, a.cfg.ID)
		}
	}
	if a.cfg.Observe != nil && len(events) > 0 {
		a.cfg.Observe(events)
	}
}

func (a *Actor) logEvents(events []messages.Event, snap *messages.Snapshot) {
	for i := range events {
		switch e := &events[i]; e.Type {
		case messages.EventTaskState:
			a.logState(*e, snap)
		case messages.EventDialogClosed:
			a.logClosed(e.Closed)
		case messages.EventBlockerClosed:
			a.logBlocker(e.ClosedBlocker)
		}
	}
}

// logClosed writes who has answered a dialog where no caller has: the audit of callers' answers is
// the gate's.
func (a *Actor) logClosed(d *messages.ClosedDialog) {
	switch d.ClosedBy {
	case messages.ClosedByWatchdog:
		a.log.Warn("a dialog was not answered in time and was dismissed", "dialog", d.ID, "type", d.Type, "target", d.TargetID)
	case messages.ClosedByRule, messages.ClosedByAutoPolicy:
		level := slog.LevelDebug
		if a.cfg.IsAudited {
			level = slog.LevelInfo
		}
		a.log.Log(context.Background(), level, "audit", "audit", "dialog", "who", string(d.ClosedBy), "action", string(d.Action), "dialog", d.ID, "rule", d.Rule)
	}
}

// logBlocker is logClosed for a blocker.
func (a *Actor) logBlocker(b *messages.ClosedBlocker) {
	switch b.ClosedBy {
	case messages.ClosedByWatchdog:
		a.log.Warn("a blocker was not answered in time and was dismissed", "blocker", b.ID, "type", b.Type, "target", b.TargetID)
	case messages.ClosedByAutoPolicy:
		level := slog.LevelDebug
		if a.cfg.IsAudited {
			level = slog.LevelInfo
		}
		a.log.Log(context.Background(), level, "audit", "audit", "blocker", "who", string(b.ClosedBy), "action", string(b.Action), "blocker", b.ID, "type", b.Type)
	}
}

// logState writes the one line per state change that operators read.
func (a *Actor) logState(e messages.Event, snap *messages.Snapshot) {
	level := slog.LevelInfo
	switch e.State {
	case messages.StateRecovering, messages.StateWedged:
		level = slog.LevelWarn
	case messages.StateLost:
		level = slog.LevelError
	}
	attrs := []slog.Attr{slog.String("state", string(e.State)), slog.Uint64("version", e.Version)}
	now := time.Now()
	if a.state != "" {
		attrs = append(attrs, slog.String("previous", string(a.state)), slog.Float64("previous_s", now.Sub(a.stateSince).Seconds()))
	}
	if e.State == messages.StateWedged {
		attrs = append(attrs, slog.String("target", string(snap.PageTargetID)), slog.String("page_state", string(snap.PageState)))
	}
	reason := e.Reason
	if reason == "" && e.State == messages.StateRecovering && a.linkErr != nil {
		reason = model.ReasonOf(a.linkErr)
	}
	if reason != "" {
		attrs = append(attrs, slog.String("reason", reason))
	}
	a.state, a.stateSince = e.State, now
	a.log.LogAttrs(context.Background(), level, "task is "+string(e.State), attrs...)
}

func (a *Actor) warn(w step.Warn) {
	attrs := []any{"target", w.Page}
	if w.Err != nil {
		attrs = append(attrs, "code", messages.CodeOf(w.Err)) // its text may be the browser's
	}
	a.log.Warn(w.Text, attrs...)
}

// tooMany counts what was left for the task has too much of it.
func (a *Actor) tooMany(t effect.TooMany) {
	if t.IsPages {
		a.cfg.Bounds.Hit(shed.Pages)
		a.log.Warn("the task has as many pages as it may, others are left to themselves", "pages", effect.MaxPages)
		return
	}
	a.cfg.Bounds.Hit(shed.Sessions)
	a.log.Warn("the task has as many sessions as it may, further frames of other processes are left to themselves")
}

// sessionViews are the sessions as callers meet them, with their ports.
func (a *Actor) sessionViews() (views smallmap.Map[messages.SessionID, view.Session]) {
	views.Grow(a.machine.Sessions.Len())
	for s, e := range a.machine.Sessions.All() {
		views.Set(s, view.Session{Known: a.machine.KnownOf(s, e), Port: a.ports.At(s), Target: e.Cfg.Target, Page: e.Cfg.Page})
	}
	return views
}

// State is what the machine knows, for the log of a panic.
func (a *Actor) State() string { return a.machine.Report() }
