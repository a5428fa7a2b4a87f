package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"holdfast/internal/browser"
	"holdfast/messages"
)

const taskID messages.TaskID = "demo"

// givenText is what the payment frame is answered.
const givenText = "4242"

// findBrowser returns the browser that the demo runs, and its version.
func findBrowser(ctx context.Context, o Options) (path, version string, err error) {
	if path, err = browser.Ensure(ctx, o.ChromePath, o.Out); err != nil {
		return "", "", err
	}
	if version, err = browser.Version(ctx, path); err != nil {
		return "", "", fmt.Errorf("%s does not run: %w", path, err)
	}
	return path, version, nil
}

// narrator prints a story as it happens.
type narrator struct {
	out   io.Writer
	begin time.Time
}

// show prints a dialog, which has to be of a frame.
func (n narrator) show(d messages.Dialog) error {
	n.say("         %s  %s  %q  (default %q)", d.ID, d.Type, d.Message, d.DefaultPrompt)
	n.say("         asked by frame %s at %s", d.FrameID, d.FrameURL)
	if string(d.FrameID) == string(d.TargetID) {
		return errors.New("the dialog was attributed to the page instead of its frame")
	}
	return nil
}

// step is a part of a story; its name completes "could not".
type step struct {
	name string
	run  func() error
}

// tell runs the steps up to the first that fails.
func (n narrator) tell(steps []step) error {
	for _, s := range steps {
		if err := s.run(); err != nil {
			return fmt.Errorf("the demo could not %s: %w", s.name, err)
		}
	}
	n.say("\nDone in %.1f s. Nothing is left running.", time.Since(n.begin).Seconds())
	return nil
}

func (n narrator) say(format string, args ...any) { fmt.Fprintf(n.out, format+"\n", args...) }

// announce prints what is about to be shown.
func (n narrator) announce(title string) {
	n.say("\n[%4.1f s] %s", time.Since(n.begin).Seconds(), title)
}

// driver runs raw CDP on a task.
type driver interface {
	CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error)
}

// readShop shows what the shop has received from the payment frame.
func (n narrator) readShop(ctx context.Context, d driver) error {
	n.announce("The page continues. What did it receive?")
	// The frame tells the shop by postMessage, so the answer has crossed both
	// origins once it is here.
	received, err := evaluate(ctx, d, "", `new Promise(done => { (function look() {
		const text = document.getElementById('received').textContent
		text ? done(text) : setTimeout(look, 10)
	})() })`)
	if err != nil {
		return err
	}
	n.say("         the shop shows: %s", received)
	if received != "payment got "+givenText {
		return fmt.Errorf("expected %q", "payment got "+givenText)
	}
	return nil
}

// isWhole says that the payment frame is there, attached in its own process.
func isWhole(t *messages.FrameTree) bool {
	return t != nil && len(t.Children) == 1 && t.Children[0].IsOOPIF && t.Children[0].SessionID != ""
}

// evaluate returns a string that a script yields.
func evaluate(ctx context.Context, d driver, frame messages.FrameID, expression string) (string, error) {
	params, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		return "", err
	}
	res, err := d.CDP(ctx, taskID, messages.CDPRequest{Method: "Runtime.evaluate", Params: params, FrameID: frame})
	if err != nil {
		return "", err
	}
	var r struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	if err := json.Unmarshal(res.Result, &r); err != nil {
		return "", err
	}
	return r.Result.Value, nil
}
