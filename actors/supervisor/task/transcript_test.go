package task_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestTranscripts tells the machine stories, and shows each step's effects by their type, or
// what it knows. With -rewrite the files are written anew.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		b := &bench{T: t, m: machineOf(messages.TaskSpec{Anchor: messages.AnchorNone}.WithDefaults()), now: time.Unix(1000, 0)}
		inputs := map[string]any{
			"start":    step.BrowserStarting{Gen: 1},
			"restart":  step.BrowserStarting{Gen: 2},
			"linked":   step.Linked{Gen: 1, Endpoint: "ws://h/***"},
			"attach":   mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
			"rooted":   mail.RootAttached{Gen: 1, Pages: []messages.TargetID{"P"}},
			"ready":    mail.SessionReady{Gen: 1, Session: "S", Target: "P"},
			"hang":     mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageHung},
			"answers":  mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageOK},
			"dialog":   mail.DialogsChanged{Opened: &messages.Dialog{ID: "d1", Type: "alert", TargetID: "P", FrameID: "P"}, Pending: []messages.Dialog{{ID: "d1", Type: "alert", TargetID: "P", FrameID: "P"}}},
			"answered": mail.DialogsChanged{Closed: &messages.ClosedDialog{ID: "d1", Type: "alert", TargetID: "P", FrameID: "P", ClosedBy: messages.ClosedByAgent}},
			"drop":     step.BrowserExited{Err: errors.New("the socket is gone")},
			"give-up":  step.GaveUp{Err: errors.New("five dials failed")},
			"stop":     mail.StopTask{ID: "t"},
			"left":     step.BrowserExited{},

			"lapse": mail.Lease{},
			"lease": mail.Lease{IsHeld: true},
			"go":    mail.Navigate{Request: messages.NavigateRequest{URL: "http://x"}},
			"open":  mail.OpenPage{},

			"doomed":      mail.PageDoomed{Page: "P", Is: true},
			"doomed-over": mail.PageDoomed{Page: "P"},
			"close":       mail.ClosePage{Page: "P"},
			"release":     mail.RecoverPage{Request: messages.RecoverRequest{Action: messages.RecoverRelease}},
			"reattach":    mail.RecoverPage{Request: messages.RecoverRequest{Action: messages.RecoverReattach}},
			"unreachable": mail.PageUnreachable{Page: "P"},
			"released":    mail.PageReleased{Gen: 1, Page: "P"},
			"detached":    mail.TargetDetached{Gen: 1, Session: "S"},
			"attach-2":    mail.TargetAttached{Gen: 1, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
			"ready-2":     mail.SessionReady{Gen: 1, Session: "S2", Target: "P"},
			"failed":      step.SessionFailed{Session: "S"},

			"anchor-start":    step.AnchorStarting{Gen: 1},
			"anchor-linked":   step.AnchorLinked{Gen: 1},
			"anchor-attached": mail.AnchorAttached{Gen: 1, Pages: []messages.TargetID{"P"}},
			"anchor-covers":   mail.PageCovered{Role: messages.RoleAnchor, Gen: 1, Page: "P", Session: "A"},
			"anchor-settled":  mail.AnchorSettled{Gen: 1},
			"anchor-left":     mail.PageLeft{Gen: 1, Page: "P"},
			"anchor-drop":     step.AnchorExited{Err: errors.New("the socket is gone")},
			"anchor-again":    step.AnchorStarting{Gen: 2},
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "state":
				return b.m.Report()
			case "anchored": // a task that wants a second link
				b.m = machineOf(messages.TaskSpec{}.WithDefaults())
				return ""
			}
			in, ok := inputs[d.Cmd]
			if !ok {
				d.Fatalf(t, "no such input: %s", d.Cmd)
			}
			var out strings.Builder
			for _, e := range b.step(in) {
				fmt.Fprintln(&out, strings.TrimPrefix(fmt.Sprintf("%T", e), "step."))
			}
			return out.String()
		})
	})
}
