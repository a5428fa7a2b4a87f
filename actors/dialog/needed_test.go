package dialog_test

import (
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
)

// TestAutoTurnsToTheBridgeWhenSomebodyDismisses tells what is inside a hosted browser
// from everybody else, as far as it shows.
func TestAutoTurnsToTheBridgeWhenSomebodyDismisses(t *testing.T) {
	t.Parallel()
	const soon, late = 20 * time.Millisecond, 150 * time.Millisecond
	opened := func(typ string) any {
		return messages.DialogOpened{Gen: 1, Session: "S", Page: "P", Frame: "P", Type: typ}
	}
	closed := func(accepted bool) any {
		return messages.DialogClosed{Gen: 1, Session: "S", Page: "P", Frame: "P", Accepted: accepted}
	}
	said := messages.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionDismiss}, Reply: func(any, error) {}}
	refused := messages.DialogHandled{Dialog: "d-1", Session: "S", Err: noDialog}
	second := messages.DialogOpened{Gen: 1, Session: "S", Page: "P", Frame: "F", Type: "alert"}
	accept, dismiss := messages.PolicyAutoAccept, messages.PolicyAutoDismiss
	for name, c := range map[string]struct {
		policy messages.DialogPolicy
		bridge string
		after  time.Duration
		steps  []any // the last one after that time
		needed bool
	}{
		"a confirm, dismissed at once":        {after: soon, steps: []any{opened("confirm"), closed(false)}, needed: true},
		"a prompt":                            {after: soon, steps: []any{opened("prompt"), closed(false)}, needed: true},
		"an alert, where both ways are one":   {after: soon, steps: []any{opened("alert"), closed(true)}, needed: true},
		"by somebody who thought about it":    {after: late, steps: []any{opened("confirm"), closed(false)}},
		"accepted: another client at work":    {after: soon, steps: []any{opened("confirm"), closed(true)}},
		"a prompt that somebody accepted":     {after: soon, steps: []any{opened("prompt"), closed(true)}},
		"a beforeunload":                      {after: soon, steps: []any{opened("beforeunload"), closed(false)}},
		"the first of two at once, by Chrome": {after: soon, steps: []any{opened("confirm"), second, closed(false)}},
		"the policy's own answer":             {policy: accept, after: soon, steps: []any{opened("confirm"), closed(true)}},
		"the policy's own dismissal":          {policy: dismiss, after: soon, steps: []any{opened("confirm"), closed(false)}},
		"before the policy's answer":          {policy: accept, after: soon, steps: []any{opened("confirm"), closed(false)}, needed: true},
		"of which nobody tells how it closed": {policy: dismiss, after: soon, steps: []any{opened("confirm"), messages.DialogHandled{Dialog: "d-1", Session: "S", Err: noDialog}}},
		"an agent's answer, that came second": {after: soon, steps: []any{opened("confirm"), said, closed(false), refused}, needed: true},
		"and after somebody who accepted":     {after: soon, steps: []any{opened("confirm"), said, closed(true), refused}},
		"a spec that wants none":              {bridge: messages.BridgeOff, after: soon, steps: []any{opened("confirm"), closed(false)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := dialog.NewMachine(messages.TaskSpec{DialogPolicy: c.policy, Bridge: c.bridge}.WithDefaults(), messages.DialogMemory{})
			now := time.Unix(1000, 0)
			m.Step(now, messages.PageWatched{Gen: 1, Page: "P", Session: "S"})
			needed := false
			for i, in := range c.steps {
				if i == len(c.steps)-1 {
					now = now.Add(c.after)
				}
				for _, e := range m.Step(now, in) {
					if to, ok := e.(dialog.ToSupervisor); ok {
						_, is := to.Msg.(messages.BridgeNeeded)
						needed = needed || is
					}
				}
			}
			if needed != c.needed {
				t.Errorf("turns to it: %v, want %v", needed, c.needed)
			}
		})
	}
}
