package task_test

import (
	"slices"
	"testing"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAnUnheardSessionTellsAgain: a new frame actor has heard of a session only after
// that had told of its frames.
func TestAnUnheardSessionTellsAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		gen    mail.Generation
		s      messages.SessionID
		reload bool
	}{
		{"of this link", 1, "S", true},
		{"of an older link", 0, "S", false},
		{"that has ended", 1, "GONE", false},
	} {
		b := attachedAs(t, messages.TaskSpec{})
		told := slices.Contains(b.step(mail.FramesUnheard{Gen: c.gen, Session: c.s}), step.Effect(step.ToSession{Session: c.s, Msg: mail.ReloadFrames{}}))
		if told != c.reload {
			t.Errorf("one %s: told %t", c.name, told)
		}
	}
}
