package gateway

import (
	"bytes"
	"slices"

	"github.com/coder/websocket"

	"holdfast/internal/gateway/view"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/transport"
)

// rootHeard takes the events of the client's browser session, on the link's reader.
func (c *client) rootHeard(msg, method []byte) { c.heard("", msg, method) }

// heard takes an event of one of the client's sessions, on the link's reader. Session is
// the client's name for it.
func (c *client) heard(session messages.SessionID, msg, method []byte) {
	if bytes.HasPrefix(method, []byte("Target.")) && c.isTargetEvent(session, msg, method) {
		return
	}
	if bytes.HasPrefix(method, []byte("Page.javascriptDialog")) {
		if c.opts.Dialogs == view.DialogsHoldfast {
			return
		}
		c.noteDialog(session, string(method) == "Page.javascriptDialogOpening")
	}
	if c.isPage && session == "" {
		return
	}
	session = c.named(session)
	head, _ := transport.SplitSession(msg)
	frame := make([]byte, 0, len(head)+len(session)+20)
	c.pushEvent(endFrame(append(frame, head...), session))
}

// isTargetEvent gives the view what it has to know, and says whether it was that.
func (c *client) isTargetEvent(parent messages.SessionID, msg, method []byte) bool {
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
		runAll(c.step(view.Attached{Parent: parent, Session: id, Target: t, Params: slices.Clone(e.Params)}))
	case "Target.detachedFromTarget":
		id := messages.SessionID(scan.Unquote(memberOf(e.Params, "sessionId")))
		runAll(c.step(view.Detached{Parent: parent, Session: id, Params: slices.Clone(e.Params)}))
	case "Target.targetCreated", "Target.targetInfoChanged", "Target.targetDestroyed", "Target.targetCrashed":
		// The gateway emulates discovery: no session of a client's has it in the browser.
	default:
		return false
	}
	return true
}

// beginLocked gives the client's new session its way: it is known before its first event.
func (c *client) beginLocked(b view.Began) {
	s := &session{id: b.Session, link: b.Session, parent: b.Parent, target: b.Target, isBrowser: b.IsBrowser}
	if s.isBrowser {
		c.browsers.Add(1)
	}
	c.sessions[s.id] = s
	c.link.Relay(s.link, func(msg, method []byte) { c.heard(s.id, msg, method) })
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
	if c.isPage && id == c.page {
		c.end(websocket.StatusNormalClosure, "the page has closed")
	}
	link := c.link
	return []func(){func() {
		link.Unrelay(s.link)
		link.Abandon(s.link, errSessionEnded)
	}}
}

// lost begins the time without the task's link.
func (c *client) lost() { c.end(CloseEnded, "the connection to the browser was lost") }
