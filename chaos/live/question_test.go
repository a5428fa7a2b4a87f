package live_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdfast/chaos"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// question is a dialog of the browser and what the agents do about it.
type question struct {
	*drill
	dialog *chaos.Dialog
	id     messages.DialogID

	mu    sync.Mutex
	given map[string]error // answers, with what came of them
}

// ask opens a dialog and waits until the node shows it.
func (d *drill) ask(i int, k kill) (*question, error) {
	frame := d.browser.MainFrame(d.page)
	if k.inFrame {
		frame = d.iframe()
	}
	// Only what both links hear of may have either killed at no loss. That the anchor
	// is up does not say so: a page that is slow to answer it is not waited for.
	if err := eventually(d.heard); err != nil {
		return nil, fmt.Errorf("both links listening: %w", err)
	}
	message := fmt.Sprintf("%s asks %d", d.id, i)
	q := &question{drill: d, given: map[string]error{}, dialog: d.browser.OpenDialog(frame, k.dialog, message, "the default")}
	if q.dialog == nil {
		return nil, fmt.Errorf("there is no frame %s", frame)
	}
	d.asked++
	_, err := d.await("the dialog", func(s *messages.Snapshot) bool {
		for _, p := range s.PendingDialogs {
			if p.Message == message {
				q.id = p.ID
			}
		}
		return q.id != ""
	})
	return q, err
}

// heard says whether, by the browser, both links get the page's dialogs, and no earlier
// link is left.
func (d *drill) heard() bool {
	list := d.browser.Sessions(d.page)
	return len(list) == 2 && list[0].Conn != list[1].Conn && list[0].IsPageEnabled && list[1].IsPageEnabled
}

// settle lets two agents answer, each until the dialog is closed, and judges
// what came of it.
func (q *question) settle(k kill, mend func()) error {
	var agents sync.WaitGroup
	for who := range 2 {
		agents.Go(func() { q.agent(who, k.think) })
	}
	agents.Wait()
	s, err := q.await("the end of "+string(q.id), func(s *messages.Snapshot) bool { return q.closed(s) != nil })
	if err != nil {
		return err
	}
	closed := q.closed(s)
	if closed.ClosedBy == messages.ClosedByLost {
		mend() // to the browser, a client behind a dead path is a client
		return q.lostFor(k)
	}
	select {
	case <-q.dialog.Done():
	case <-time.After(chromiumtest.Patience):
		return fmt.Errorf("%s is said to be closed by %s, and is open", q.id, closed.ClosedBy)
	}
	return q.judge(closed)
}

func (q *question) closed(s *messages.Snapshot) *messages.ClosedDialog {
	for _, c := range s.RecentDialogs {
		if c.ID == q.id {
			return &c
		}
	}
	return nil
}

// agent answers until there is nothing left to answer.
func (q *question) agent(who int, think time.Duration) {
	for try := 0; ; try++ {
		<-time.After(think)
		if q.closed(q.snapshot()) != nil {
			return
		}
		text := fmt.Sprintf("%s, says %d for the %d. time", q.id, who, try)
		_, err := q.node.Respond(context.Background(), q.drill.id, messages.DialogAnswer{
			Action: messages.ActionAccept, PromptText: &text, DialogID: q.id,
		})
		q.trace.add("answer %q: %v", text, err)
		q.mu.Lock()
		q.given[text] = err
		q.mu.Unlock()
		switch messages.CodeOf(err) {
		case "", messages.CodeDialogAlreadyAnswered, messages.CodeDialogLost:
			return
		case messages.CodeUpstreamUnavailable, messages.CodeDeadline:
			// An agent that hears this looks whether the dialog still waits.
		default:
			q.wrong("answer %q: %w", text, err)
			return
		}
	}
}

// judge compares what the page got with what the agents were told.
func (q *question) judge(closed *messages.ClosedDialog) error {
	r, _ := q.dialog.Result()
	q.mu.Lock()
	defer q.mu.Unlock()
	var errs []error
	if r.By != chaos.ClosedByAnswer || !r.IsAccepted || closed.ClosedBy != messages.ClosedByAgent && closed.ClosedBy != messages.ClosedByRemote {
		errs = append(errs, fmt.Errorf("%s: the page got %+v, the node says %+v", q.id, r, closed))
	}
	wins := 0
	for text, err := range q.given {
		if err == nil {
			wins++
			if r.Text != "" && r.Text != text {
				errs = append(errs, fmt.Errorf("%q has won, and the page got %q", text, r.Text))
			}
		}
	}
	if _, known := q.given[r.Text]; r.Text != "" && !known {
		errs = append(errs, fmt.Errorf("the page got %q, which nobody said", r.Text))
	}
	if wins > 1 {
		errs = append(errs, fmt.Errorf("%d answers to %s have won", wins, q.id))
	}
	return errors.Join(errs...)
}

// lostFor is the end of a dialog that no link could reach any more.
func (q *question) lostFor(k kill) error {
	if k.target != messages.LinksBoth {
		return fmt.Errorf("%s was lost, and a link lived: %d sessions can answer it", q.id, q.dialog.Answerable())
	}
	if err := eventually(func() bool { return q.dialog.Answerable() == 0 }); err != nil {
		return fmt.Errorf("%s is said to be lost, and %d sessions can answer it: %w", q.id, q.dialog.Answerable(), err)
	}
	if r, done := q.dialog.Result(); done {
		return fmt.Errorf("%s is said to be lost, and was closed: %+v", q.id, r)
	}
	return q.freed()
}

// freed waits until the page is said to be unreachable, and frees it.
func (q *question) freed() error {
	q.lost++
	_, err := q.await("a page that is said to be unreachable", func(s *messages.Snapshot) bool {
		return s.Connection.Primary == messages.LinkUp && s.State == messages.StateWedged && s.PageState == messages.PageDialogUnreachable
	})
	if err != nil {
		return err
	}
	q.trace.add("%s was lost with both links; free the page", q.id)
	return q.free()
}

// free releases the page: it keeps its state, and the dialog is dismissed.
func (q *question) free() error {
	res, err := q.node.Recover(context.Background(), q.drill.id, messages.RecoverRequest{Action: messages.RecoverRelease, TargetID: q.page})
	if err == nil && res.Page.PageState != messages.PageOK {
		err = fmt.Errorf("the released page is %s", res.Page.PageState)
	}
	return err
}
