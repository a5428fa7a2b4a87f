package session_test

import (
	"testing"
	"time"

	"holdfast/actors/session"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAPageIsNotClosedUnderSomebodyElse is a page with a dialog that would end
// the browser (C15), and a client that does not leave it.
func TestAPageIsNotClosedUnderSomebodyElse(t *testing.T) {
	t.Parallel()
	m := session.NewBrowserMachine(session.BrowserConfig{Gen: 1, Scope: messages.ScopeOwn, Owned: []messages.TargetID{"P"}})
	var todo []any // what answers the machine, in order
	answers := 0
	step := func(in any) {
		for _, e := range m.Step(time.Time{}, in) {
			switch e := e.(type) {
			case session.Command:
				switch e.Method {
				case "Target.createTarget":
					todo = append(todo, session.Replied{Tag: e.Tag, Result: []byte(`{"targetId":"H"}`)})
				case "Target.getTargetInfo":
					todo = append(todo, session.Replied{Tag: e.Tag, Result: []byte(`{"targetInfo":{"targetId":"P","attached":true}}`)})
				case "Target.closeTarget":
					if e.Tag.Page == "P" {
						t.Fatal("it is closed")
					}
				}
			case session.Arm:
				if e.Timer == (session.Timer{Name: "free", Page: "P"}) {
					todo = append(todo, session.TimerFired{Timer: e.Timer})
				}
			case session.Answer:
				answers++
				if messages.CodeOf(e.Err) != messages.CodePageWedged {
					t.Errorf("answer %v, %v", e.Value, e.Err)
				}
				return
			}
		}
	}
	step(session.Start{})
	step(mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
	step(session.Replied{Tag: session.Tag{Kind: session.TagRoot}})
	todo = append(todo, mail.ClosePage{Page: "P", Free: true, Reply: calls.Open(func(any, error) {})})
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
