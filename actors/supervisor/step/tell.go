package step

import (
	"slices"
	"time"

	"holdfast/messages"
)

// ElsewhereAgain is how often it is looked whether the dialog of another task, for
// which a page is said to wait, is still there.
const ElsewhereAgain = 2 * time.Second

// TimerElsewhere has that looked at.
const TimerElsewhere = "elsewhere"

// Tell adds an event; the state is published at the end of the step.
func (w *Work) Tell(e messages.Event) { w.events = append(w.events, e) }

// TellConnection adds the event of a connection that has changed.
func (w *Work) TellConnection() {
	w.Tell(messages.Event{Type: messages.EventConnection, Connection: new(w.Conn)})
}

// TellError adds a console error, which is published with others after a moment.
func (w *Work) TellError(e *messages.ConsoleError) {
	w.held = append(w.held, e)
	if !w.isFlushing {
		w.isFlushing = true
		w.Do(FlushSoon{})
	}
}

// ExpectErrors makes room for n of them.
func (w *Work) ExpectErrors(n int) { w.held = slices.Grow(w.held, n) }

// Flushed says that the moment is over.
func (w *Work) Flushed() { w.isFlushing = false }

// HasNews says whether there is something to publish.
func (w *Work) HasNews() bool { return len(w.events) > 0 || !w.isFlushing && len(w.held) > 0 }

// Publish numbers and dates the events, a version each, and shows the state.
func (w *Work) Publish() {
	// What was held back shows in the snapshot that is published now, and came
	// first.
	p := Publish{Before: w.Version, At: messages.SecondsOf(w.Now), Errors: w.held, Events: w.events}
	w.Version += uint64(len(w.held))
	for i := range p.Events {
		w.Version++
		p.Events[i].TaskID, p.Events[i].Version, p.Events[i].At = w.ID, w.Version, p.At
	}
	w.held, w.events = nil, nil
	w.Do(p)
}

// Become tells of another state of the task.
func (w *Work) Become(s messages.TaskState) {
	if w.State == s {
		return
	}
	w.State = s
	w.Tell(messages.Event{Type: messages.EventTaskState, State: s, Reason: w.Reason, Outcome: w.OutcomeOf(s)})
}

// Resettle follows pages that are wedged, or are so no more.
func (w *Work) Resettle() {
	if w.State == messages.StateActive || w.State == messages.StateWedged {
		w.Become(w.Settled())
	}
}

// PageChanged tells of a page, and of what follows for the task.
func (w *Work) PageChanged(t messages.TargetID) {
	w.TellPage(messages.EventPageChanged, t)
	w.Resettle()
}

// TellPage adds the event of a page.
func (w *Work) TellPage(typ messages.EventType, t messages.TargetID) {
	if w.Pages.At(t) == nil {
		return
	}
	p, e := w.Page(t), w.Pages.At(t)
	event := messages.Event{Type: typ, Page: &p}
	if typ == messages.EventPageChanged {
		event.Changed = messages.PageChangeOf(&e.Told, &p)
	}
	e.Told = p
	if e.Shown != p.PageState {
		event.Was, event.Lasted = e.Shown, w.Now.Sub(e.Since)
		e.Shown, e.Since = p.PageState, w.Now
		if e.Shown == messages.PageBlockedElsewhere {
			w.Arm(TimerElsewhere, ElsewhereAgain)
		}
		w.Turned = append(w.Turned, t)
	}
	w.Tell(event)
}
