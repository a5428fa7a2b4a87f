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
	running  atomic.Int64
	draining atomic.Bool
	ended    chan struct{} // wakes whoever waits for the last one; room for one
}

func (c *calls) begin() { c.running.Add(1) }

func (c *calls) end() {
	if c.running.Add(-1) == 0 && c.draining.Load() {
		select {
		case c.ended <- struct{}{}:
		default:
		}
	}
}

// Calls is how many calls are under way, event streams apart.
func (h *Handler) Calls() int { return int(h.calls.running.Load()) }

// Drain has every answer from here on end its connection: the caller's next
// call looks for another node, or finds that there is none, instead of being
// lost on a connection that closes that very moment.
func (h *Handler) Drain() { h.calls.draining.Store(true) }

// AwaitCalls waits, after Drain, until no call is under way or ctx ends. Event
// streams are not waited for: they end with their tasks.
func (h *Handler) AwaitCalls(ctx context.Context) error {
	for h.calls.running.Load() > 0 {
		select {
		case <-h.calls.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// drain starts the node's end, as a signal would.
func (h *Handler) drain(w http.ResponseWriter, c *call) error {
	if !c.scope.Admin() {
		h.cfg.Observer.AuthFailed(c.route.class)
		return messages.Errorf(messages.CodeForbidden, "only the admin token may end the node")
	}
	if h.cfg.Drain == nil {
		return messages.Errorf(messages.CodeForbidden, "this node is not to be ended over HTTP")
	}
	h.cfg.Logger.InfoContext(c.Context(), "drain was asked for over HTTP")
	h.cfg.Drain()
	h.reply(w, c, http.StatusAccepted, map[string]bool{"draining": true})
	return nil
}
