package gateway

import (
	"bytes"
	"slices"

	"github.com/coder/websocket"

	"holdfast/internal/gateway/memory"
	"holdfast/internal/gateway/view"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/transport"
)

// heard takes an event of one of the client's sessions, on the link's reader.
func (c *client) heard(s *session, msg, method []byte) {
	if bytes.HasPrefix(method, []byte("Target.")) && c.isTargetEvent(s, msg, method) {
		return
	}
	if bytes.HasPrefix(method, []byte("Page.javascriptDialog")) {
		if c.opts.Dialogs == view.DialogsHoldfast {
			return
		}
		c.noteDialog(s.id, string(method) == "Page.javascriptDialogOpening")
	}
	if c.isPage && s == c.browser {
		return
	}
	if memory.IsHeard(method) {
		c.hub.g.cfg.Observer.ClientEventDecoded()
		c.mu.Lock()
		isForClient, told, more := s.memory.Heard(string(method), msg)
		link, to, gen := c.link, s.link, c.gen
		if isForClient {
			c.pass(s, msg)
		}
		for _, e := range told { // behind it
			c.tell(view.Event{Session: s.id, Method: e.Method, Params: e.Params})
		}
		c.mu.Unlock()
		for _, m := range more {
			c.give(link, to, s, gen, m)
		}
		return
	}
	c.pass(s, msg)
}

// pass gives an event of a session to the client.
func (c *client) pass(s *session, msg []byte) {
	session := c.named(s.id)
	head, _ := transport.SplitSession(msg)
	head = memory.Mark(head, int(s.epoch.Load()))
	frame := make([]byte, 0, len(head)+len(session)+20)
	c.pushEvent(endFrame(append(frame, head...), session))
}

// isTargetEvent gives the view what it has to know, and says whether it was that.
func (c *client) isTargetEvent(parent *session, msg, method []byte) bool {
	c.hub.g.cfg.Observer.ClientEventDecoded()
	e, err := transport.Scan(msg)
	if err != nil {
		return true
	}
	switch string(method) {
	case "Target.attachedToTarget":
		id := messages.SessionID(scan.Unquote(memberOf(e.Params, "sessionId")))
		t, ok := view.ReadTarget(slices.Clone(memberOf(e.Params, "targetInfo")))
		if id == "" || !ok {
			return true
		}
		target := t.ID
		if t.Type == "browser" {
			target = ""
		}
		if !c.hasAdopted(parent, target, id) {
			runAll(c.step(view.Attached{Parent: parent.id, Session: id, Target: t, Params: slices.Clone(e.Params), IsHeld: c.hub.isHeldFor(c, t.ID)}))
		}
	case "Target.detachedFromTarget":
		id := messages.SessionID(scan.Unquote(memberOf(e.Params, "sessionId")))
		params := slices.Clone(e.Params)
		c.mu.Lock()
		if c.parted[id] {
			delete(c.parted, id)
			c.mu.Unlock()
			return true // it comes back
		}
		if s := c.byLink[id]; s != nil && s.id != id {
			id, params = s.id, view.DetachedParams(s.id, s.target)
		}
		c.mu.Unlock()
		runAll(c.step(view.Detached{Parent: parent.id, Session: id, Params: params}))
	case "Target.targetCreated", "Target.targetInfoChanged", "Target.targetDestroyed", "Target.targetCrashed":
		// The gateway emulates discovery: no session of a client's has it in the browser.
	default:
		return false
	}
	return true
}

// beginLocked gives the client's new session its way: it is known before its first event.
func (c *client) beginLocked(b view.Began) {
	s := &session{id: b.Session, parent: b.Parent, target: b.Target, isBrowser: b.IsBrowser, isUp: true, memory: memory.NewSession(b.Session), isWorker: b.IsWorker, isAuto: b.IsAuto}
	if s.isBrowser {
		c.browsers.Add(1)
	}
	c.sessions[s.id] = s
	c.bindLocked(s, b.Session)
}

// endLocked forgets a session. Chrome leaves its commands unanswered, so they are answered
// here.
func (c *client) endLocked(id messages.SessionID) []func() {
	s := c.sessions[id]
	if s == nil {
		return nil
	}
	if delete(c.sessions, id); s.isBrowser {
		c.browsers.Add(-1)
	}
	delete(c.byLink, s.link)
	if c.isPage && id == c.page {
		c.end(websocket.StatusNormalClosure, "the page has closed")
	}
	link, on, left := c.link, s.link, c.takeLocked(func(w waiting) bool { return w.session == id })
	return []func(){func() {
		if on != "" { // else it has left its page, and what was under way has its outcome
			link.Unrelay(on)
			link.Abandon(on, errSessionEnded)
		}
		for _, w := range left {
			w.fail(view.SessionGone())
		}
	}}
}
