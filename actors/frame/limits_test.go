package frame_test

import (
	"fmt"
	"testing"
	"time"

	"holdfast/actors/frame"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func TestAFrameThatIsLeftOutIsTold(t *testing.T) {
	t.Parallel()
	m := frame.NewMachine(1)
	m.Step(time.Time{}, mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
	left := 0
	for i := range frame.MaxFrames + 2 { // and the main one
		for _, e := range m.Step(time.Time{}, mail.FrameAttached{Gen: 1, Session: "S", Page: "P", Frame: messages.FrameID(fmt.Sprint("F", i)), Parent: "P"}) {
			if _, ok := e.(frame.Cut); ok {
				left++
			}
		}
	}
	if left != 3 {
		t.Errorf("%d frames are left out, want 3", left)
	}
}
