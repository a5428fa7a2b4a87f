package task_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/actors/supervisor/blocker"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func asksFor(permission, key string) mail.BlockerRaised {
	return mail.BlockerRaised{Gen: 1, Page: "P", Target: "P", Blocker: messages.Blocker{
		Type: messages.BlockerPermission, FrameID: "P", Origin: "https://a.test", Permission: permission,
	}, Asked: mail.BlockerAsked{Key: key, Context: 7, Origin: "https://a.test", Top: "https://a.test", Names: permission}}
}

// aboutBlockers is what a step does about blockers, in words.
func aboutBlockers(effects []step.Effect) string {
	var all []string
	for _, e := range effects {
		switch e := e.(type) {
		case step.Publish:
			for _, ev := range e.Events {
				if b := ev.Blocker; b != nil {
					all = append(all, fmt.Sprintf("opened %s", b.ID))
				}
				if c := ev.ClosedBlocker; c != nil {
					all = append(all, strings.TrimSpace(fmt.Sprintf("closed %s %s %s", c.ID, c.ClosedBy, c.Action)))
				}
			}
		case step.ToSession:
			if o, ok := e.Msg.(mail.SettleBlocker); ok {
				all = append(all, strings.TrimSpace("settle "+o.Asked.Key+" "+o.Setting))
			}
		case step.Arm:
			if strings.HasPrefix(e.Name, "blocker:") {
				all = append(all, fmt.Sprintf("arm %s %s", e.Name, e.After))
			}
		case step.Answer:
			if e.Err != nil {
				all = append(all, "answer "+string(messages.CodeOf(e.Err)))
			} else if _, ok := e.Value.(messages.ClosedBlocker); ok {
				all = append(all, "answer")
			}
		}
	}
	return strings.Join(all, ", ")
}

// TestX27_WhatPagesAskForIsDecidedOnce: by the policy, an answer, the watchdog, or the page's end.
func TestX27_WhatPagesAskForIsDecidedOnce(t *testing.T) {
	t.Parallel()
	ask := messages.AskAboutBlockers()
	permission := func(p messages.BlockerPolicy) *messages.BlockerPolicies {
		return &messages.BlockerPolicies{Permission: p}
	}
	answer := func(id, action string) mail.AnswerBlocker {
		return mail.AnswerBlocker{Answer: messages.BlockerAnswer{BlockerID: messages.BlockerID(id), Action: messages.Action(action)}}
	}
	prints := mail.BlockerRaised{Gen: 1, Page: "P", Target: "P", Blocker: messages.Blocker{Type: messages.BlockerPrint, FrameID: "P"}}
	pdf := mail.BlockerRaised{Gen: 1, Page: "P", Target: "P", Blocker: messages.Blocker{Type: messages.BlockerPDF, FrameID: "P", URL: "https://a.test/x.pdf"}}
	chooser := mail.BlockerRaised{Gen: 1, Page: "P", Target: "P", Blocker: messages.Blocker{Type: messages.BlockerFileChooser, FrameID: "P", BackendNodeID: 7}}
	inFrame := asksFor("midi", "2")
	inFrame.Blocker.FrameID = "F"
	lost := step.BrowserExited{}
	type said struct {
		in   any
		want string
	}
	for name, c := range map[string]struct {
		policies *messages.BlockerPolicies
		steps    []said
	}{
		"an answer, and a second one": {ask, []said{
			{asksFor("midi", "1"), "arm blocker:b-1 5m0s, opened b-1"},
			{asksFor("midi", "1"), ""}, // a repeated report
			{answer("b-1", "accept"), "settle 1 granted, closed b-1 agent accept, answer"},
			{answer("b-1", "accept"), "answer not_found"},
			{step.TimerFired{Name: "blocker:b-1"}, ""},
		}},
		"the watchdog": {ask, []said{
			{asksFor("midi", "1"), "arm blocker:b-1 5m0s, opened b-1"},
			{step.TimerFired{Name: "blocker:b-1"}, "settle 1 denied, closed b-1 watchdog dismiss"},
		}},
		"a policy":    {permission(messages.BlockersAccept), []said{{asksFor("midi", "1"), "settle 1 granted, opened b-1, closed b-1 auto_policy accept"}}},
		"the browser": {permission(messages.BlockersLeave), []said{{asksFor("midi", "1"), "settle 1"}}},
		"another document": {ask, []said{
			{prints, "arm blocker:b-1 5m0s, opened b-1"},
			{pdf, "opened b-2"},
			{mail.PageNavigated{Gen: 1, Page: "P", URL: "https://a.test/"}, "closed b-1 remote, closed b-2 remote"},
		}},
		"another document of a frame": {ask, []said{
			{inFrame, "arm blocker:b-1 5m0s, opened b-1"},
			{prints, "arm blocker:b-2 5m0s, opened b-2"},
			{mail.FrameMoved{Gen: 1, Page: "P", Frame: "F"}, "closed b-1 remote"},
		}},
		"a client that gives files": {ask, []said{
			{chooser, "arm blocker:b-1 5m0s, opened b-1"},
			{mail.FilesGiven{Target: "P", Node: 8}, ""},
			{mail.FilesGiven{Target: "F", Node: 7}, ""},
			{mail.FilesGiven{Target: "P", Node: 7}, "closed b-1 remote"},
		}},
		"no link": {ask, []said{
			{asksFor("midi", "1"), "arm blocker:b-1 5m0s, opened b-1"},
			{lost, ""},
			{answer("b-1", "accept"), "answer upstream_unavailable"},
		}},
		"the task's end": {ask, []said{
			{asksFor("midi", "1"), "arm blocker:b-1 5m0s, opened b-1"},
			{mail.StopTask{}, "settle 1, closed b-1 lost"},
		}},
		"another link's word": {ask, []said{{func() mail.BlockerRaised { r := asksFor("midi", "1"); r.Gen = 9; return r }(), ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attachedAs(t, messages.TaskSpec{Blockers: c.policies})
			for i, s := range c.steps {
				if got := aboutBlockers(b.step(s.in)); got != s.want {
					t.Errorf("step %d, %T: %q, want %q", i, s.in, got, s.want)
				}
			}
		})
	}
}

// TestX27_BlockersAreBounded: what a page asks for beyond the bound is left to the browser, and
// every page continues.
func TestX27_BlockersAreBounded(t *testing.T) {
	t.Parallel()
	b := attachedAs(t, messages.TaskSpec{Blockers: messages.AskAboutBlockers()})
	for i := range blocker.MaxOpen {
		b.step(asksFor("midi", fmt.Sprint(i)))
	}
	if got := aboutBlockers(b.step(asksFor("midi", "beyond"))); got != "settle beyond" {
		t.Errorf("beyond the bound: %q", got)
	}
	open := b.m.Snapshot().Blockers
	if len(open) != blocker.MaxOpen || open[0].ExpiresAt != messages.SecondsOf(b.now.Add(messages.DefaultDialogTimeout)) || time.Duration(open[0].OpenedAt) == 0 {
		t.Errorf("%d are open: %+v", len(open), open[0])
	}
}
