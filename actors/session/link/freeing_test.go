package link_test

import (
	"testing"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAPageIsNotClosedUnderSomebodyElse is a page with a dialog that would end
// the browser (C15), and a client that does not leave it.
func TestAPageIsNotClosedUnderSomebodyElse(t *testing.T) {
	t.Parallel()
	m := link.NewPrimary(link.Config{Gen: 1, Scope: messages.ScopeOwn, Owned: []messages.TargetID{"P"}})
	var todo []any // what answers the machine, in order
	answers := 0
	step := func(in any) {
		for _, e := range m.Step(time.Time{}, in) {
			switch e := e.(type) {
			case effect.Command:
				switch e.Method {
				case "Target.createTarget":
					todo = append(todo, effect.Replied{Tag: e.Tag, Result: []byte(`{"targetId":"H"}`)})
				case "Target.getTargetInfo":
					todo = append(todo, effect.Replied{Tag: e.Tag, Result: []byte(`{"targetInfo":{"targetId":"P","attached":true}}`)})
				case "Target.closeTarget":
					if e.Tag.Page == "P" {
						t.Fatal("it is closed")
					}
				}
			case effect.Arm:
				if e.Timer == (effect.Timer{Name: "free", Page: "P"}) {
					todo = append(todo, effect.TimerFired{Timer: e.Timer})
				}
			case effect.Answer:
				answers++
				if messages.CodeOf(e.Err) != messages.CodePageWedged {
					t.Errorf("answer %v, %v", e.Value, e.Err)
				}
				return
			}
		}
	}
	step(effect.Start{})
	step(mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
	step(effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}})
	todo = append(todo, mail.ClosePage{Page: "P", MustFree: true, Reply: sessiontest.Calls.Open(func(any, error) {})})
	for n := 0; len(todo) > 0 && answers == 0; n++ {
		if n > 1000 {
			t.Fatal("it never ends")
		}
		in := todo[0]
		todo = todo[1:]
		step(in)
	}
	if answers != 1 {
		t.Errorf("%d answers", answers)
	}
}
