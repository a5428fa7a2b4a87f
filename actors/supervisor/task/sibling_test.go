package task_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"holdfast/actors/session/bridge"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// told are what the effects have other tasks on the same pages told of.
func told(effects []step.Effect) (list []bridge.SiblingLeft) {
	for _, e := range effects {
		if to, ok := e.(step.TellSiblings); ok {
			list = append(list, to.Left)
		}
	}
	return list
}

// A debugger holds whatever call waits, and only the task that asks can tell whose it is.
func TestTasksWithTheSamePages(t *testing.T) {
	t.Parallel()
	lost := mail.DialogsChanged{Closed: &messages.ClosedDialog{ID: "d-1", TargetID: "P", Path: messages.PathBridge, ClosedBy: messages.ClosedByLost}}
	native, answered := lost, lost
	native.Closed = &messages.ClosedDialog{ID: "d-1", TargetID: "P", Path: messages.PathNative, ClosedBy: messages.ClosedByLost}
	answered.Closed = &messages.ClosedDialog{ID: "d-1", TargetID: "P", Path: messages.PathBridge, ClosedBy: messages.ClosedByAgent}
	for name, c := range map[string]struct {
		bridge messages.Bridge
		in     any
		want   []bool // whether it has ended
	}{
		"are told that nobody can answer what one asks": {messages.BridgeOn, lost, []bool{false}},
		"and that one has ended":                        {messages.BridgeOn, step.BrowserGone{Why: "crash"}, []bool{true}},
		"but not of what was answered":                  {messages.BridgeOn, answered, nil},
		"nor of native dialogs":                         {messages.BridgeOn, native, nil},
		"nor by one without the bridge":                 {messages.BridgeOff, step.BrowserGone{Why: "crash"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attachedAs(t, messages.TaskSpec{Bridge: c.bridge})
			var got []bool
			for _, l := range told(b.step(c.in)) {
				got = append(got, l.HasEnded)
				if !slices.Equal(l.Pages, []messages.TargetID{"P"}) {
					t.Errorf("of pages %v", l.Pages)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("told %v, want %v", got, c.want)
			}
		})
	}

	t.Run("are told by one that has it no more, of each way it had", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{Bridge: messages.BridgeOn})
		b.step(mail.BridgeRefused{Gen: 1, Session: "S", By: mail.ByDebugger, Err: errors.New("no")})
		b.step(mail.RequestsHeard{Gen: 1})
		b.step(step.BrowserExited{})
		b.step(mail.UpdateSpec{Spec: messages.TaskSpec{Bridge: messages.BridgeOff}})
		var got []mail.Mechanism
		for _, l := range told(b.step(step.BrowserGone{Why: "crash"})) {
			got = append(got, l.By)
		}
		if !slices.Equal(got, []mail.Mechanism{mail.ByDebugger, mail.ByRequest}) {
			t.Errorf("told of %v", got)
		}
	})
	for name, c := range map[string]struct {
		spec messages.TaskSpec
		ins  []any
		want bool
	}{
		"that was lost":                 {messages.TaskSpec{}, []any{step.GaveUp{Err: errors.New("no")}, step.BrowserExited{Err: errors.New("dropped")}}, true},
		"whose browser ends with it":    {messages.TaskSpec{Launch: &messages.LaunchSpec{}}, []any{step.BrowserGone{Why: "crash"}}, false},
		"that has given its pages back": {messages.TaskSpec{}, []any{mail.StopTask{}, step.BrowserExited{}}, true},
	} {
		t.Run("remember one "+name+": "+strconv.FormatBool(c.want), func(t *testing.T) {
			t.Parallel()
			c.spec.Bridge, c.spec.Anchor = messages.BridgeOn, messages.AnchorNone
			if c.spec.Launch == nil {
				u, err := messages.ParseCDPURL("ws://h/devtools/browser/b")
				if err != nil {
					t.Fatal(err)
				}
				c.spec.CDPURL = u
			}
			b := attachedAs(t, c.spec)
			var got []bool
			for _, in := range c.ins {
				for _, e := range b.step(in) {
					if to, ok := e.(step.TellSiblings); ok {
						got = append(got, to.MustRemember)
					}
				}
			}
			if !slices.Equal(got, []bool{c.want}) {
				t.Errorf("remembered %v", got)
			}
		})
	}
	t.Run("pass it on to the sessions of those pages", func(t *testing.T) {
		t.Parallel()
		b := attachedAs(t, messages.TaskSpec{})
		b.step(mail.TargetAttached{Gen: 1, Session: "S2", Page: "P2", Info: mail.TargetInfo{ID: "P2", Type: "page"}})
		var got []messages.SessionID
		for _, e := range b.step(bridge.SiblingLeft{Pages: []messages.TargetID{"P2", "P3"}}) {
			if to, ok := e.(step.ToSession); ok {
				got = append(got, to.Session)
			}
		}
		if !slices.Equal(got, []messages.SessionID{"S2"}) {
			t.Errorf("passed on to %v", got)
		}
	})
}
