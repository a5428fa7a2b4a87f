package gateway

import (
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	board "holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// A client's own session may be told of a dialog before those of the task are. Until the task
// shows it, nothing says that the dialog is not doomed, and that the page may be left (C58).
func TestAClientStaysAtAPageBeforeItsDialogIsKnown(t *testing.T) {
	t.Parallel()
	b := board.NewBoard("one", messages.TaskSpec{}, time.Unix(0, 0))
	c := &client{
		hub: &hub{board: b}, asked: make(chan struct{}),
		sessions: map[messages.SessionID]*session{"P-S": {id: "P-S", target: "P"}, "Q-S": {id: "Q-S", target: "Q"}},
	}
	pages := c.pagesBelow("P-S")
	want := func(what string, must bool) stay {
		t.Helper()
		s := c.mustStay(pages)
		if s.must != must {
			t.Errorf("%s: must stay %t", what, s.must)
		}
		return s
	}
	ends := func(what string, c <-chan struct{}) {
		t.Helper()
		select {
		case <-c:
		default:
			t.Errorf("%s: no channel says so", what)
		}
	}
	want("nothing is open", false)
	c.noteDialog("Q-S", true)
	want("another page of the client asks", false)
	c.noteDialog("P-S", true)
	s := want("the task does not show the dialog", true)
	v := *b.View()
	v.Snapshot = &messages.Snapshot{Version: 1, PendingDialogs: []messages.Dialog{{ID: "d-1", TargetID: "P"}}}
	b.SetClientPages(board.ClientPages(step.ClientPages{Kept: []messages.TargetID{"P"}}))
	b.Publish(&v, board.News{})
	ends("shown", s.shown)
	ends("kept", s.kept)
	s = want("the dialog may be doomed", true)
	b.SetClientPages(board.ClientPages{})
	ends("not kept", s.kept)
	want("the dialog is not doomed", false)
	closed := v
	closed.Snapshot = &messages.Snapshot{Version: 2}
	b.Publish(&closed, board.News{})
	s = want("the task knows of the end first, or not of the next dialog", true)
	c.noteDialog("P-S", false)
	ends("it asks no more", s.asked)
	want("it asks no more", false)
}
