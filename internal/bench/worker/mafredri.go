package worker

import (
	"context"
	"fmt"

	"github.com/mafredri/cdp"
	"github.com/mafredri/cdp/protocol/page"
	"github.com/mafredri/cdp/protocol/runtime"
	"github.com/mafredri/cdp/rpcc"

	"holdfast/internal/bench/stage"
)

// mafredriClient goes to the page's own endpoint, the way its documentation
// shows.
type mafredriClient struct{}

type mafredriPage struct {
	conn   *rpcc.Conn
	client *cdp.Client
}

// Open implements Client.
func (c *mafredriClient) Open(ctx context.Context, p stage.Place) (Page, error) {
	conn, err := rpcc.DialContext(ctx, p.Page)
	if err != nil {
		return nil, err
	}
	return &mafredriPage{conn, cdp.NewClient(conn)}, nil
}

// Close implements Client. The connections end with the process.
func (c *mafredriClient) Close() {}

// Evaluate implements Page.
func (p *mafredriPage) Evaluate(ctx context.Context) error {
	r, err := p.client.Runtime.Evaluate(ctx, runtime.NewEvaluateArgs("1+1").SetReturnByValue(true))
	if err != nil {
		return err
	}
	if string(r.Result.Value) != "2" {
		return fmt.Errorf("1+1 is %s", r.Result.Value)
	}
	return nil
}

// Call implements Page.
func (p *mafredriPage) Call(ctx context.Context, method string, params map[string]any) error {
	return rpcc.Invoke(ctx, method, params, nil, p.conn)
}

// Arm implements Dialogs.
func (p *mafredriPage) Arm(ctx context.Context) (func() (int64, error), func() error, error) {
	events, err := p.client.Page.JavascriptDialogOpening(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := p.client.Page.Enable(ctx); err != nil {
		return nil, nil, err
	}
	seen := func() (int64, error) {
		defer func() { _ = events.Close() }()
		_, err := events.Recv()
		return stage.Now(), err
	}
	answer := func() error {
		return p.client.Page.HandleJavaScriptDialog(ctx, page.NewHandleJavaScriptDialogArgs(true))
	}
	return seen, answer, nil
}
