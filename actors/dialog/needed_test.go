package dialog_test

import (
	"testing"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestAutoTurnsToTheBridgeWhenSomebodyIsFaster tells the client inside a hosted browser
// from every other one, as far as it shows.
func TestAutoTurnsToTheBridgeWhenSomebodyIsFaster(t *testing.T) {
	t.Parallel()
	const soon, late, never = 20 * time.Millisecond, 150 * time.Millisecond, 600 * time.Millisecond
	opened := func(typ messages.DialogType) any {
		return mail.DialogOpened{Gen: 1, Session: "S", Page: "P", Frame: "P", Type: typ}
	}
	closed := func(accepted bool) any {
		return mail.DialogClosed{Gen: 1, Session: "S", Page: "P", Frame: "P", IsAccepted: accepted}
	}
	said := mail.AnswerDialog{Answer: messages.DialogAnswer{Action: messages.ActionDismiss}, Reply: calls.Open(func(any, error) {})}
	refused := mail.DialogHandled{Dialog: "d-1", Session: "S", Err: noDialog}
	unheard := mail.DialogHandled{Dialog: "d-1", Session: "S", Err: messages.Errorf(messages.CodeDeadline, "no answer").WithSent(messages.SentYes)}
	unsaid := mail.DialogHandled{Dialog: "d-1", Session: "S", Err: messages.Errorf(messages.CodeUpstreamUnavailable, "not connected").WithSent(messages.SentNo)}
	second := mail.DialogOpened{Gen: 1, Session: "S", Page: "P", Frame: "F", Type: "alert"}
	accept, dismiss := messages.PolicyAutoAccept, messages.PolicyAutoDismiss
	for name, c := range map[string]struct {
		policy    messages.DialogPolicy
		bridge    messages.Bridge
		threshold time.Duration // 0: the default
		again     bool          // the steps but the last were another actor's, which has failed
		after     time.Duration
		steps     []any // the last one after that time
		needed    bool
	}{
		"a confirm, dismissed at once":          {after: soon, steps: []any{opened("confirm"), closed(false)}, needed: true},
		"a prompt":                              {after: soon, steps: []any{opened("prompt"), closed(false)}, needed: true},
		"an alert, where both ways are one":     {after: soon, steps: []any{opened("alert"), closed(true)}, needed: true},
		"by somebody who thought about it":      {after: late, steps: []any{opened("confirm"), closed(false)}},
		"a confirm, accepted at once":           {after: soon, steps: []any{opened("confirm"), closed(true)}, needed: true},
		"a prompt that somebody accepted":       {after: soon, steps: []any{opened("prompt"), closed(true)}, needed: true},
		"accepted after some thought":           {after: late, steps: []any{opened("confirm"), closed(true)}},
		"just in time, by the spec":             {threshold: 500 * time.Millisecond, after: late, steps: []any{opened("confirm"), closed(true)}, needed: true},
		"dismissed so":                          {threshold: 500 * time.Millisecond, after: late, steps: []any{opened("confirm"), closed(false)}, needed: true},
		"later than the spec has it":            {threshold: 500 * time.Millisecond, after: never, steps: []any{opened("confirm"), closed(false)}},
		"too late for a spec in a hurry":        {threshold: 10 * time.Millisecond, after: soon, steps: []any{opened("confirm"), closed(false)}},
		"even for an alert":                     {threshold: 10 * time.Millisecond, after: soon, steps: []any{opened("alert"), closed(true)}},
		"a beforeunload":                        {after: soon, steps: []any{opened("beforeunload"), closed(false)}},
		"the first of two at once, by Chrome":   {after: soon, steps: []any{opened("confirm"), second, closed(false)}},
		"the policy's own answer":               {policy: accept, after: soon, steps: []any{opened("confirm"), closed(true)}},
		"the policy's own dismissal":            {policy: dismiss, after: soon, steps: []any{opened("confirm"), closed(false)}},
		"before the policy's acceptance":        {policy: accept, after: soon, steps: []any{opened("confirm"), closed(false)}, needed: true},
		"before the policy's dismissal":         {policy: dismiss, after: soon, steps: []any{opened("confirm"), closed(true)}, needed: true},
		"of which nobody tells how it closed":   {policy: dismiss, after: soon, steps: []any{opened("confirm"), mail.DialogHandled{Dialog: "d-1", Session: "S", Err: noDialog}}},
		"an agent's answer, that came second":   {after: soon, steps: []any{opened("confirm"), said, closed(false), refused}, needed: true},
		"and after somebody who accepted":       {after: soon, steps: []any{opened("confirm"), said, closed(true), refused}, needed: true},
		"an agent's answer":                     {after: soon, steps: []any{opened("confirm"), said, closed(false), mail.DialogHandled{Dialog: "d-1", Session: "S"}}},
		"one of which nothing was heard":        {after: soon, steps: []any{opened("confirm"), said, unheard, closed(false)}},
		"one that was never said":               {after: soon, steps: []any{opened("confirm"), said, unsaid, closed(false)}, needed: true},
		"one that a failed actor may have said": {again: true, after: soon, steps: []any{opened("confirm"), closed(true)}},
		"a spec that wants none":                {bridge: messages.BridgeOff, after: soon, steps: []any{opened("confirm"), closed(false)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := messages.TaskSpec{DialogPolicy: c.policy, Bridge: c.bridge, BridgeThresholdMS: c.threshold.Milliseconds()}.WithDefaults()
			var memory mail.DialogMemory
			m := dialog.NewMachine(spec, memory)
			now := time.Unix(1000, 0)
			m.Step(now, mail.PageWatched{Gen: 1, Page: "P", Session: "S"})
			needed := false
			for i, in := range c.steps {
				if i == len(c.steps)-1 {
					now = now.Add(c.after)
				}
				if c.again && i == len(c.steps)-1 {
					m = dialog.NewMachine(spec, memory)
					m.Step(now, dialog.Start{})
				}
				for _, e := range m.Step(now, in) {
					if to, ok := e.(dialog.ToSupervisor); ok {
						switch msg := to.Msg.(type) {
						case mail.BridgeNeeded:
							needed = true
						case mail.DialogsChanged:
							memory = msg.Memory
						}
					}
				}
			}
			if needed != c.needed {
				t.Errorf("turns to it: %v, want %v", needed, c.needed)
			}
		})
	}
}
