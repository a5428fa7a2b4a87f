package worker

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"holdfast/internal/bench/stage"
)

type chromedpClient struct{}

type chromedpPage struct {
	ctx    context.Context
	target *chromedp.Target
}

// Open implements Client.
func (c *chromedpClient) Open(_ context.Context, p stage.Place) (Page, error) {
	// Neither is ever ended: the process is.
	ctx, _ := remote.NewAllocator(context.Background(), p.Browser, remote.NoModifyURL) //nolint:govet
	ctx, _ = chromedp.NewContext(ctx, chromedp.WithTargetID(target.ID(p.Target)), chromedp.WithErrorf(func(string, ...any) {}))
	if err := chromedp.Do(ctx); err != nil {
		return nil, err
	}
	return &chromedpPage{ctx: ctx, target: chromedp.FromContext(ctx).Target}, nil
}

// Close implements Client. The connections end with the process.
func (c *chromedpClient) Close() {}

// Evaluate implements Page.
func (p *chromedpPage) Evaluate(ctx context.Context) error {
	byValue := true
	r, err := cdp.Call(ctx, p.target, runtime.Evaluate, runtime.EvaluateParams{Expression: "1+1", ReturnByValue: &byValue})
	if err != nil {
		return err
	}
	if string(r.Result.Value) != "2" {
		return fmt.Errorf("1+1 is %s", r.Result.Value)
	}
	return nil
}

// Call implements Page.
func (p *chromedpPage) Call(ctx context.Context, method string, params map[string]any) error {
	return p.target.Call(ctx, method, params, nil)
}

// Arm implements Dialogs.
func (p *chromedpPage) Arm(ctx context.Context) (func() (int64, error), func() error, error) {
	at := make(chan int64, 1)
	listening, stop := context.WithCancel(p.ctx)
	err := chromedp.Listen(listening, func(ev any) {
		if _, ok := ev.(*page.EventJavascriptDialogOpening); ok {
			select {
			case at <- stage.Now():
			default:
			}
		}
	})
	if err != nil {
		stop()
		return nil, nil, err
	}
	seen := func() (int64, error) {
		defer stop()
		select {
		case t := <-at:
			return t, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	answer := func() error {
		_, err := cdp.Call(ctx, p.target, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		return err
	}
	return seen, answer, nil
}

// Expect implements Changer. chromedp keeps its own frames, and nothing of the console; a
// user that wants it listens.
func (p *chromedpPage) Expect(ctx context.Context, place stage.Place, _, last int) (func() error, error) {
	errorText, url := stage.Serial(last-1), stage.Serial(last)
	done := make(chan struct{})
	listening, stop := context.WithCancel(p.ctx)
	var heard bool
	err := chromedp.Listen(listening, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			if len(ev.Args) > 0 && strings.Contains(string(ev.Args[0].Value), errorText) {
				heard = true
			}
		case *page.EventFrameNavigated:
			if heard && string(ev.Frame.ID) == place.Frame && strings.Contains(ev.Frame.URL, url) {
				close(done)
			}
		}
	})
	if err != nil {
		stop()
		return nil, err
	}
	return func() error {
		defer stop()
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}
