package task_test

import (
	"slices"
	"testing"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The anchor hears of a bridged task's frames from the supervisor alone.
func TestTheAnchorIsToldOfTheFramesOfABridgedTask(t *testing.T) {
	t.Parallel()
	covered := func(effects []step.Effect) (list []mail.CoverFrame) {
		for _, e := range effects {
			if to, ok := e.(step.ToAnchor); ok {
				if c, ok := to.Msg.(mail.CoverFrame); ok {
					list = append(list, c)
				}
			}
		}
		return list
	}
	frame := mail.TargetAttached{Gen: 1, Session: "SF", Via: "S", Page: "P", Info: mail.TargetInfo{ID: "F", Type: "iframe"}}
	attached, boxed := mail.AnchorAttached{Gen: 1, Pages: []messages.TargetID{"P"}}, mail.FrameBoxed{Gen: 1, Session: "SF", IsShut: true}
	unknown := mail.CoverFrame{Page: "P", Frame: "F"}
	known := mail.CoverFrame{Page: "P", Frame: "F", IsBoxKnown: true, IsShut: true}
	for name, c := range map[string]struct {
		bridge messages.Bridge
		steps  []any
		want   []mail.CoverFrame // after all
	}{
		"when it comes, and when it is known who may ask": {messages.BridgeOn, []any{step.AnchorStarting{Gen: 1}, attached, frame, boxed}, []mail.CoverFrame{unknown, known}},
		"once there is an anchor":                         {messages.BridgeOn, []any{frame, boxed, step.AnchorStarting{Gen: 1}, attached}, []mail.CoverFrame{unknown, known, known}},
		"not of a page that is being closed":              {messages.BridgeOn, []any{step.AnchorStarting{Gen: 1}, attached, mail.ClosePage{Page: "P", Reply: calls.Open(func(any, error) {})}, frame}, nil},
		"once it turns to the bridge":                     {messages.BridgeAuto, []any{step.AnchorStarting{Gen: 1}, attached, frame, mail.BridgeNeeded{Page: "P"}, step.TimerFired{Name: "needed:P"}}, []mail.CoverFrame{unknown}},
		"not natively":                                    {messages.BridgeOff, []any{step.AnchorStarting{Gen: 1}, attached, frame, boxed}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attachedAs(t, messages.TaskSpec{Bridge: c.bridge})
			var got []mail.CoverFrame
			for _, in := range c.steps {
				got = append(got, covered(b.step(in))...)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
