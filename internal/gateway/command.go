package gateway

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"holdfast/internal/gateway/memory"
	"holdfast/internal/gateway/view"
	"holdfast/messages"
	"holdfast/transport"
)

// maxDepth bounds how deep a command's JSON is nested. Chrome's parser takes 300 levels and
// answers what is deeper without an id, so that the client would wait for ever.
const maxDepth = 290

// hasTaken takes one message of the client, on its reader. False is a message that no browser
// may get: Chrome would end the link that all clients share.
func (c *client) hasTaken(msg []byte) bool {
	if !utf8.Valid(msg) {
		return false
	}
	c.commands.Add(1)
	c.hub.g.cfg.Observer.ClientCommand(len(msg))
	e, err := transport.Scan(msg)
	switch {
	case err != nil || !isSound(msg):
		c.push([]byte(`{"error":{"code":-32700,"message":"JSON: the message is malformed"}}`))
		return true
	case !e.HasID || e.ID < math.MinInt32 || e.ID > math.MaxInt32: // C56
		c.push([]byte(`{"error":{"code":-32600,"message":"Message must have integer 'id' property"}}`))
		return true
	}
	cmd := view.Command{ID: e.ID, Session: messages.SessionID(e.SessionID), Method: string(e.Method)}
	if c.isPage && cmd.Session == "" {
		cmd.Session = c.page
	}
	switch {
	case len(e.Method) == 0:
		c.refuse(cmd, &view.Error{Code: -32600, Message: "Message must have string 'method' property"})
		return true
	case len(e.Params) > 0 && e.Params[0] != '{' && string(e.Params) != "null":
		c.refuse(cmd, &view.Error{Code: -32600, Message: "Message may have object 'params' property"})
		return true
	case c.inFlight.Load() >= maxInFlight, c.hub.inFlight.Load() >= maxTaskInFlight:
		c.refuse(cmd, &view.Error{
			Code: view.CodeServer, Message: "too many commands of the task's clients wait for their replies",
			Data: data(messages.CodeLimitReached, messages.SentNo),
		})
		return true
	}
	if string(e.Params) == "null" {
		e.Params = nil
	}
	if cmd.Session != "" && view.IsDirect(cmd.Method) && !c.isBrowser(cmd.Session) {
		c.send(cmd, e.Params, true)
		return true
	}
	cmd.Params = slices.Clone(e.Params)
	if view.HasTabs(cmd.Method, cmd.Params) {
		c.hub.needTabs()
	}
	runAll(c.step(cmd))
	return true
}

