package gateway

import (
	"bytes"
	"slices"

	board "holdfast/actors/supervisor/view"
	"holdfast/internal/gateway/view"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/transport"
)

// heard takes the events of the hub's session, on the link's reader.
func (h *hub) heard(msg, method []byte) {
	e, err := transport.Scan(msg)
	if err != nil {
		return
	}
	var later []func()
	h.mu.Lock()
	switch string(method) {
	case "Target.targetCreated", "Target.targetInfoChanged":
		later = h.noteLocked(memberOf(e.Params, "targetInfo"))
	case "Target.targetDestroyed":
		later = h.forgetLocked(messages.TargetID(scan.Unquote(memberOf(e.Params, "targetId"))))
	}
	h.mu.Unlock()
	runAll(later)
}

func runAll(later []func()) {
	for _, do := range later {
		do()
	}
}

// memberOf returns the raw value of one key of an object, nil if there is none.
func memberOf(object []byte, key string) []byte {
	m := scan.Members{JSON: object}
	for m.Next() {
		if string(m.Key) == key {
			return m.Value
		}
	}
	return nil
}

func (h *hub) noteLocked(info []byte) []func() {
	t, ok := view.ReadTarget(slices.Clone(info))
	if !ok {
		return nil
	}
	k := h.known[t.ID]
	if k == nil {
		if len(h.known) >= maxTargets {
			return nil
		}
		k = &known{}
		h.known[t.ID] = k
		h.order = append(h.order, t.ID)
	}
	isKnown := k.isStale && bytes.Equal(k.Info, t.Info)
	k.isStale = false
	if isKnown {
		return nil
	}
	k.Target = t
	k.parentFrame = messages.FrameID(scan.Unquote(memberOf(info, "parentFrameId")))
	if k.isSeen {
		return h.tellLocked(view.Seen{Target: t})
	}
	return h.showLocked(h.board.View())
}

func (h *hub) forgetLocked(id messages.TargetID) []func() {
	k := h.known[id]
	if k == nil {
		return nil
	}
	delete(h.known, id)
	delete(h.unseen, id)
	h.order = slices.DeleteFunc(h.order, func(t messages.TargetID) bool { return t == id })
	if !k.isSeen {
		return nil
	}
	return h.tellLocked(view.Lost{Target: id})
}

// refresh compares what clients see with the task's state.
func (h *hub) refresh() {
	h.mu.Lock()
	later := h.showLocked(h.board.View())
	h.mu.Unlock()
	runAll(later)
}

// showLocked tells the clients which targets are the task's now, and are no longer.
func (h *hub) showLocked(v *board.View) (later []func()) {
	if len(h.clients) == 0 && len(h.known) == 0 {
		return nil
	}
	o := h.ownershipOf(v)
	for _, id := range slices.Clone(h.order) {
		k := h.known[id]
		owned := o.has(k)
		switch {
		case owned && !k.isSeen:
			if k.Type == "page" {
				h.holdPageLocked(id)
			}
			k.isSeen = true
			later = append(later, h.tellLocked(view.Seen{Target: k.Target})...)
		case !owned && k.isSeen:
			k.isSeen = false
			later = append(later, h.tellLocked(view.Lost{Target: id})...)
		case !owned && k.Type == "tab":
			later = append(later, h.askTabLocked(k, v)...)
		}
	}
	return later
}

func (h *hub) tellLocked(in any) (later []func()) {
	for _, c := range h.clients {
		later = append(later, c.step(in)...)
	}
	return later
}
