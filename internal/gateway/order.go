package gateway

import (
	"context"
	"time"

	"holdfast/internal/gateway/view"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// orderBudget bounds what the supervisor is asked to do for a client. A new page navigates
// before it is told.
const orderBudget = 30 * time.Second

// order has the node do something beside the client's reader.
func (c *client) order(tag view.Tag, do func(ctx context.Context) (messages.TargetID, error)) {
	c.count(1)
	g := c.hub.g
	g.ended.Add(1)
	go func() {
		defer g.ended.Done()
		defer c.count(-1)
		ctx, cancel := context.WithTimeout(messages.WithCaller(context.Background(), c.opts.Caller), orderBudget)
		defer cancel()
		t, err := do(ctx)
		c.hub.refresh() // the view knows what has come of it before it hears of it
		runAll(c.step(view.Outcome{Tag: tag, Target: t, Err: outcome(transport.Reply{Err: err})}))
	}()
}

// open has the supervisor open a page: it is the task's from the first moment on.
func (c *client) open(e view.Open) {
	c.order(e.Tag, func(ctx context.Context) (messages.TargetID, error) {
		if _, _, err := c.hub.await(ctx); err != nil {
			return "", err
		}
		return c.hub.openPage(ctx, mail.OpenPage{URL: e.URL, IsNewWindow: e.IsNewWindow, Context: e.Context}, e.IsBackground)
	})
}

// drawBudget bounds how long a new page may take to be drawn from then on.
const drawBudget = 5 * time.Second

// openPage opens a page in the background, where it disturbs neither a person nor the page in
// front. Unless it is meant to be hidden it is drawn as one in front is: otherwise a client that
// clicks in it waits for a frame that never comes.
func (h *hub) openPage(ctx context.Context, o mail.OpenPage, isHidden bool) (messages.TargetID, error) {
	t, err := h.g.cfg.Node.OpenPage(ctx, h.id, o)
	if err != nil || isHidden {
		return t, err
	}
	r := messages.CDPRequest{Method: "Emulation.setFocusEmulationEnabled", Params: []byte(`{"enabled":true}`), TargetID: t, TimeoutS: drawBudget.Seconds()}
	if _, err := h.g.cfg.Node.CDP(ctx, h.id, r); err != nil {
		h.g.cfg.Log.Debug("a new page is not drawn in the background", "task", string(h.id), "err", err)
	}
	return t, nil
}

// close has the supervisor close a page, in the order that its dialogs allow (C15).
func (c *client) close(e view.Close) {
	c.order(e.Tag, func(ctx context.Context) (messages.TargetID, error) {
		if _, _, err := c.hub.await(ctx); err != nil {
			return "", err
		}
		return "", c.hub.g.cfg.Node.ClosePage(ctx, c.hub.id, e.Target)
	})
}

// sessionNow is the hub's own session on the link.
func (h *hub) sessionNow() messages.SessionID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}
