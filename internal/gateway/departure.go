package gateway

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/gateway/view"
	"holdfast/messages"
	"holdfast/transport"
)

// The clients are a party of the task's pages. They leave one before it is released (C19) or
// closed with a dialog of a frame (C15): with a session of theirs attached, the one would not
// help and the other would end the browser. To a client that is a short drop of this page: its
// sessions stay, and have again what they had when they are back. And at a page whose dialog is
// doomed they stay, even where the client has gone (C58).

// keptFor bounds how long a session waits for a page that may not be left.
const keptFor = 2 * time.Second

// keepOff has the clients leave the pages that are to be freed, and come back to the others.
func (h *hub) keepOff(pages []messages.TargetID) {
	h.mu.Lock()
	left, back := minus(pages, h.off), minus(h.off, pages)
	h.off = pages
	clients, gone := slices.Clone(h.clients), slices.Clone(h.gone)
	h.mu.Unlock()
	for _, page := range left {
		var staying atomic.Int64
		staying.Store(1)
		hasLeft := func() {
			if staying.Add(-1) == 0 {
				h.g.cfg.Node.ClientsLeft(h.id, page)
			}
		}
		for _, c := range slices.Concat(clients, gone) {
			staying.Add(1)
			c.leavePage(page, hasLeft)
		}
		hasLeft()
	}
	for _, page := range back {
		for _, c := range clients {
			c.comeBack(page)
		}
	}
}

// minus returns what of a is not in b.
func minus(a, b []messages.TargetID) []messages.TargetID {
	return slices.DeleteFunc(slices.Clone(a), func(t messages.TargetID) bool { return slices.Contains(b, t) })
}

// departure is a session that leaves its page.
type departure struct {
	s    *session
	on   messages.SessionID // the link's name of its parent
	link messages.SessionID // and its own
}

// leavePage detaches the client's sessions of a page, and of its tab, and calls hasLeft once that
// is done.
func (c *client) leavePage(page messages.TargetID, hasLeft func()) {
	c.mu.Lock()
	if c.isOver {
		c.mu.Unlock()
		hasLeft()
		return
	}
	c.off[page] = true
	var leaving []departure
	var cut []messages.SessionID // the link's names
	var ended []*session
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		s := c.sessions[id]
		if s == nil || s.target != page || s.isBrowser {
			continue
		}
		top := c.topLocked(s)
		if top.isAway {
			continue
		}
		top.isAway, top.awayFor = true, page
		if parent := c.sessionLocked(top.parent); top.link != "" && parent != nil {
			leaving = append(leaving, departure{top, parent.link, top.link})
			c.parted[top.link] = true
		}
		cut = append(cut, c.cutBelowLocked(top)...)
		ended = append(ended, c.workersLocked(top)...)
	}
	link := c.link
	c.mu.Unlock()
	for _, s := range cut {
		link.Unrelay(s)
		link.Abandon(s, errPageLeft)
	}
	runAll(c.endWorkers(ended))
	var once sync.Once
	left := atomic.Int64{}
	left.Store(int64(len(leaving)) + 1)
	done := func() {
		if left.Add(-1) == 0 {
			once.Do(hasLeft)
		}
	}
	for _, d := range leaving {
		link.Start(transport.Call{SessionID: d.on, Method: "Target.detachFromTarget", Params: sessionParam(d.link), Done: func(r transport.Reply) {
			if r.Err != nil { // no event comes
				c.mu.Lock()
				delete(c.parted, d.link)
				c.mu.Unlock()
			}
			done()
		}})
	}
	done()
}

// topLocked is the session with which another one ends: the tab's, for one of its page.
func (c *client) topLocked(s *session) *session {
	for {
		parent := c.sessions[s.parent]
		if s.parent == "" || parent == nil || parent.isBrowser {
			return s
		}
		s = parent
	}
}

// cutBelowLocked cuts a session and those below it, and returns their names on the link.
func (c *client) cutBelowLocked(s *session) (cut []messages.SessionID) {
	if s.link != "" {
		cut = append(cut, s.link)
		delete(c.byLink, s.link)
		s.link = ""
	}
	c.cutLocked(s)
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if below := c.sessions[id]; below.parent == s.id {
			cut = append(cut, c.cutBelowLocked(below)...)
		}
	}
	return cut
}

// comeBack attaches to a page again that the client has left, or tells it that the page has gone.
func (c *client) comeBack(page messages.TargetID) {
	type due struct{ parent, s *session }
	var list []due
	c.mu.Lock()
	delete(c.off, page)
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		s := c.sessions[id]
		if !s.isAway || s.awayFor != page {
			continue
		}
		s.isAway = false
		if parent := c.sessionLocked(s.parent); parent != nil && parent.link != "" && c.link.Err() == nil {
			list = append(list, due{parent, s})
		} // else it comes back with the next link
	}
	gen := c.gen
	c.mu.Unlock()
	for _, d := range list {
		c.attachAgain(d.parent, d.s, gen)
	}
}

// errPageLeft is the outcome of a command whose session has left its page for a while.
var errPageLeft = errors.New("the page is being freed of a dialog")

// pageLeft is what a client is told of it: in the words of a lost link, which it knows.
func pageLeft() *view.Error { return lostError(messages.SentYes) }

// pagesBelow are the targets that the end of a session leaves; "" is the end of all.
func (c *client) pagesBelow(id messages.SessionID) (pages []messages.TargetID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		for up := s; up != nil; up = c.sessions[up.parent] {
			if up.id == id || id == "" {
				pages = append(pages, s.target)
				break
			}
		}
	}
	return pages
}

// whenFree does what leaves the pages of a session, once they may be left.
func (c *client) whenFree(id messages.SessionID, do func()) {
	pages := c.pagesBelow(id)
	if !c.mustStay(pages).must {
		do()
		return
	}
	c.count(1)
	g := c.hub.g
	g.ended.Add(1)
	go func() {
		defer g.ended.Done()
		c.awaitFree(pages)
		c.count(-1)
		do()
	}()
}

// awaitFree waits until each of the pages may be left, at most [keptFor].
func (c *client) awaitFree(pages []messages.TargetID) {
	late := time.NewTimer(keptFor)
	defer late.Stop()
	for {
		stay := c.mustStay(pages)
		if !stay.must {
			return
		}
		select {
		case <-stay.kept:
		case <-stay.asked:
		case <-stay.shown:
		case <-c.hub.board.Ended():
			return
		case <-late.C:
			return
		}
	}
}

// stay says whether a client must stay at its pages. That may be otherwise once one of the
// channels is closed.
type stay struct {
	must               bool
	kept, asked, shown <-chan struct{}
}

// mustStay says whether one of the pages may not be left: its dialog is doomed, or the task does not
// know that yet. The client's own session may be told of a dialog before the task's is.
func (c *client) mustStay(pages []messages.TargetID) (s stay) {
	v := c.hub.board.View() // first: what is known of a dialog is there before the dialog is shown
	s.shown = c.hub.board.Changed(v.Snapshot.Version)
	kept, changed := c.hub.board.ClientPages()
	s.kept = changed
	for _, page := range pages {
		var isAsking bool
		isAsking, s.asked = c.isAsking(page)
		isUnknown := isAsking && pendingOn(v.Snapshot, page, nil) == ""
		s.must = s.must || isUnknown || kept.IsKept(page)
	}
	return s
}
