package gateway

import (
	"maps"
	"slices"
	"time"

	"holdfast/messages"
)

// hold has the task's popups held for a client that attaches to each and asks that it waits,
// or no longer. What such a client sets in a popup is to be there before the first request of
// it; the task's own link holds the popup meanwhile (C64).
func (h *hub) hold(c *client, isOn bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if isOn == h.holders[c] {
		return
	}
	before := len(h.holders)
	if delete(h.holders, c); isOn {
		h.holders[c] = true
	} else {
		for _, page := range slices.Sorted(maps.Keys(h.unseen)) {
			h.seenByLocked(c, page)
		}
	}
	if before == 0 || len(h.holders) == 0 {
		h.g.cfg.Node.HoldPopups(h.id, isOn)
	}
}

// holdPageLocked begins a new page's wait for the clients that hold popups.
func (h *hub) holdPageLocked(page messages.TargetID) {
	if len(h.holders) > 0 {
		h.unseen[page] = maps.Clone(h.holders)
	}
}

// isHeldFor says whether a page waits for the client to resume it.
func (h *hub) isHeldFor(c *client, page messages.TargetID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unseen[page][c]
}

// seenByLocked ends a page's wait for one client.
func (h *hub) seenByLocked(c *client, page messages.TargetID) {
	waits := h.unseen[page]
	if waits == nil {
		return
	}
	if delete(waits, c); len(waits) == 0 {
		delete(h.unseen, page)
		h.g.cfg.Node.PopupSeen(h.id, page)
	}
}

// resumeGrace is how long a popup that a client has resumed waits for the page's reply to that.
// Behind it everything holds that the client has set before: the popup would run without what is
// under way still. A popup that cannot reach its opener replies to nothing while it is held.
const resumeGrace = 100 * time.Millisecond

// resumed notes that the client has resumed the page of a session.
func (c *client) resumed(id messages.SessionID) {
	c.mu.Lock()
	s := c.sessions[id]
	c.mu.Unlock()
	if s == nil {
		return
	}
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.hub.seenByLocked(c, s.target)
}
