package dialog_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/internal/bounds"
	"holdfast/messages"
)

// cuts are the bounds that a step has met.
func cuts(effects []dialog.Effect) (met []bounds.Bound) {
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
		m := dialog.NewMachine(messages.TaskSpec{}.WithDefaults(), messages.DialogMemory{})
		m.Step(time.Unix(1, 0), dialog.Start{})
		return m
	}
	opened := func(message string) messages.DialogOpened {
		return messages.DialogOpened{Gen: 1, Session: "S", Page: "P", Frame: "P", Type: "alert", Message: message}
	}
	t.Run("a message", func(t *testing.T) {
		t.Parallel()
		m := begin()
		if met := cuts(m.Step(time.Unix(2, 0), opened(strings.Repeat("x", 4*dialog.MaxMessage)))); met != nil {
			t.Errorf("one of the largest size met %v", met)
		}
		m = begin()
		if met := cuts(m.Step(time.Unix(2, 0), opened(strings.Repeat("x", 4*dialog.MaxMessage+1)))); len(met) != 1 || met[0] != bounds.DialogText {
			t.Errorf("one that is longer met %v", met)
		}
	})
	t.Run("what the slower link has not told of", func(t *testing.T) {
		t.Parallel()
		m := begin()
		var met []bounds.Bound
		m.Step(time.Unix(2, 0), messages.PageWatched{Role: messages.RoleAnchor, Gen: 1, Page: "P", Session: "A"})
		m.Step(time.Unix(2, 0), messages.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "P", Session: "A"})
		for range 65 { // the anchor is to tell of each, and does not
			met = append(met, cuts(m.Step(time.Unix(2, 0), opened("m")))...)
			met = append(met, cuts(m.Step(time.Unix(2, 0), messages.DialogClosed{Gen: 1, Session: "S", Page: "P", Frame: "P"}))...)
		}
		if len(met) != 1 || met[0] != bounds.DialogMemory {
			t.Errorf("65 dialogs met %v", met)
		}
	})
}
