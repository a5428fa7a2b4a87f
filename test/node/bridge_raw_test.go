package node_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func (w *world) raw(method, params string, frame messages.FrameID) (json.RawMessage, error) {
	r, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: method, Params: json.RawMessage(params), FrameID: frame})
	if err != nil {
		return nil, err
	}
	return r.Result, nil
}

// TestRawAnswerOfSeveral: Chrome's own command names no dialog, and none is guessed.
func TestRawAnswerOfSeveral(t *testing.T) {
	t.Parallel()
	inWorld(t, "several", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything, bridged).PageTargetID
		frames := w.framed(page)
		top, other := frames[0], frames[2]
		var asked []*chaos.Dialog
		for _, f := range []messages.FrameID{top, other} {
			asked = append(asked, w.b.OpenDialog(f, chaos.Confirm, "sure?", ""))
			synctest.Wait()
		}
		_, err := w.raw("Page.handleJavaScriptDialog", `{"accept":true}`, "")
		if messages.CodeOf(err) != messages.CodeDialogAmbiguous {
			w.Fatalf("got %v", err)
		}
		var own *messages.Error
		if e, ok := err.(*messages.Error); ok {
			own = e
		}
		if list, ok := own.Details["candidates"].([]messages.Dialog); !ok || len(list) != 2 {
			w.Errorf("details %+v", own.Details)
		}
		for i, d := range asked {
			if _, closed := d.Result(); closed {
				w.Errorf("dialog %d has been answered", i)
			}
		}
		if _, err := w.raw("Page.handleJavaScriptDialog", `{"accept":true}`, other); err != nil {
			w.Fatal(err)
		}
		if _, err := w.raw("Page.handleJavaScriptDialog", `{"accept":false}`, ""); err != nil { // the only one by now
			w.Fatal(err)
		}
		time.Sleep(time.Second)
		for i, want := range []bool{false, true} {
			if r, closed := asked[i].Result(); !closed || r.IsAccepted != want {
				w.Errorf("dialog %d: %+v", i, r)
			}
		}
	})
}

// TestDisableBreaksAnswersNoDialog: no parameter of an agent's makes an answer up (C62).
func TestDisableBreaksAnswersNoDialog(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]string{
		"plain":   `{"expression":"confirm('x')","disableBreaks":true}`,
		"escaped": `{"expression":"confirm('x')","\u0064isableBreaks":true}`,
	} {
		inWorld(t, name, chaos.Options{Pages: 1}, func(w *world) {
			w.start("t", everything, bridged)
			time.Sleep(time.Second)
			begin(w, func(context.Context) (json.RawMessage, error) { return w.raw("Runtime.evaluate", params, "") })
			if s := w.snapshot("t"); len(s.PendingDialogs) != 1 || s.PendingDialogs[0].Path != messages.PathBridge {
				w.Fatalf("pending %+v, recent %+v", s.PendingDialogs, s.RecentDialogs)
			}
			if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: messages.ActionAccept}); err != nil {
				w.Fatal(err)
			}
		})
	}
	inWorld(t, "named twice", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, bridged)
		time.Sleep(time.Second)
		if _, err := w.raw("Runtime.evaluate", `{"expression":"1","disableBreaks":false,"disableBreaks":true}`, ""); messages.CodeOf(err) != messages.CodeInvalidArgument {
			w.Errorf("got %v", err)
		}
	})
}
