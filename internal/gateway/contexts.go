package gateway

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"holdfast/internal/gateway/view"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/transport"
)

// A browser context that a client makes belongs to the task. It is there for the task's other
// clients, also those that come when its maker has gone, and across the task's links. It ends by
// Target.disposeBrowserContext, with its maker where that has asked for disposeOnDetach, and with
// the task.
//
// To dispose of a context closes the pages in it, whatever they show, which may end the browser
// (C15). So the supervisor closes them first.

// dispose ends a browser context for a client.
func (c *client) dispose(e view.Dispose) {
	c.order(e.Tag, func(ctx context.Context) (messages.TargetID, error) {
		err := c.hub.endContext(ctx, e.Context)
		if err == nil {
			c.hub.contextChanged(c, view.ContextKnown{ID: e.Context, IsGone: true})
		}
		return "", err
	})
}

// disposeUnheard ends a context whose maker has gone before the reply: its id is known to none.
func (c *client) disposeUnheard(reply []byte) {
	c.mu.Lock()
	isOver := c.isOver
	c.mu.Unlock()
	if id := string(scan.Unquote(memberOf(reply, "browserContextId"))); isOver && id != "" {
		c.hub.dispose(c, id)
	}
}

// dispose ends browser contexts that were to end with their client. Without a link it is done on
// the next one.
func (h *hub) dispose(by *client, ids ...string) {
	for _, id := range ids {
		h.mu.Lock()
		if _, ok := h.leftOver[id]; !ok {
			h.leftOver[id] = false
		}
		h.mu.Unlock()
		h.contextChanged(by, view.ContextKnown{ID: id, IsGone: true})
	}
	h.disposeLeftOver()
}

func (h *hub) disposeLeftOver() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isUp || h.isEnded {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(h.leftOver)) {
		if h.leftOver[id] {
			continue
		}
		h.leftOver[id] = true
		h.g.ended.Add(1)
		go func() {
			defer h.g.ended.Done()
			ctx, cancel := context.WithTimeout(context.Background(), orderBudget)
			defer cancel()
			h.disposed(id, h.endContext(ctx, id))
		}()
	}
}

// disposed takes the outcome. What a lost link, or a page that cannot be closed, has left is tried
// again on the next link, and at the task's end by the supervisor.
func (h *hub) disposed(id string, err error) {
	h.mu.Lock()
	_, isRefused := errors.AsType[*transport.RPCError](err)
	if h.leftOver[id] = false; err == nil || isRefused {
		delete(h.leftOver, id)
	}
	h.tellContextsLocked()
	h.mu.Unlock()
	h.g.maybeEnd(h)
}

// endContext closes the pages of a browser context, and disposes of it.
func (h *hub) endContext(ctx context.Context, id string) error {
	link, session, err := h.await(ctx)
	if err != nil {
		return err
	}
	pages := h.pagesIn(id)
	failed := make([]error, len(pages))
	var closing sync.WaitGroup
	for i, page := range pages {
		closing.Go(func() { failed[i] = h.g.cfg.Node.ClosePage(ctx, h.id, page) })
	}
	closing.Wait()
	for _, err := range failed {
		if err != nil && messages.CodeOf(err) != messages.CodeTargetNotFound {
			return err
		}
	}
	r := link.Await(ctx, transport.Call{SessionID: session, Method: "Target.disposeBrowserContext", Params: contextParam(id), IsGuest: true})
	if errors.Is(r.Err, transport.ErrLinkClosed) {
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser was lost").WithSent(messages.SentIf(r.IsSent || len(pages) > 0))
	}
	return r.Err
}

// pagesIn are the task's pages in a browser context.
func (h *hub) pagesIn(context string) (pages []messages.TargetID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range h.order {
		if k := h.known[id]; k.Type == "page" && k.Context == context && k.isSeen {
			pages = append(pages, id)
		}
	}
	return pages
}

// contextChanged tells the other clients of a browser context that one of them has made or
// disposed of, and the supervisor.
func (h *hub) contextChanged(by *client, k view.ContextKnown) {
	h.mu.Lock()
	if delete(h.contexts, k.ID); !k.IsGone {
		h.contexts[k.ID] = true
	}
	h.tellContextsLocked()
	var later []func()
	for _, c := range h.clients {
		if c != by {
			later = append(later, c.step(k)...)
		}
	}
	later = append(later, h.showLocked(h.board.View())...)
	h.mu.Unlock()
	runAll(later)
}

// tellContextsLocked tells the supervisor which contexts there are.
func (h *hub) tellContextsLocked() {
	all := maps.Clone(h.contexts)
	for id := range h.leftOver {
		all[id] = true
	}
	h.g.cfg.Node.ClientContexts(h.id, slices.Sorted(maps.Keys(all)))
}

// forgetContexts forgets the contexts of a browser that has been replaced by another one.
func (h *hub) forgetContexts() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.contexts)
	clear(h.leftOver)
	h.tellContextsLocked()
}

// hasContexts says whether the hub stays without clients: contexts of theirs are there.
func (h *hub) hasContexts() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.isEnded && len(h.contexts)+len(h.leftOver) > 0
}

func contextParam(id string) []byte {
	return append(append([]byte(`{"browserContextId":`), quoted(id)...), '}')
}
