package gateway

import (
	"errors"
	"maps"
	"slices"
	"time"

	"holdfast/internal/gateway/memory"
	"holdfast/internal/gateway/view"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/transport"
	"holdfast/transport/quirks"
)

// A client's sessions outlive the link. When it is lost the client is told what has died
// with it. On the next one it is given a browser session, each of its sessions is attached
// anew under the id that it knows, and given what it had; then the commands that have come
// meanwhile follow.
//
// What a session is given is written at once, and the client's commands follow when the page
// has shown its frames, or has not within treePatience: a page's reply may never come.

// treePatience is how long a client's commands wait for the reply of a page that is restored.
const treePatience = 300 * time.Millisecond

// againAfter is when settings are given once more after a restore: the browser may notice
// the end of the lost link late, takes some back then, and refuses some until then (C61).
var againAfter = [...]time.Duration{time.Second, 4 * time.Second, 10 * time.Second, 45 * time.Second}

// lost begins the client's time without a link.
func (c *client) lost() {
	c.mu.Lock()
	if c.isOver {
		c.mu.Unlock()
		return
	}
	c.gen++
	c.stopAgainLocked()
	clear(c.byLink)
	clear(c.parted)
	c.cutLocked(c.browser)
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if s := c.sessions[id]; !c.topLocked(s).isAway { // which has been cut
			c.cutLocked(s)
		}
	}
	ended := c.workersLocked(c.browser)
	c.mu.Unlock()
	runAll(c.endWorkers(ended))
}

// workersLocked are the client's sessions of workers below a session that has been cut, as far as an
// auto-attach of the client's brings others in their place. Chrome gives a worker one context for its
// life, so clients take no second one (Playwright and Puppeteer wait for the first alone), and keep
// its objects: a worker is told to be gone, and then to be new.
func (c *client) workersLocked(below *session) (list []*session) {
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		s := c.sessions[id]
		if s.parent != below.id {
			continue
		}
		if s.isWorker && (s.isAuto || below != c.browser && below.memory.HasAutoAttach()) {
			s.isEnding = true
			list = append(list, s)
			continue // what is below it ends with it
		}
		list = append(list, c.workersLocked(s)...)
	}
	return list
}

// endWorkers tells the client of the end of sessions.
func (c *client) endWorkers(list []*session) (later []func()) {
	for _, s := range list {
		later = append(later, c.step(view.Detached{Parent: s.parent, Session: s.id, Params: view.DetachedParams(s.id, s.target)})...)
	}
	return later
}

func (c *client) cutLocked(s *session) {
	s.isUp, s.isFlushing, s.isAwaited, s.expected = false, false, false, nil
	for _, e := range s.memory.Cut() {
		c.tell(view.Event{Session: s.id, Method: e.Method, Params: e.Params})
	}
	s.epoch.Store(int64(s.memory.Epoch()))
}

// restore begins the client's time on the next link.
func (c *client) restore(link *transport.Mux) {
	c.mu.Lock()
	if c.isOver || c.link == link {
		c.mu.Unlock()
		return
	}
	c.link = link
	gen := c.gen
	c.mu.Unlock()
	link.Start(transport.Call{Method: "Target.attachToBrowserTarget", Timeout: attachBudget, Done: func(r transport.Reply) {
		root := messages.SessionID(scan.Unquote(memberOf(r.Result, "sessionId")))
		switch {
		case errors.Is(r.Err, transport.ErrLinkClosed):
			return // the hub comes with the next one
		case r.Err != nil || root == "":
			c.endGone("the browser did not let the gateway attach again")
			return
		}
		c.rooted(link, gen, root)
	}})
}

// rooted takes the client's browser session on a new link.
func (c *client) rooted(link *transport.Mux, gen int, root messages.SessionID) {
	c.mu.Lock()
	if c.gen != gen || c.isOver {
		c.mu.Unlock()
		detachFromBrowser(link, root)
		return
	}
	c.bindLocked(c.browser, root)
	c.timer(gen, 0)
	c.mu.Unlock()
	c.revive(c.browser, gen)
	runAll(c.step(view.Relinked{}))
}

