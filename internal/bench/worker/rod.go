package worker

import (
	"context"
	"fmt"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"

	"holdfast/internal/bench/stage"
)

type rodClient struct{}

type rodPage struct{ *rod.Page }

// Open implements Client.
func (c *rodClient) Open(_ context.Context, p stage.Place) (Page, error) {
	b := rod.New().ControlURL(p.Browser).NoDefaultDevice()
	if err := b.Connect(); err != nil {
		return nil, err
	}
	page, err := b.PageFromTarget(proto.TargetTargetID(p.Target))
	return &rodPage{page}, err
}

// Close implements Client. The connections end with the process.
func (c *rodClient) Close() {}

// Evaluate implements Page.
func (p *rodPage) Evaluate(ctx context.Context) error {
	r, err := proto.RuntimeEvaluate{Expression: "1+1", ReturnByValue: true}.Call(p.Context(ctx))
	if err != nil {
		return err
	}
	if r.Result.Value.Int() != 2 {
		return fmt.Errorf("1+1 is %v", r.Result.Value)
	}
	return nil
}

// Call implements Page.
func (p *rodPage) Call(ctx context.Context, method string, params map[string]any) error {
	_, err := p.Page.Call(ctx, string(p.SessionID), method, params)
	return err
}

// Arm implements Dialogs.
func (p *rodPage) Arm(ctx context.Context) (func() (int64, error), func() error, error) {
	var at int64
	wait := p.Context(ctx).EachEvent(func(*proto.PageJavascriptDialogOpening) bool {
		at = stage.Now()
		return true
	})
	seen := func() (int64, error) {
		wait()
		return at, ctx.Err()
	}
	answer := func() error { return proto.PageHandleJavaScriptDialog{Accept: true}.Call(p.Context(ctx)) }
	return seen, answer, nil
}
