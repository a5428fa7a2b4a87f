package link

import (
	"encoding/json"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
)

// A page with a dialog in a frame of another process is closed in two steps. Closing it
// removes the frame first, and that ends the browser if any client is attached (C15). A
// release (C19) ends the dialog, unless a client was attached in that moment: another
// task's link, when it comes up, looks at every page for an instant. Then the browser is
// asked whether any client still is. So two clients, each at its moment, are needed for a
// failure.
const (
	freeAgain = 50 * time.Millisecond // the time for an attached client to leave
	freeTries = 20
)

// free begins with a page that has been left.
func (m *Primary) free(t messages.TargetID) {
	p := m.pages.At(t)
	if p == nil || !p.isClosing {
		return
	}
	if p.tries++; p.tries > freeTries {
		p.tries = 0
		m.notClosed(t, messages.Errorf(messages.CodePageWedged, "the page is not closed while another client is attached to it: it holds a dialog that would take the browser along"))
		return
	}
	m.root(effect.Tag{Kind: effect.TagNone}, "Target.activateTarget", targetParam{t}, pageBudget)
	if m.isLeaving {
		m.closing++ // the helper's end
	}
	m.create(&creation{helper: t, mustClose: true, isAwaited: m.isLeaving}, true)
}

// freed comes with the helper, which has ended the dialog if no client was attached.
func (m *Primary) freed(c *creation, r effect.Replied) {
	var res targetParam
	if r.Err != nil || json.Unmarshal(r.Result, &res) != nil {
		m.do(effect.Arm{Timer: effect.Timer{Name: timerFree, Page: c.helper}, After: freeAgain})
		m.helperEnded(c)
		return
	}
	c.target = res.TargetID
	m.creating = append(m.creating, c) // known now, and no page of ours
	m.decide()
	m.root(effect.Tag{Kind: TagAlone, Page: c.helper}, "Target.getTargetInfo", targetParam{c.helper}, pageBudget)
}

func (m *Primary) alone(r effect.Replied) {
	t := r.Tag.Page
	// First: the end of the page may be the end of the link.
	helper := m.dropHelper(t, true)
	p := m.pages.At(t)
	switch {
	case p == nil || !p.isClosing:
	case canClose(r):
		m.closeTarget(t)
	default:
		m.do(effect.Arm{Timer: effect.Timer{Name: timerFree, Page: t}, After: freeAgain})
	}
	m.helperEnded(helper)
}

// helperEnded notes the end of a page that took the foreground, which leaving may wait for.
func (m *Primary) helperEnded(c *creation) {
	if c != nil && c.isAwaited {
		c.isAwaited = false
		m.oneLeft()
	}
}

// canClose says whether the browser's answer about a page that was freed allows to close
// it: no client is attached, or it is gone.
func canClose(r effect.Replied) bool {
	var res struct {
		TargetInfo struct {
			Attached bool `json:"attached"`
		} `json:"targetInfo"`
	}
	return r.Err != nil || json.Unmarshal(r.Result, &res) == nil && !res.TargetInfo.Attached
}