// bindLocked gives a session its new one on the link, and that its way to the client.
func (c *client) bindLocked(s *session, link messages.SessionID) {
	s.link, s.isAwaited = link, false
	c.byLink[link] = s
	c.link.Relay(link, func(msg, method []byte) { c.heard(s, msg, method) })
}

// isNowLocked says whether the client is on the link still that gen counts, and has the
// session.
func (c *client) isNowLocked(s *session, gen int) bool {
	return c.gen == gen && !c.isOver && !s.isAway && (s == c.browser || c.sessions[s.id] == s)
}

// revive gives a session that is bound again what it had, has what is below it attached, and
// lets the client's commands follow.
func (c *client) revive(s *session, gen int) {
	c.mu.Lock()
	if !c.isNowLocked(s, gen) {
		c.mu.Unlock()
		return
	}
	link, to, list := c.link, s.link, s.memory.Begin(s.link)
	isAuto := s != c.browser && s.memory.HasAutoAttach()
	var below []*session
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if b := c.sessions[id]; b.parent == s.id && !b.isEnding {
			if b.isAwaited = isAuto && !b.isAway; !isAuto {
				below = append(below, b)
			}
		}
	}
	c.mu.Unlock()
	for _, b := range below {
		c.attachAgain(s, b, gen)
	}
	for _, cmd := range list {
		c.give(link, to, s, gen, cmd)
	}
	if slices.ContainsFunc(list, memory.Command.IsTree) {
		time.AfterFunc(treePatience, func() { c.flush(s, gen) })
		return
	}
	c.flush(s, gen)
}

// give sends one command of a session's memory, under the link's name of it.
func (c *client) give(link *transport.Mux, to messages.SessionID, s *session, gen int, cmd memory.Command) {
	link.Start(transport.Call{IsGuest: true, SessionID: to, Method: cmd.Method, Params: cmd.Params, Done: func(r transport.Reply) {
		if !errors.Is(r.Err, transport.ErrLinkClosed) && !errors.Is(r.Err, errPageLeft) {
			c.given(s, gen, cmd, r)
		}
	}})
}

// given takes the outcome of a command of the session's memory.
func (c *client) given(s *session, gen int, cmd memory.Command, r transport.Reply) {
	isTarget := func(messages.FrameID) bool { return false }
	if cmd.IsTree() {
		isTarget = c.hub.frameTargets()
	}
	c.mu.Lock()
	if !c.isNowLocked(s, gen) {
		c.mu.Unlock()
		return
	}
	told, more := s.memory.Established(cmd, r.Result, restored(r.Err), isTarget)
	for _, e := range told {
		c.tell(view.Event{Session: s.id, Method: e.Method, Params: e.Params})
	}
	var missing []*session
	if cmd.IsAutoAttach() {
		for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
			if b := c.sessions[id]; b.parent == s.id && b.isAwaited {
				b.isAwaited = false
				missing = append(missing, b)
			}
		}
	}
	link, to := c.link, s.link
	c.mu.Unlock()
	for _, m := range more {
		c.give(link, to, s, gen, m)
	}
	for _, b := range missing { // by the client's own attach, or gone
		c.attachAgain(s, b, gen)
	}
	if cmd.IsTree() {
		c.flush(s, gen)
	}
}

// restored is an error of a command of a session's memory, in the memory's words.
func restored(err error) error {
	if rpc, ok := errors.AsType[*transport.RPCError](err); ok && quirks.ClassifyText(rpc.Message) == quirks.TargetCrashed {
		return memory.ErrCrashed
	}
	return err
}

