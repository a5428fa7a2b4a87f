package session

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/actors/session/page"
	"holdfast/actors/session/wanted"
	"holdfast/messages"
	"holdfast/transport"
	"holdfast/transport/quirks"
)

// Port is the caller's way to one CDP session: it leads straight to the link,
// past every mailbox, so that no call can hold up another. It is safe for
// concurrent use and stays valid after its session has ended: calls then fail.
type Port struct {
	Session messages.SessionID
	IsPage  bool

	mux     *transport.Mux
	stalled func()                           // asks the session's actor for a probe; does not block
	replied func()                           // tells it of a reply behind that; the same; nil for the browser's own session
	rearm   func(method string, done func()) // the same; nil for the browser's own session
	settled func()                           // something of wanted is not refused any more; the same
	place   wanted.Place
	wanted  *wanted.Store

	made      time.Time
	lived     atomic.Int64 // how long after made the renderer has answered last
	isDoubted atomic.Bool  // a probe was asked for, and no reply has come behind that
}

// HasLivedSince reports whether the renderer has answered a call after t. A caller that
// has a result finds it here, though the session's actor may not have heard yet.
func (p *Port) HasLivedSince(t time.Time) bool {
	lived := p.lived.Load()
	return lived != 0 && p.made.Add(time.Duration(lived)).After(t)
}

// AgentCall is one raw CDP command of an agent.
type AgentCall struct {
	Method  string
	Params  []byte
	Timeout time.Duration
	// AwaitsDialog says that a dialog which opens meanwhile does not end the call.
	AwaitsDialog bool
}

// Call is [Port.Do] for a command that a dialog ends.
func (p *Port) Call(ctx context.Context, method string, params []byte, timeout time.Duration) ([]byte, error) {
	return p.Do(ctx, AgentCall{Method: method, Params: params, Timeout: timeout})
}

// Do runs one command and waits for its outcome, at most Timeout long. Every
// error is an [*messages.Error]; the link outlives a cancelled ctx.
func (p *Port) Do(ctx context.Context, c AgentCall) ([]byte, error) {
	method, params := c.Method, c.Params
	call := transport.Call{
		SessionID: p.Session, Method: method, Params: params, Timeout: c.Timeout, IsUser: true,
		Stalled: p.doubt, StallAfter: page.StallAfter, IsPatient: c.AwaitsDialog,
	}
	if wanted.IsKept(method) {
		send, answer, err := p.wanted.Prepare(p.place, method, params)
		if err != nil || answer != nil {
			return answer, err
		}
		call.Params = send
		// On the reader's goroutine: what is known when the caller has its answer
		// is known when the link ends.
		call.Succeeded = func(result []byte) []byte {
			result, resolved := p.wanted.Succeeded(p.place, method, params, result)
			if resolved && p.settled != nil {
				p.settled()
			}
			return result
		}
	}
	r := p.mux.Await(ctx, call)
	if r.Err != nil {
		return nil, callError(r.Err, r.IsSent)
	}
	if quirks.ProvesLife(method) {
		p.lived.Store(int64(time.Since(p.made)))
		if p.isDoubted.CompareAndSwap(true, false) && p.replied != nil {
			p.replied()
		}
	}
	return r.Result, nil
}

// doubt has the session's actor find out why a call waits.
func (p *Port) doubt() {
	p.isDoubted.Store(true)
	p.stalled()
}

// Rearm sets the bridge up anew behind an agent's method, and before whatever is called
// after it returns. It waits for the session's actor, but not long: one that does not
// come is about to be replaced, and its successor sets up the bridge by itself.
func (p *Port) Rearm(ctx context.Context, method string) {
	if p.rearm == nil {
		return
	}
	rearmed := make(chan struct{})
	p.rearm(method, sync.OnceFunc(func() { close(rearmed) }))
	patience := time.NewTimer(page.StallAfter)
	defer patience.Stop()
	select {
	case <-rearmed:
	case <-patience.C:
	case <-ctx.Done():
	case <-p.mux.Closed():
	}
}

// Mark tells the browser process that the port leads to from any other; "" where that is
// not known, and of no port.
func (p *Port) Mark() string {
	if p == nil {
		return ""
	}
	return p.mux.Browser()
}

// Link is the link that the port leads to, for sessions that are not the node's own.
func (p *Port) Link() *transport.Mux { return p.mux }

// Break ends the whole link as a lost one, for trying out what follows. The
// channel is closed once every call on it has had its outcome.
func (p *Port) Break() <-chan struct{} {
	p.mux.Break()
	return p.mux.Closed()
}

// callError turns a transport outcome into the contract's words.
func callError(err error, sent bool) *messages.Error {
	var (
		own  *messages.Error
		rpc  *transport.RPCError
		link *transport.LinkError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &rpc):
		chrome := map[string]any{"code": rpc.Code, "message": rpc.Message}
		if len(rpc.Data) > 0 {
			chrome["data"] = json.RawMessage(rpc.Data)
		}
		return messages.Errorf(messages.CodeCDPError, "%s", rpc.Message).With("cdp", chrome)
	case errors.As(err, &link):
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser ended (%s); the command was not repeated", link.Why()).WithSent(messages.SentIf(sent))
	case errors.Is(err, transport.ErrTooLarge):
		return messages.Errorf(messages.CodeMessageTooLarge, "the browser's reply is larger than %d bytes", messages.MaxCDPMessage)
	case errors.Is(err, transport.ErrOverloaded):
		return messages.Errorf(messages.CodeUpstreamUnavailable, "too much waits to be written to the browser").WithSent(messages.SentNo).With("overloaded", true).Final()
	case errors.Is(err, transport.ErrInvalidCall):
		return messages.Errorf(messages.CodeInvalidArgument, "the method or its params are malformed")
	case errors.Is(err, transport.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return messages.Errorf(messages.CodeDeadline, "the browser did not answer in time").WithSent(messages.SentIf(sent))
	case errors.Is(err, context.Canceled):
		return messages.Errorf(messages.CodeDeadline, "the caller went away").WithSent(messages.SentIf(sent))
	default:
		return messages.Errorf(messages.CodeInternal, "%s", err)
	}
}
