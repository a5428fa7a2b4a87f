package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"holdfast/messages"
)

// waitTools wait for pages.
var waitTools = []Tool{
	define[waitInput, waitOutput](Tool{
		Name: "browser_wait_for", Title: "Wait", Group: "pages", IsCore: true,
		Description: "Wait until a text is shown, is gone, or the address holds a text. time_s alone only lets time pass.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runWait),
}

type waitInput struct {
	on
	Text     string  `json:"text,omitempty" maxlen:"10000"`
	TextGone string  `json:"text_gone,omitempty" maxlen:"10000"`
	URL      string  `json:"url,omitempty" maxlen:"10000" jsonschema:"part of the address"`
	TimeS    float64 `json:"time_s,omitempty" min:"0" max:"300"`
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"default 30"`
}

type waitOutput struct {
	WaitedMS int64 `json:"waited_ms"`
	// HasMatched is false where only time has passed (W27).
	HasMatched bool `json:"matched"`
}

// waitPoll is how often a page is asked.
const waitPoll = 100 * time.Millisecond

func runWait(ctx context.Context, c *call, in waitInput) (outcome, error) {
	began := time.Now()
	isOnly := in.Text == "" && in.TextGone == "" && in.URL == ""
	if isOnly && in.TimeS == 0 {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "give text, text_gone, url or time_s")
	}
	if isOnly {
		if err := pause(ctx, time.Duration(in.TimeS*float64(time.Second))); err != nil {
			return outcome{}, err
		}
		return outcome{text: fmt.Sprintf("%g s have passed; nothing was looked for.", in.TimeS), data: waitOutput{WaitedMS: time.Since(began).Milliseconds()}, category: "elapsed"}, nil
	}
	within := 30 * time.Second
	if in.TimeoutS != 0 {
		within = time.Duration(clampTimeout(in.TimeoutS) * float64(time.Second))
	}
	for {
		isThere, err := c.isAsWanted(ctx, in)
		if err != nil {
			return outcome{}, err
		}
		waited := time.Since(began)
		if isThere {
			return outcome{text: fmt.Sprintf("Found after %.1f s.", waited.Seconds()), data: waitOutput{waited.Milliseconds(), true}}, nil
		}
		if waited > within {
			return outcome{data: waitOutput{WaitedMS: waited.Milliseconds()}}, messages.Errorf(messages.CodeDeadline, "it did not come within %g s", within.Seconds())
		}
		if err := pause(ctx, waitPoll); err != nil {
			return outcome{}, err
		}
	}
}

// isAsWanted says whether all that is waited for holds.
func (c *call) isAsWanted(ctx context.Context, in waitInput) (bool, error) {
	target, err := c.page()
	if err != nil {
		return false, err
	}
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: target, Full: true})
	if err != nil {
		return false, err
	}
	if in.URL != "" {
		isThere := false
		for _, p := range snap.Pages {
			isThere = isThere || p.TargetID == target && strings.Contains(p.URL, in.URL)
		}
		if !isThere {
			return false, nil
		}
	}
	for _, want := range []struct {
		text    string
		isShown bool
	}{{in.Text, true}, {in.TextGone, false}} {
		if want.text == "" {
			continue
		}
		isShown, err := c.shows(ctx, snap, want.text)
		if err != nil || isShown != want.isShown {
			return false, err
		}
	}
	return true, nil
}

// shows says whether any frame of the page shows a text.
func (c *call) shows(ctx context.Context, snap *messages.Snapshot, text string) (isShown bool, err error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return false, err
	}
	for _, f := range sessionsOf(snap) {
		var got evaluation
		err := c.cdp(ctx, f, "Runtime.evaluate", map[string]any{"expression": textScript + "(" + string(quoted) + ")", "returnByValue": true}, &got, quickly)
		switch messages.CodeOf(err) {
		case "":
			if string(got.Result.Value) == "true" {
				return true, nil
			}
		case messages.CodeCDPError, messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF:
			// A document that came or left meanwhile: the next look sees the other.
		default:
			return false, err
		}
	}
	return false, nil
}
