package acceptance_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"holdfast/messages"
)

// waiting evaluates in a frame ("": the page) with on_dialog: wait.
func (k *task) waiting(frame messages.FrameID, expression string) <-chan given {
	done := make(chan given, 1)
	ctx, cancel := context.WithTimeout(k.ctx, 3*patience)
	k.Cleanup(cancel)
	go func() {
		v, err := evalOn(ctx, k.node, k.id, messages.CDPRequest{FrameID: frame, OnDialog: messages.OnDialogWait, TimeoutS: 60}, expression)
		done <- given{v, err}
	}()
	return done
}

func (k *task) gives(call <-chan given, want string) {
	k.Helper()
	select {
	case g := <-call:
		if g.err != nil || g.text != want {
			k.Errorf("the call gave %s, %v; want %s", g.text, g.err, want)
		}
	case <-time.After(patience):
		k.Error("the call has not ended")
	}
}

func (k *task) accepts(d messages.Dialog, text string) {
	k.Helper()
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &text, DialogID: d.ID}); err != nil {
		k.Fatal(err)
	}
}

// TestOnDialogWait: as with Playwright's evaluate, the value comes with the answer.
func TestOnDialogWait(t *testing.T) {
	t.Parallel()
	for _, bridge := range []messages.Bridge{messages.BridgeOff, messages.BridgeOn} {
		t.Run("bridge "+string(bridge), func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("ondialog-"+messages.TaskID(bridge), func(s *messages.TaskSpec) { s.Bridge = bridge })
			k.goTo("http://a.test/oopif")
			frame := k.frame("/plain").FrameID
			for where, f := range map[string]messages.FrameID{"the page": "", "the frame": frame} {
				for i := range 3 {
					asked := "who, in " + where + "?"
					call := k.waiting(f, `"got " + prompt(`+strconv.Quote(asked)+`, "")`)
					d := k.dialog()
					if d.Message != asked {
						t.Fatalf("dialog %+v", d)
					}
					later := k.waiting(f, "7")
					// Longer than anything that looks into a call which has stalled.
					<-time.After(time.Duration(i) * 700 * time.Millisecond)
					k.accepts(d, "ann")
					k.gives(call, `"got ann"`)
					k.gives(later, "7")
				}
			}
			// Several dialogs of one call, and the page is in order behind them.
			call := k.waiting("", `confirm("a") && confirm("b") && prompt("c", "")`)
			for _, m := range []string{"a", "b", "c"} {
				d := k.await(m, func(s *messages.Snapshot) bool {
					return len(s.PendingDialogs) == 1 && s.PendingDialogs[0].Message == m
				}).PendingDialogs[0]
				k.accepts(d, "yes")
			}
			k.gives(call, `"yes"`)
			if got := k.eval("", "1+1"); got != "2" {
				t.Errorf("the page says %s", got)
			}
		})
	}
}
