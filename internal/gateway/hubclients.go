package gateway

import (
	"slices"
	"strconv"

	"holdfast/internal/gateway/view"
	"holdfast/messages"
)

// add makes a place for a client that has a browser session already. What it sees is what
// there is at that moment.
func (h *hub) add(c *client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.mayEnterLocked(c.opts.Mode); err != nil {
		return err
	}
	if h.link != c.link || !h.isUp {
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser was lost")
	}
	h.named++
	c.id = messages.ClientID("c-" + strconv.Itoa(h.named))
	if c.opts.Name == "" {
		c.opts.Name = "client-" + strconv.Itoa(h.named)
	}
	if c.opts.Mode == messages.ClientsExclusive {
		h.slot = c
	}
	v := h.board.View()
	c.view = view.New(c.configFor(v, h.standard))
	for id := range h.contexts {
		c.step(view.ContextKnown{ID: id})
	}
	for _, id := range h.order {
		if k := h.known[id]; k.isSeen {
			c.step(view.Seen{Target: k.Target}) // tells nothing yet: it neither discovers nor attaches
		}
	}
	for _, page := range h.off {
		c.off[page] = true
	}
	h.clients = append(h.clients, c)
	return nil
}

// mayEnterLocked says whether a further client may come.
func (h *hub) mayEnterLocked(mode messages.ClientMode) error {
	switch {
	case h.isMoved:
		return messages.Errorf(messages.CodeRehoming, "the task has moved to another node").With("retry_after_s", 1).WithSent(messages.SentNo)
	case h.isEnded:
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended")
	case h.slot != nil:
		return h.busy(h.slot)
	case mode == messages.ClientsExclusive && len(h.clients) > 0:
		return h.busy(h.clients[0])
	case len(h.clients) >= maxClients:
		h.g.cfg.Observer.ClientRejected(messages.ClientRejectedLimit)
		return messages.Errorf(messages.CodeLimitReached, "the task has %d clients already", maxClients)
	}
	return nil
}

func (h *hub) busy(holder *client) error {
	h.g.cfg.Observer.ClientRejected(messages.ClientRejectedBusy)
	return messages.Errorf(messages.CodeClientBusy, "client %s (%s) is on the task", holder.id, holder.opts.Name).
		With("slot", holder.shown()).With("retry_after_s", 1)
}

func (h *hub) remove(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = slices.DeleteFunc(h.clients, func(x *client) bool { return x == c })
	h.gone = append(h.gone, c)
	if h.slot == c {
		h.slot = nil
	}
}

// forget is for a client that has left every page.
func (h *hub) forget(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = slices.DeleteFunc(h.gone, func(x *client) bool { return x == c })
}

func (h *hub) list() messages.ClientList {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := messages.ClientList{Mode: messages.ClientsShared, Busy: h.slot != nil, Clients: []messages.Client{}}
	if h.slot != nil {
		l.Mode, l.ActiveClientID = messages.ClientsExclusive, h.slot.id
	}
	for _, c := range h.clients {
		l.Clients = append(l.Clients, c.shown())
	}
	return l
}

func (h *hub) hasDisconnected(id messages.ClientID) bool {
	h.mu.Lock()
	i := slices.IndexFunc(h.clients, func(c *client) bool { return c.id == id })
	var c *client
	if i >= 0 {
		c = h.clients[i]
	}
	h.mu.Unlock()
	if c == nil {
		return false
	}
	h.g.cfg.Observer.ClientRejected(messages.ClientRejectedOperator)
	c.end(CloseOperator, "disconnected by an operator")
	return true
}

// endGone ends with the task: every client is told that nothing is there any more.
func (h *hub) endGone(reason string) {
	h.mu.Lock()
	h.isEnded = true
	clients := slices.Clone(h.clients)
	h.mu.Unlock()
	for _, c := range clients {
		c.endGone(reason)
	}
}

// endAll disconnects every client.
func (h *hub) endAll(code Code, reason string) {
	h.mu.Lock()
	clients := slices.Clone(h.clients)
	h.mu.Unlock()
	for _, c := range clients {
		c.end(code, reason)
	}
}

// maxReason bounds the reason in a close frame (RFC 6455, section 5.5), in bytes.
const maxReason = 123

// move disconnects every client, now that another node has the task.
func (h *hub) move(address string) {
	h.mu.Lock()
	h.isMoved = true
	h.mu.Unlock()
	reason := "the task has moved to " + address
	if len(reason) > maxReason {
		reason = "the task has moved to another node"
	}
	h.endAll(CloseMoved, reason)
}
