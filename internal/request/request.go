package request

import (
	"context"
	"encoding/json"
	"time"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"

	"holdfast/messages"
)

// Navigate is the request for a navigation.
func Navigate(ctx context.Context, url string, opts []messages.CallOption) (messages.NavigateRequest, error) {
	o := messages.OptionsOf(opts)
	r := messages.NavigateRequest{URL: url, TargetID: o.TargetID, WaitUntil: o.Until, TimeoutS: timeout(ctx, o), WaitS: wait(o)}
	return r, fits(&o, "Navigate", &o.TargetID, &o.Until, &o.Timeout, &o.Wait)
}

// CDP is the request for a raw command. Params is nil, raw JSON, or a value that is
// encoded as JSON.
func CDP(ctx context.Context, method string, params any, opts []messages.CallOption) (messages.CDPRequest, error) {
	o := messages.OptionsOf(opts)
	raw, err := encode(params)
	if err != nil {
		return messages.CDPRequest{}, err
	}
	r := messages.CDPRequest{
		Method: method, Params: raw, FrameID: o.FrameID, TargetID: o.TargetID, OnDialog: o.OnDialog, TimeoutS: timeout(ctx, o), WaitS: wait(o),
	}
	return r, fits(&o, "CDP", &o.TargetID, &o.FrameID, &o.OnDialog, &o.Timeout, &o.Wait)
}

// Answer is the request that answers a dialog.
func Answer(a messages.Action, opts []messages.CallOption) (messages.DialogAnswer, error) {
	o := messages.OptionsOf(opts)
	r := messages.DialogAnswer{Action: a, PromptText: o.PromptText, DialogID: o.DialogID, By: o.By, WaitS: wait(o)}
	return r, fits(&o, "Answer", &o.DialogID, &o.PromptText, &o.By, &o.Wait)
}

// Recover is the request for a recovery.
func Recover(a messages.RecoverAction, opts []messages.CallOption) (messages.RecoverRequest, error) {
	o := messages.OptionsOf(opts)
	r := messages.RecoverRequest{Action: a, TargetID: o.TargetID, WaitS: wait(o)}
	return r, fits(&o, "Recover", &o.TargetID, &o.Wait)
}

// Snapshot is which snapshot is asked for.
func Snapshot(opts []messages.CallOption) (messages.SnapshotOptions, error) {
	o := messages.OptionsOf(opts)
	r := messages.SnapshotOptions{TargetID: o.TargetID, Full: o.IsFull}
	return r, fits(&o, "Snapshot", &o.TargetID, &o.IsFull)
}

// Events is the version behind which events start; nil is a reset first.
func Events(opts []messages.CallOption) (after *uint64, err error) {
	o := messages.OptionsOf(opts)
	after = o.After
	return after, fits(&o, "Events", &o.After)
}

// fits refuses an option that the call does not have. It clears those that it has.
func fits(o *messages.CallOptions, call string, has ...any) error {
	for _, field := range has {
		switch f := field.(type) {
		case *time.Duration:
			*f = 0
		case **time.Duration:
			*f = nil
		case *messages.TargetID:
			*f = ""
		case *messages.FrameID:
			*f = ""
		case *messages.WaitUntil:
			*f = ""
		case *messages.Answerer:
			*f = ""
		case *messages.OnDialog:
			*f = ""
		case *messages.DialogID:
			*f = ""
		case **string:
			*f = nil
		case *bool:
			*f = false
		case **uint64:
			*f = nil
		default:
			panic("request: a field of no known type")
		}
	}
	if *o != (messages.CallOptions{}) {
		return messages.Errorf(messages.CodeInvalidArgument, "an option does not fit %s", call)
	}
	return nil
}

// timeout is what the option says, else what is left of ctx, else not said.
func timeout(ctx context.Context, o messages.CallOptions) float64 {
	if o.Timeout != 0 {
		return o.Timeout.Seconds()
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return min(max(time.Until(deadline), messages.MinCallTimeout), messages.MaxCallTimeout).Seconds()
}

func wait(o messages.CallOptions) *float64 {
	if o.Wait == nil {
		return nil
	}
	s := o.Wait.Seconds()
	return &s
}

func encode(params any) (json.RawMessage, error) {
	switch p := params.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return p, nil
	case []byte:
		return p, nil
	}
	b, err := jsonv2.Marshal(params)
	if err != nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "params cannot be encoded as JSON")
	}
	return b, nil
}
