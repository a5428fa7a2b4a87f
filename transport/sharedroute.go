package transport

import (
	"bytes"
	"strconv"

	"holdfast/internal/scan"
)

// route gives a message of the browser to the client it is for. Msg is valid during
// the call only; tail is the end of a message that was too long, whose middle is
// missing. It runs on the connection's reader.
func (p *Shared) route(msg, tail []byte) {
	end := msg
	if tail != nil {
		end = tail
	}
	id, idLen := leadingID(msg)
	session := trailingSession(end)
	if idLen == 0 && peekMethod(msg) == nil || session == nil && tail == nil {
		// Written in another way, or of the connection's own session.
		e, err := Scan(msg)
		if err != nil {
			return
		}
		if e.SessionID == nil && !e.HasID {
			p.ownEvent(e, msg)
			return
		}
		msg = rebuilt(e)
		end, session = msg, e.SessionID
		id, idLen = leadingID(msg)
	}
	if idLen > 0 {
		p.reply(int32(id), idLen, msg, tail, session)
		return
	}
	p.event(msg, tail, session)
}

// reply gives a client the reply to its command, under the id the client knows.
func (p *Shared) reply(id int32, idLen int, msg, tail, session []byte) {
	p.mu.Lock()
	call, ok := p.calls[id]
	delete(p.calls, id)
	p.mu.Unlock()
	switch {
	case !ok:
	case call.client == nil:
		if e, err := Scan(msg); err == nil {
			call.reply(e)
		} else {
			call.reply(Envelope{})
		}
	default:
		cut := call.client.strips(session)
		if call.shown != "" {
			cut = session
		}
		call.client.deliver(call.id, msg[len(idHead)+idLen:], tail, cut, call.shown)
	}
}

// event gives a client what one of its sessions says, and learns which sessions it has.
func (p *Shared) event(msg, tail, session []byte) {
	p.mu.Lock()
	s := p.sessions[string(session)]
	if s == nil || p.end != nil {
		p.mu.Unlock()
		return
	}
	method := peekMethod(msg)
	switch string(method) {
	case attachedEvent, detachedEvent:
		if e, err := Scan(msg); tail == nil && err == nil {
			child := scan.Unquote(member(e.Params, "sessionId"))
			if s.parent == nil && p.pages != nil && p.takeOfPageLocked(s.client, method, child, e.Params) {
				p.mu.Unlock()
				return
			}
			if string(method) == detachedEvent {
				p.retireLocked(s.client, string(child))
			} else if !p.announceLocked(s, string(child)) {
				p.mu.Unlock()
				s.client.finish(&LinkError{Cause: CauseFlood})
				return
			}
		}
	}
	p.mu.Unlock()
	if s.offer != nil {
		s.client.deliver(nil, msg, tail, session, s.offer.shown)
		return
	}
	s.client.deliver(nil, msg, tail, s.client.strips(session), "")
}

func (p *Shared) announceLocked(parent *sharedSession, id string) bool {
	if id == "" || p.sessions[id] != nil {
		return true
	}
	if len(p.sessions) >= maxSharedSessions {
		return false
	}
	s := &sharedSession{client: parent.client, parent: parent}
	if parent.children == nil {
		parent.children = make(map[string]*sharedSession)
	}
	p.sessions[id], parent.children[id] = s, s
	return true
}

func (p *Shared) retireLocked(c *sharedClient, id string) {
	if s := p.sessions[id]; s != nil && s.client == c && s.parent != nil {
		p.forgetLocked(id, s)
	}
}

// ownEvent is what the browser says on the connection's own session: of pages, and that a
// client's browser session has ended.
func (p *Shared) ownEvent(e Envelope, msg []byte) {
	p.mu.Lock()
	if p.pages != nil && p.end == nil {
		p.pageEventLocked(e, msg)
	}
	var s *sharedSession
	if string(e.Method) == detachedEvent {
		s = p.sessions[string(scan.Unquote(member(e.Params, "sessionId")))]
	}
	p.mu.Unlock()
	if s != nil && s.parent == nil {
		s.client.detached()
	}
}

const idHead = `{"id":`

// leadingID reads the id of a message that begins with it, and how many digits it has;
// 0 where there is none.
func leadingID(msg []byte) (id int64, digits int) {
	rest, ok := bytes.CutPrefix(msg, []byte(idHead))
	if !ok {
		return 0, 0
	}
	end := bytes.IndexByte(rest[:min(len(rest), 20)], ',')
	if end < 0 {
		return 0, 0
	}
	id, ok = parseID(rest[:end])
	if !ok || id < 0 || id > untrackedIDBase|maxID {
		return 0, 0
	}
	return id, end
}

const sessionHead = `,"sessionId":"`

// trailingSession reads the session's id at the end of a message, nil where there is
// none. That it is a member of the message is exact for valid JSON, see [unread].
func trailingSession(msg []byte) []byte {
	const longest = 128 + len(sessionHead)
	rest, ok := bytes.CutSuffix(msg, []byte(`"}`))
	if !ok {
		return nil
	}
	from := max(0, len(rest)-longest)
	i := from + bytes.LastIndexByte(rest[from:], '"') + 1
	session := rest[i:]
	if len(session) == 0 || !bytes.HasSuffix(rest[:i], []byte(sessionHead)) ||
		scan.PlainEnd(msg, i) != len(rest) {
		return nil
	}
	return session
}

// withoutSession cuts the session's id off the end of a message.
func withoutSession(msg, session []byte) []byte {
	return msg[:len(msg)-len(sessionHead)-len(session)-len(`"}`)]
}

// rebuilt is a message in the form in which Chrome writes its own.
func rebuilt(e Envelope) []byte {
	var b []byte
	if e.HasID {
		b = strconv.AppendInt([]byte(idHead), e.ID, 10)
	} else {
		b = appendString([]byte(`{"method":`), string(e.Method))
	}
	for _, m := range []struct {
		key   string
		value []byte
	}{{"params", e.Params}, {"result", e.Result}, {"error", e.Error}} {
		if m.value != nil {
			b = append(append(append(append(b, `,"`...), m.key...), `":`...), m.value...)
		}
	}
	if e.SessionID != nil {
		b = appendString(append(b, `,"sessionId":`...), string(e.SessionID))
	}
	return append(b, '}')
}
