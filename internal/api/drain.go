package api

import (
	"context"
	"net/http"
	"sync/atomic"

	"holdfast/messages"
)

// calls counts the calls under way, event streams apart. Counting costs two
// atomic additions a call.
type calls struct {
	early    atomic.Int64 // began before the drain
	late     atomic.Int64
	draining atomic.Bool
	ended    chan struct{} // wakes the code that waits for the last one; room for one
}

// begin counts a call and returns what counts its end.
func (c *calls) begin() *atomic.Int64 {
	n := &c.early
	if c.draining.Load() {
		n = &c.late
	}
	n.Add(1)
	return n
}

func (c *calls) end(n *atomic.Int64) {
	if n.Add(-1) == 0 && c.draining.Load() {
		select {
		case c.ended <- struct{}{}:
		default:
		}
	}
}

func (c *calls) await(ctx context.Context, left func() int64) error {
	for left() > 0 {
		select {
		case <-c.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Calls is how many calls are under way, event streams apart.
func (h *Handler) Calls() int { return int(h.calls.early.Load() + h.calls.late.Load()) }

// Drain has every answer from here on end its connection: the caller's next
// call looks for another node, or finds that there is none, instead of being
// lost on a connection that closes that very moment.
func (h *Handler) Drain() { h.calls.draining.Store(true) }

// AwaitEarlier waits, after Drain, until no call is under way that began before
// it, or ctx ends. Event streams are not waited for: they end with their tasks.
// Of this and AwaitCalls one may run at a time.
func (h *Handler) AwaitEarlier(ctx context.Context) error {
	return h.calls.await(ctx, h.calls.early.Load)
}

// AwaitCalls waits, after Drain, until no call is under way at all or ctx ends.
func (h *Handler) AwaitCalls(ctx context.Context) error {
	return h.calls.await(ctx, func() int64 { return int64(h.Calls()) })
}

// drain starts the node's end, as a signal would.
func (h *Handler) drain(w http.ResponseWriter, c *call) error {
	if !c.caller.Scope().IsAdmin() {
		return c.caller.Refuse(c.Context(), messages.Errorf(messages.CodeForbidden, "only the admin token may end the node"))
	}
	if h.cfg.Drain == nil {
		return messages.Errorf(messages.CodeForbidden, "this node is not to be ended over HTTP")
	}
	h.cfg.Logger.InfoContext(c.Context(), "drain was asked for over HTTP")
	h.cfg.Drain()
	h.reply(w, c, http.StatusAccepted, messages.Draining{Draining: true})
	return nil
}
