package metrics

import (
	"time"

	"holdfast/messages"
)

// Observe counts a task's events.
func (m *Metrics) Observe(events []messages.Event) {
	for i := range events {
		switch e := &events[i]; e.Type {
		case messages.EventDialogOpened:
			m.opened.inc(string(e.Dialog.Type), string(e.Dialog.Path), frameOf(e.InOOPIF))
			if !e.Dialog.Heard.IsZero() {
				m.detect.observe(time.Since(e.Dialog.Heard).Seconds())
			}
		case messages.EventDialogClosed:
			m.closed.inc(string(e.Closed.ClosedBy))
			if e.Reason == messages.ReasonSessionFailed {
				m.fault.inc()
			}
			if e.Closed.Promoted {
				m.promotions.inc(promotion(e.Closed.ClosedBy))
			}
		case messages.EventPageChanged:
			if e.Was == "" {
				break
			}
			m.wedge.observe(e.Lasted.Seconds(), string(e.Was)) // a failure, or it is none of its list
			if e.Page.PageState != messages.PageOK {
				m.wedges.inc(string(e.Page.PageState))
			}
		case messages.EventPageClosed:
			m.wedge.observe(e.Lasted.Seconds(), string(e.Page.PageState))
		case messages.EventPageRecovery:
			m.recoveries.inc(string(e.Recovery.Action), string(e.Recovery.Result))
		case messages.EventTaskState:
			if e.Outcome != "" {
				m.taskEnds.inc(string(e.Outcome))
			}
		case messages.EventConnection:
			if r := e.Reconnect; r != nil {
				m.reconnects.inc(okOr(r.OK), string(r.Cause))
			}
			if e.Reason == messages.ReasonReconnected {
				m.gap.observe(float64(e.Connection.LastGapMS) / 1000)
				m.FramesResynced()
			}
		}
	}
}

// FramesResynced counts that the frames of a task were learned anew.
func (m *Metrics) FramesResynced() { m.resyncs.inc() }

func frameOf(oopif bool) string {
	if oopif {
		return frameOOPIF
	}
	return frameMain
}

func promotion(by messages.ClosedBy) string {
	if by == messages.ClosedByLost || by == messages.ClosedByRemote {
		return resultFailed
	}
	return "answered"
}

func okOr(ok bool) string {
	if ok {
		return resultOK
	}
	return resultFailed
}

// TaskStarted implements registry.Observer.
func (m *Metrics) TaskStarted(launched bool, took time.Duration) {
	kind := startAttach
	if launched {
		kind = startLaunch
	}
	m.starts.observe(took.Seconds(), kind)
}

// QueueWaited implements registry.Observer.
func (m *Metrics) QueueWaited(d time.Duration) { m.waits.observe(d.Seconds()) }

// AdmissionRejected implements registry.Observer.
func (m *Metrics) AdmissionRejected(r messages.LimitReason) { m.rejected.inc(string(r)) }

// Answered counts an answer to a dialog: how long it took from there until the
// dialog had closed, or that it came too late.
func (m *Metrics) Answered(took time.Duration, err error) {
	switch messages.CodeOf(err) {
	case "":
		m.answer.observe(took.Seconds())
	case messages.CodeDialogAlreadyAnswered, messages.CodeDialogLost:
		m.late.inc()
	}
}
