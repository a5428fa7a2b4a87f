package link

import (
	"encoding/json"
	"strings"

	"holdfast/actors/session/effect"
)

// display is whether a person can see the windows of the browser.
type display uint8

const (
	displayUnknown display = iota
	displayAsked
	displayHeaded
	displayHeadless
)

// displayOf reads the reply to Browser.getVersion.
func displayOf(r effect.Replied) display {
	var v struct {
		Product string `json:"product"`
		Agent   string `json:"userAgent"`
	}
	switch {
	case r.Err != nil || json.Unmarshal(r.Result, &v) != nil:
		return displayUnknown
	case strings.Contains(v.Product, "Headless") || strings.Contains(v.Agent, "HeadlessChrome"):
		return displayHeadless
	}
	return displayHeaded
}

// needsDisplay says whether a page waits to be opened until the browser has said what it is,
// and asks for that once.
func (m *Primary) needsDisplay() bool {
	if m.cfg.Lacks.HasWindows {
		return false
	}
	if m.display == displayUnknown {
		m.display = displayAsked
		m.root(effect.Tag{Kind: TagDisplay}, "Browser.getVersion", struct{}{}, 0)
	}
	return m.display == displayAsked
}

// displayKnown opens the pages that have waited. A browser that does not say what it is may
// have a window.
func (m *Primary) displayKnown(r effect.Replied) {
	if m.display = displayOf(r); m.display == displayUnknown {
		m.display = displayHeaded
	}
	var waiting []*creation
	for _, c := range m.creating {
		if c.isWaiting {
			waiting = append(waiting, c)
		}
	}
	for _, c := range waiting {
		c.isWaiting = false
		if m.isLeaving {
			m.createdLate(m.takeCreation(c.seq), effect.Replied{Err: effect.SessionEnded()})
		} else {
			m.openTab(c)
		}
	}
}
