package dialog_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// cuts are the bounds that a step has met.
func cuts(effects []dialog.Effect) (met []shed.Bound) {
	for _, e := range effects {
		if c, ok := e.(dialog.Cut); ok {
			met = append(met, c.Bound)
		}
	}
	return met
}

func TestWhatIsCutOffIsTold(t *testing.T) {
	t.Parallel()
	begin := func() *dialog.Machine {
		m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
		m.Step(time.Unix(1, 0), dialog.Start{})
		return m
	}
	opened := func(message string) mail.DialogOpened {
		return mail.DialogOpened{Gen: 1, Session: "S", Page: "P", Frame: "P", Type: "alert", Message: message}
	}
	t.Run("a message", func(t *testing.T) {
		t.Parallel()
		m := begin()
		if met := cuts(m.Step(time.Unix(2, 0), opened(strings.Repeat("x", 4*dialog.MaxMessage)))); met != nil {
			t.Errorf("one of the largest size met %v", met)
		}
		m = begin()
		if met := cuts(m.Step(time.Unix(2, 0), opened(strings.Repeat("x", 4*dialog.MaxMessage+1)))); len(met) != 1 || met[0] != shed.DialogText {
			t.Errorf("one that is longer met %v", met)
		}
	})
	t.Run("what the slower link has not told of", func(t *testing.T) {
		t.Parallel()
		m := begin()
		var met []shed.Bound
		m.Step(time.Unix(2, 0), mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "P", Session: "A"})
		m.Step(time.Unix(2, 0), mail.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "P", Session: "A"})
		for range 65 { // the anchor is to tell of each, and does not
			met = append(met, cuts(m.Step(time.Unix(2, 0), opened("m")))...)
			met = append(met, cuts(m.Step(time.Unix(2, 0), mail.DialogClosed{Gen: 1, Session: "S", Page: "P", Frame: "P"}))...)
		}
		if len(met) != 1 || met[0] != shed.DialogMemory {
			t.Errorf("65 dialogs met %v", met)
		}
	})
}

// TestWhatIsOverIsBoundedInBytes: a page that asks long questions for ever does not
// decide how much is remembered of them.
func TestWhatIsOverIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), mail.DialogMemory{})
	m.Step(time.Unix(1, 0), dialog.Start{})
	// The anchor is to tell of each, and does not.
	m.Step(time.Unix(2, 0), mail.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "P", Session: "A"})
	m.Step(time.Unix(2, 0), mail.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "P", Session: "A"})
	var memory mail.DialogMemory
	for i := range 64 {
		for _, in := range []any{
			mail.DialogOpened{Gen: 1, Session: "S", Page: "P", Frame: "P", Type: "alert", Message: strings.Repeat(string(rune('a'+i%26)), 30_000)},
			mail.DialogClosed{Gen: 1, Session: "S", Page: "P", Frame: "P"},
		} {
			for _, e := range m.Step(time.Unix(2, 0), in) {
				if to, ok := e.(dialog.ToSupervisor); ok {
					if c, ok := to.Msg.(mail.DialogsChanged); ok {
						memory = c.Memory
					}
				}
			}
		}
	}
	sum, late := 0, 0
	for _, d := range memory.Recent {
		sum += len(d.Message)
	}
	for _, d := range memory.Late {
		late += len(d.Message)
	}
	if n := len(memory.Recent); n != 4 || sum > 128<<10 || memory.Recent[n-1].Message[0] != 'a'+63%26 {
		t.Errorf("%d dialogs of the past, %d bytes", n, sum)
	}
	if n := len(memory.Late); n < 8 || late > 256<<10 {
		t.Errorf("%d dialogs that a link may still tell of, %d bytes", n, late)
	}
}
