package transport

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/scan"
)

// takeOfPageLocked takes what the browser says on a client's browser session of a session there,
// and says whether the client is not to be told so.
func (p *Shared) takeOfPageLocked(c *sharedClient, method, session, params []byte) bool {
	if string(method) == attachedEvent {
		return p.pages.takeAttached(c, string(session), string(scan.Unquote(member(member(params, "targetInfo"), "targetId"))))
	}
	s := p.sessions[string(session)]
	if s == nil || s.offer == nil {
		return false
	}
	p.retireLocked(c, string(session))
	return p.pages.takeDetached(string(session))
}

// pageEventLocked takes what the browser says of pages on the connection's own session.
func (p *Shared) pageEventLocked(e Envelope, msg []byte) {
	info := member(e.Params, "targetInfo")
	session := string(scan.Unquote(member(e.Params, "sessionId")))
	switch string(e.Method) {
	case attachedEvent:
		if string(member(info, "type")) == `"page"` {
			p.pages.attached(session, info, string(member(e.Params, "waitingForDebugger")) == "true")
		}
	case detachedEvent:
		if s := p.sessions[session]; s == nil || s.parent != nil {
			if s != nil {
				p.forgetLocked(session, s)
			}
			p.pages.takeDetached(session)
		}
	case "Target.targetInfoChanged":
		p.pages.changed(info, msg)
	case "Target.targetDestroyed":
		p.pages.destroyed(string(scan.Unquote(member(e.Params, "targetId"))), msg)
	}
}

// keepDeclined is for how long sessions that no link has taken are kept for links that are
// yet to come back: somewhat more than the longest pause between two dials of a task.
const keepDeclined = 5 * time.Second

// pagesOf carries out what [sharedPages] decides. Its methods are called under the lock.
type pagesOf struct{ *Shared }

func (p pagesOf) say(c *sharedClient, msg []byte) { c.deliver(nil, msg, nil, nil, "") }

func (p pagesOf) ask(session, method string, params []byte, reply func(Envelope)) {
	if p.end != nil {
		return
	}
	id, err := p.newCallLocked(sharedCall{reply: func(e Envelope) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.end == nil {
			reply(e)
		}
	}})
	if err != nil {
		go p.fail(&LinkError{Cause: CauseOverload, Err: err})
		return
	}
	b := strconv.AppendInt([]byte(idHead), int64(id), 10)
	b = appendString(append(b, `,"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	if session != "" {
		b = appendString(append(b, `,"sessionId":`...), session)
	}
	p.enqueueLocked(append(b, '}', 0))
}

func (p pagesOf) pass(c *sharedClient, msg []byte, session, shown string) {
	_, digits := leadingID(msg)
	own := msg[len(idHead) : len(idHead)+digits]
	frame, err := p.encodeLocked(nil, sharedCall{client: c, id: own, shown: shown}, msg[len(idHead)+digits:], session)
	if err != nil {
		p.overload(c)
		return
	}
	p.enqueueLocked(frame)
}

func (p pagesOf) give(session string, o *pageOffer) {
	parent := p.sessions[o.client.session]
	if parent == nil {
		return
	}
	if parent.children == nil {
		parent.children = make(map[string]*sharedSession)
	}
	s := &sharedSession{client: o.client, parent: parent, offer: o}
	p.sessions[session], parent.children[session] = s, s
}

func (p pagesOf) keep() {
	time.AfterFunc(keepDeclined, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.end == nil {
			p.pages.stopKeeping()
		}
	})
}

// awaitNone has no session kept that no link takes: the pages that are there belong to links
// with WebSockets of their own, and to other clients. It is called before the first link.
func (p *Shared) awaitNone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages.isFirst = true
}

func (p pagesOf) fresh() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return strings.ToUpper(hex.EncodeToString(b[:]))
}

func (p pagesOf) overload(c *sharedClient) {
	go c.finish(&LinkError{Cause: CauseOverload, Err: errors.New("too much waited to be sent to a page that is being attached")})
}