// attachAgain attaches to the target of a session that the client knows. The client is told
// of its end where the target is gone.
func (c *client) attachAgain(parent, s *session, gen int) {
	c.mu.Lock()
	if !c.isNowLocked(s, gen) {
		c.mu.Unlock()
		return
	}
	if parent.expected == nil {
		parent.expected = map[messages.TargetID]int{}
	}
	parent.expected[s.target]++
	link, on := c.link, parent.link
	c.mu.Unlock()
	method, params := "Target.attachToTarget", view.AttachParams(s.target)
	if s.isBrowser {
		method, params = "Target.attachToBrowserTarget", nil
	}
	link.Start(transport.Call{IsGuest: true, SessionID: on, Method: method, Params: params, Done: func(r transport.Reply) {
		made := messages.SessionID(scan.Unquote(memberOf(r.Result, "sessionId")))
		switch {
		case errors.Is(r.Err, transport.ErrLinkClosed), errors.Is(r.Err, errPageLeft):
			return // it is attached again behind its parent
		case r.Err != nil || made == "":
			c.gone(parent, s, gen)
			return
		}
		c.mu.Lock()
		if !c.isNowLocked(s, gen) {
			c.mu.Unlock()
			link.Start(transport.Call{IsGuest: true, SessionID: on, Method: "Target.detachFromTarget", Params: sessionParam(made)})
			return
		}
		c.bindLocked(s, made)
		c.mu.Unlock()
		c.revive(s, gen)
	}})
}

// gone tells the client of the end of a session whose target is not there any more.
func (c *client) gone(parent, s *session, gen int) {
	c.mu.Lock()
	isNow := c.isNowLocked(s, gen)
	if isNow && parent.expected[s.target] > 0 {
		parent.expected[s.target]-- // no attach comes
	}
	c.mu.Unlock()
	if isNow {
		runAll(c.step(view.Detached{Parent: s.parent, Session: s.id, Params: view.DetachedParams(s.id, s.target)}))
	}
}

// hasAdopted says whether an attach on a session is that of one which the client knows: it is
// not told of it again. It is called on the link's reader.
func (c *client) hasAdopted(parent *session, target messages.TargetID, link messages.SessionID) bool {
	c.mu.Lock()
	if parent.expected[target] > 0 {
		parent.expected[target]--
		c.mu.Unlock()
		return true // the reply binds it
	}
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if s := c.sessions[id]; s.isAwaited && s.parent == parent.id && s.target == target {
			c.bindLocked(s, link)
			gen := c.gen
			c.mu.Unlock()
			c.revive(s, gen)
			return true
		}
	}
	c.mu.Unlock()
	return false
}

// timer gives the client's settings once more, some time after a restore. The lock is held.
func (c *client) timer(gen, round int) {
	if round >= len(againAfter) {
		return
	}
	c.again = time.AfterFunc(againAfter[round], func() { c.giveAgain(gen, round) })
}

func (c *client) stopAgainLocked() {
	if c.again != nil {
		c.again.Stop()
		c.again = nil
	}
}

func (c *client) giveAgain(gen, round int) {
	type due struct {
		to  messages.SessionID
		s   *session
		cmd memory.Command
	}
	var list []due
	c.mu.Lock()
	if c.gen != gen || c.isOver {
		c.mu.Unlock()
		return
	}
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if s := c.sessions[id]; s.isUp {
			for _, cmd := range s.memory.Again() {
				list = append(list, due{s.link, s, cmd})
			}
		}
	}
	link := c.link
	c.timer(gen, round+1)
	c.mu.Unlock()
	for _, d := range list {
		c.give(link, d.to, d.s, gen, d.cmd)
	}
}

// endGone tells the client that nothing is there any more, and ends its connection.
func (c *client) endGone(reason string) {
	c.mu.Lock()
	left := c.waiting
	c.waiting, c.waitingBytes = nil, 0
	c.mu.Unlock()
	for _, w := range left {
		w.fail(lostError(messages.SentNo))
	}
	runAll(c.step(view.BrowserGone{}))
	c.end(CloseEnded, reason)
}