// isBrowser says whether a session is a further one on the browser.
func (c *client) isBrowser(id messages.SessionID) bool {
	if c.browsers.Load() == 0 {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sessions[id]
	return s != nil && s.isBrowser
}

// isSound says whether a message is JSON that Chrome takes.
func isSound(msg []byte) bool {
	depth := 0
	for i := 0; i < len(msg); i++ {
		switch msg[i] {
		case '"':
			for i++; i < len(msg) && msg[i] != '"'; i++ {
				if msg[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return json.Valid(msg)
}

func (c *client) refuse(cmd view.Command, err *view.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.push(c.replyFrame(cmd.ID, c.named(cmd.Session), nil, err))
}

// send runs a command on the link; its reply is the client's. IsDirect is for the client's
// own reader, which may write to the link itself. A command whose session is not on the link
// waits for it.
func (c *client) send(cmd view.Command, params []byte, isDirect bool) {
	c.mu.Lock()
	s := c.sessionLocked(cmd.Session)
	var err *view.Error
	switch {
	case s == nil:
		err = view.SessionGone()
	case !c.isUpLocked(s):
		if _, ok := memory.Unmark(params, s.memory.Epoch()); !ok {
			err = lostError(messages.SentNo) // it names what is gone with the link
			break
		}
		cmd.Params = slices.Clone(params)
		err = c.waitLocked(waiting{
			session: cmd.Session, size: len(cmd.Method) + len(params) + 256, start: func() { c.sendNow(s, cmd, cmd.Params, false) },
			fail: func(e *view.Error) {
				c.count(-1)
				c.refuse(cmd, e)
			},
		})
		if err == nil {
			c.count(1)
			c.mu.Unlock()
			return
		}
	}
	c.mu.Unlock()
	if err != nil {
		c.refuse(cmd, err)
		return
	}
	c.count(1)
	c.sendNow(s, cmd, params, isDirect)
}

// sendNow runs a command on a session that is on the link.
func (c *client) sendNow(s *session, cmd view.Command, params []byte, isDirect bool) {
	var kept []byte // the params, where the session's memory is to know of the command
	keeps := memory.IsKept(cmd.Method)
	c.mu.Lock()
	link, to, epoch := c.link, s.link, s.memory.Epoch()
	answer, err := []byte(nil), error(nil)
	if keeps {
		kept = slices.Clone(params)
		params, answer, err = s.memory.Prepare(cmd.Method, params)
	}
	c.mu.Unlock()
	id, session := cmd.ID, c.named(cmd.Session)
	settle := func(result []byte, err *view.Error) {
		c.count(-1)
		c.pushDirectly(c.replyFrame(id, session, result, err))
	}
	params, ok := memory.Unmark(params, epoch)
	switch {
	case err != nil || answer != nil:
		settle(answer, outcome(transport.Reply{Err: err}))
		return
	case !ok:
		settle(nil, contextGone())
		return
	}
	var input fileInput
	givesFiles := cmd.Method == methodGiveFiles
	if givesFiles {
		input = fileInputOf(params)
	}
	isResume := cmd.Method == "Runtime.runIfWaitingForDebugger"
	if isResume {
		time.AfterFunc(resumeGrace, func() { c.resumed(cmd.Session) })
	}
	link.Start(transport.Call{
		SessionID: to, Method: cmd.Method, Params: params, IsDirect: isDirect, IsGuest: true,
		Done: func(r transport.Reply) {
			if keeps && r.Err == nil {
				r.Result = c.remember(s, epoch, cmd.Method, kept, r.Result)
			}
			settle(memory.Mark(r.Result, epoch), outcome(r))
			if givesFiles && r.Err == nil {
				c.hasGivenFiles(s, input)
			}
			if isResume {
				c.resumed(cmd.Session)
			}
		},
	})
}

// count counts the commands that wait for their replies.
func (c *client) count(n int64) {
	c.inFlight.Add(n)
	c.hub.inFlight.Add(n)
}

// remember notes what a command has set in its session.
func (c *client) remember(s *session, epoch int, method string, params, result []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.memory.Epoch() != epoch {
		return result
	}
	return s.memory.Succeeded(method, params, result)
}

// contextGone is the error of a command that names an object of a link that is lost: the
// client was told that the contexts of its objects are gone.
func contextGone() *view.Error {
	return &view.Error{Code: view.CodeServer, Message: "Cannot find context with specified id"}
}

// sessionLocked is the client's session of a name; nil where it has none.
func (c *client) sessionLocked(id messages.SessionID) *session {
	switch {
	case c.isOver:
		return nil
	case id == "":
		return c.browser
	}
	return c.sessions[id]
}

// step gives the view one input. What is to be told to the client is queued before it
// returns; what is to be sent is returned, to be run without a lock.
func (c *client) step(in any) (later []func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isOver {
		return nil
	}
	for _, e := range c.view.Step(in) {
		switch e := e.(type) {
		case view.Reply:
			c.push(c.replyFrame(e.ID, c.named(e.Session), e.Result, e.Err))
		case view.Event:
			c.tell(e)
		case view.Began:
			c.beginLocked(e)
			if c.off[e.Target] {
				later = append(later, func() { c.leavePage(e.Target, func() {}) })
			}
		case view.Ended:
			later = append(later, c.endLocked(e.Session)...)
		default:
			later = append(later, func() { c.carryOut(e) })
		}
	}
	return later
}

// tell tells the client an event that the view has made. One that is connected to a page
// hears nothing of the browser.
func (c *client) tell(e view.Event) {
	if c.isPage && e.Session == "" {
		return
	}
	c.pushEvent(eventFrame(e.Method, e.Params, c.named(e.Session)))
}

// carryOut does what takes the link or the node. No lock is held.
func (c *client) carryOut(e view.Effect) {
	switch e := e.(type) {
	case view.Forward:
		send := func() { c.send(view.Command(e), e.Params, false) }
		if e.Method == "Page.disable" {
			c.whenFree(e.Session, send)
			return
		}
		send()
	case view.Call:
		if e.Child != "" {
			c.whenFree(e.Child, func() { c.call(e) })
			return
		}
		c.call(e)
	case view.Open:
		c.open(e)
	case view.Close:
		c.close(e)
	case view.Dispose:
		c.dispose(e)
	case view.AnswerDialog:
		c.answer(e)
	case view.Holds:
		c.hub.hold(c, e.IsOn)
	case view.ContextMade:
		c.hub.contextChanged(c, view.ContextKnown{ID: e.ID})
	case view.Leave:
		c.end(1000, "the client has closed the browser")
	default:
		panic("gateway: an effect without a hand")
	}
}

// call runs a command whose outcome is the view's. One whose session is not on the link waits
// for it.
func (c *client) call(e view.Call) {
	fail := func(err *view.Error) { runAll(c.step(view.Outcome{Tag: e.Tag, Err: err})) }
	c.mu.Lock()
	s := c.sessionLocked(e.Session)
	var err *view.Error
	isUp := false
	switch {
	case s == nil:
		err = view.SessionGone()
	case c.isUpLocked(s):
		isUp = true
	default:
		err = c.waitLocked(waiting{session: e.Session, size: len(e.Method) + len(e.Params) + 256, start: func() { c.callNow(s, e) }, fail: fail})
	}
	c.mu.Unlock()
	switch {
	case err != nil:
		fail(err)
	case isUp:
		c.callNow(s, e)
	}
}

// callNow runs a command whose outcome is the view's on a session that is on the link.
func (c *client) callNow(s *session, e view.Call) {
	c.mu.Lock()
	link, to, params, ok := c.link, s.link, e.Params, true
	if e.Child != "" {
		var child *session
		if child = c.sessionLocked(e.Child); child != nil {
			params = sessionParam(child.link)
		}
		ok = child != nil
	}
	c.mu.Unlock()
	if e.IsShared {
		to = c.hub.sessionNow()
	}
	if !ok {
		runAll(c.step(view.Outcome{Tag: e.Tag, Err: view.SessionGone()}))
		return
	}
	c.count(1)
	link.Start(transport.Call{SessionID: to, Method: e.Method, Params: params, IsGuest: true, Done: func(r transport.Reply) {
		c.count(-1)
		runAll(c.step(view.Outcome{Tag: e.Tag, Result: r.Result, Err: outcome(r)}))
		if e.Method == "Target.createBrowserContext" && r.Err == nil {
			c.disposeUnheard(r.Result)
		}
	}})
}

// replyFrame is a reply as the client can take it: rod ends its process at an error whose
// data is no text, as Chrome's is. Chrome names no session that is not there (C56), and
// Playwright takes what it says of one for the command's failure.
func (c *client) replyFrame(id int64, session messages.SessionID, result []byte, err *view.Error) []byte {
	if err != nil && err.Code == view.CodeNoSession {
		session = ""
	}
	if err != nil && c.opts.IsFragile && len(err.Data) > 0 && err.Data[0] != '"' {
		err = &view.Error{Code: err.Code, Message: err.Message, Data: quoted(string(err.Data))}
	}
	return replyFrame(id, session, result, err)
}

// replyFrame is a reply as Chrome writes it.
func replyFrame(id int64, session messages.SessionID, result []byte, err *view.Error) []byte {
	b := make([]byte, 0, len(result)+len(session)+64)
	b = strconv.AppendInt(append(b, `{"id":`...), id, 10)
	switch {
	case err == nil && result == nil:
		b = append(b, `,"result":{}`...)
	case err == nil:
		b = append(append(b, `,"result":`...), result...)
	default:
		b = strconv.AppendInt(append(b, `,"error":{"code":`...), err.Code, 10)
		b = append(b, `,"message":`...)
		b = append(b, quoted(err.Message)...)
		if len(err.Data) > 0 {
			b = append(append(b, `,"data":`...), err.Data...)
		}
		b = append(b, '}')
	}
	return endFrame(b, session)
}

// eventFrame is an event as Chrome writes it.
func eventFrame(method string, params []byte, session messages.SessionID) []byte {
	b := make([]byte, 0, len(method)+len(params)+len(session)+64)
	b = append(append(b, `{"method":`...), quoted(method)...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return endFrame(b, session)
}

func endFrame(b []byte, session messages.SessionID) []byte {
	if session != "" {
		b = append(append(b, `,"sessionId":`...), quoted(string(session))...)
	}
	return append(b, '}')
}

func quoted(s string) []byte {
	q, _ := json.Marshal(s) // a string always encodes
	return q
}
