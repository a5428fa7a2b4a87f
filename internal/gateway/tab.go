package gateway

import (
	"errors"
	"slices"
	"time"

	board "holdfast/actors/supervisor/view"
	"holdfast/internal/gateway/view"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/transport"
)

// A browser does not say which page a tab has. Where the task's pages share a browser context
// with others, the hub asks: it attaches to the tab, has that session attach to its page
// without holding it, and leaves both. It asks only for a client that looks at tabs, as
// Puppeteer does.

const (
	// tabPatience is how long a client that looks at tabs waits for those that are there.
	tabPatience = 2 * time.Second
	// tabBudget bounds one question.
	tabBudget = 5 * time.Second
)

// tab is what a hub knows of a target that is one.
type tab struct {
	page    messages.TargetID // "" is not known
	isAsked bool              // for its page
}

// needTabs begins to find out which tabs are the task's, and waits for those that are there.
func (h *hub) needTabs() {
	h.mu.Lock()
	h.needsTabs = true
	later := h.showLocked(h.board.View())
	h.mu.Unlock()
	runAll(later)
	h.mu.Lock()
	idle := h.tabsKnown
	h.mu.Unlock()
	if idle == nil {
		return
	}
	late := time.NewTimer(tabPatience)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	case <-h.stop:
	}
}

// askTabLocked asks for the page of a tab, where nothing else says whose the tab is.
func (h *hub) askTabLocked(k *known, v *board.View) []func() {
	if !h.needsTabs || !h.isUp || h.session == "" || k.tab.page != "" || k.tab.isAsked || v.Scope == messages.ScopeBrowser || v.Context != "" {
		return nil
	}
	k.tab.isAsked = true
	if h.tabsAsked++; h.tabsAsked == 1 {
		h.tabsKnown = make(chan struct{})
	}
	id, link, session := k.ID, h.link, h.session
	return []func(){func() { h.askTab(link, session, id) }}
}

func (h *hub) askTab(link *transport.Mux, on messages.SessionID, id messages.TargetID) {
	link.Start(transport.Call{IsGuest: true, SessionID: on, Method: "Target.attachToTarget", Params: view.AttachParams(id), Timeout: tabBudget, Done: func(r transport.Reply) {
		made := messages.SessionID(scan.Unquote(memberOf(r.Result, "sessionId")))
		if r.Err != nil || made == "" {
			h.tabAnswered(id, "", r.Err)
			return
		}
		var page messages.TargetID
		link.Relay(made, func(msg, method []byte) {
			if e, err := transport.Scan(msg); err == nil && string(method) == "Target.attachedToTarget" {
				if t, ok := view.ReadTarget(slices.Clone(memberOf(e.Params, "targetInfo"))); ok && t.Type == "page" {
					page = t.ID // on the link's reader, as Done below
				}
			}
		})
		link.Start(transport.Call{
			IsGuest: true, SessionID: made, Method: "Target.setAutoAttach", Timeout: tabBudget,
			Params: []byte(`{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{"type":"page"}]}`),
			Done: func(r transport.Reply) {
				link.Unrelay(made)
				link.Start(transport.Call{IsGuest: true, SessionID: on, Method: "Target.detachFromTarget", Params: sessionParam(made)})
				h.tabAnswered(id, page, r.Err)
			},
		})
	}})
}

// tabAnswered takes the answer; the next link is asked what a lost one has not answered.
func (h *hub) tabAnswered(id, page messages.TargetID, err error) {
	h.mu.Lock()
	if k := h.known[id]; k != nil {
		k.tab = tab{page: page, isAsked: !errors.Is(err, transport.ErrLinkClosed)}
	}
	later := h.showLocked(h.board.View())
	if h.tabsAsked--; h.tabsAsked == 0 {
		close(h.tabsKnown)
		h.tabsKnown = nil
	}
	h.mu.Unlock()
	runAll(later)
}
