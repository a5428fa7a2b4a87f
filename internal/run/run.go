package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/run/bundle"
	"holdfast/internal/run/sandbox"
	"holdfast/messages"
)

// The bounds of a script.
const (
	// MaxScripts is how many run at once on a node.
	MaxScripts = 16

	maxText    = 256 << 10 // of what it displays, in bytes
	maxImages  = 10
	maxImage   = 8 << 20 // of all images, in base64
	maxValue   = 256 << 10
	maxConsole = 64 << 10
	maxTimers  = 1000
	maxCalls   = 64 // of tools, at once
	maxInbox   = 1024
)

// Dial connects to the gateway of a task. Errors are [*messages.Error]s.
type Dial func(ctx context.Context, task messages.TaskID) (*websocket.Conn, error)

// Gateway is what scripts need of the gateway.
type Gateway interface {
	Dial(ctx context.Context, id messages.TaskID, query url.Values) (*websocket.Conn, error)
}

// OnGateway connects scripts to a gateway. A script sees the dialogs of its task, and may
// answer them as other clients may.
func OnGateway(g Gateway) Dial {
	return func(ctx context.Context, task messages.TaskID) (*websocket.Conn, error) {
		return g.Dial(ctx, task, url.Values{"client": {"run"}, "dialogs": {"client"}})
	}
}

// Script is what to run.
type Script struct {
	Task    messages.TaskID
	Target  messages.TargetID // the page that the script knows as page
	Code    string            // the body of an async function
	Timeout time.Duration     // from the beginning to the end
	// Tools are what tab has: its own name of a tool, and the tool's.
	Tools [][2]string
	// Tool runs one of them. It is called on any goroutine, several at once.
	Tool func(ctx context.Context, name string, input json.RawMessage) *messages.ToolResult
}

// Runner runs scripts. It is safe for concurrent use.
type Runner struct {
	dial   Dial
	engine func() (*sandbox.Engine, error)
	slots  chan struct{}

	ending context.Context // its cause is errClosed
	end    context.CancelCauseFunc

	made *sandbox.Engine // of scripts that hold a slot
}

// New returns a runner of scripts, which has to be closed. Its engine is made with the first
// script.
func New(dial Dial) *Runner {
	r := &Runner{dial: dial, slots: make(chan struct{}, MaxScripts)}
	r.ending, r.end = context.WithCancelCause(context.Background())
	r.engine = sync.OnceValues(r.makeEngine)
	return r
}

var errClosed = messages.Errorf(messages.CodeUpstreamUnavailable, "the node is ending")

func (r *Runner) makeEngine() (*sandbox.Engine, error) {
	e, err := sandbox.NewEngine(context.Background(), bundle.QuickJS(), bundle.Scripts())
	if err != nil {
		return nil, err
	}
	r.made = e
	return e, nil
}

// Close ends every script, and frees the engine. It is called once.
func (r *Runner) Close() {
	r.end(errClosed)
	for range MaxScripts {
		r.slots <- struct{}{} // the last script has ended, and none begins any more
	}
	if r.made != nil {
		_ = r.made.Close()
	}
}

// Run runs a script to its end. What it had displayed is returned with an error too. Errors
// are [*messages.Error]s: script_error for an exception, deadline for the end of its time,
// limit_reached while too many scripts run, those of the gateway, and the cause with which ctx
// ends, where it is one.
func (r *Runner) Run(ctx context.Context, s Script) (messages.RunOutput, error) {
	none := messages.RunOutput{Output: []messages.RunItem{}, Console: []string{}}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-r.ending.Done():
		return none, errClosed
	default:
		return none, messages.Errorf(messages.CodeLimitReached, "%d scripts run already", MaxScripts).With("retry_after_s", 1)
	}
	if r.ending.Err() != nil {
		return none, errClosed
	}
	engine, err := r.engine()
	if err != nil {
		return none, fmt.Errorf("make the engine of scripts: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.ending, func() { cancel(errClosed) })()
	ctx, stop := context.WithTimeout(ctx, s.Timeout)
	defer stop()
	g := newGuest(s, r.dial)
	defer g.end()
	box, err := engine.Open(ctx, g.told)
	if err != nil {
		return none, g.failure(ctx, err)
	}
	defer box.Close()
	err = g.run(ctx, box)
	return g.out, g.failure(ctx, err)
}

// failure is err as callers know it.
func (g *guest) failure(ctx context.Context, err error) error {
	var (
		own    *messages.Error
		thrown *sandbox.ScriptError
		closed websocket.CloseError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(context.Cause(ctx), &own):
		return own
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return messages.Errorf(messages.CodeDeadline, "the script did not end within %v", g.script.Timeout)
	case ctx.Err() != nil:
		return messages.Errorf(messages.CodeDeadline, "the caller went away")
	case errors.As(g.lost(), &closed):
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the script's connection to the task ended: %s", closed.Reason)
	case errors.As(err, &thrown):
		return messages.Errorf(messages.CodeScriptError, "%s", thrown.Text)
	case errors.Is(err, sandbox.ErrMemory):
		return messages.Errorf(messages.CodeScriptError, "the script needs more than %d MiB of memory", sandbox.MaxMemory>>20)
	}
	return err
}
