package transport

import (
	"bytes"
	"fmt"

	"holdfast/internal/scan"
)

// Envelope is the outside of a CDP message. The slices are parts of the
// scanned message and live as long as it does; only a method or a session id
// that was written with escapes is a copy.
type Envelope struct {
	// ID is the call a reply belongs to, if HasID. What is not an integer of at
	// most 18 digits is no id: Chrome's have 32 bits (C56).
	ID    int64
	HasID bool
	// Method is an event's name, nil in a reply. SessionID is nil for the
	// browser's own session.
	Method, SessionID []byte
	// Params, Result and Error are raw JSON, nil if absent.
	Params, Result, Error []byte
}

// EnvelopeError says why bytes are not a CDP message, and where.
type EnvelopeError struct {
	Offset int
	Reason string
}

// Error implements error. It never repeats the bytes: they are the page's.
func (e *EnvelopeError) Error() string {
	return fmt.Sprintf("not a CDP message: %s at byte %d", e.Reason, e.Offset)
}

// Scan finds the members of a message's top-level object. It does not
// allocate, save for keys and names written with escapes. Of keys that come
// twice the last one counts, as in encoding/json.
//
// The outside of the message is checked, the inside of its values only for balance: the
// consumer of a value decodes it later. A message that Scan takes may hold invalid JSON in
// a value; a valid JSON object is always taken, and read as encoding/json reads it. Bytes
// that are not UTF-8 are not replaced: text of a WebSocket has none.
func Scan(msg []byte) (Envelope, error) {
	if e, ok := scanChrome(msg); ok {
		return e, nil
	}
	return scanAny(msg)
}

// scanChrome reads a message with the keys in Chrome's own order and without
// white space: id, then result or error, or else method, params; sessionId
// last. Whatever differs in the least is left to scanAny.
func scanChrome(msg []byte) (e Envelope, ok bool) {
	var i int
	switch {
	case bytes.HasPrefix(msg, []byte(`{"id":`)):
		i = len(`{"id":`)
		n := scan.LiteralEnd(msg, i)
		if e.ID, e.HasID = parseID(msg[i:n]); !e.HasID {
			return e, false
		}
		i = n
		var value *[]byte
		switch {
		case bytes.HasPrefix(msg[i:], []byte(`,"result":`)):
			i, value = i+len(`,"result":`), &e.Result
		case bytes.HasPrefix(msg[i:], []byte(`,"error":`)):
			i, value = i+len(`,"error":`), &e.Error
		default:
			return e, false
		}
		end := scan.SkipValue(msg, i)
		if end < 0 {
			return e, false
		}
		*value, i = msg[i:end], end
	default:
		e.Method = peekMethod(msg)
		if e.Method == nil {
			return e, false
		}
		i = len(methodHead) + len(e.Method) + 1
		if bytes.HasPrefix(msg[i:], []byte(`,"params":`)) {
			i += len(`,"params":`)
			end := scan.SkipValue(msg, i)
			if end < 0 {
				return e, false
			}
			e.Params, i = msg[i:end], end
		}
	}
	const sessionHead = `,"sessionId":"`
	if bytes.HasPrefix(msg[i:], []byte(sessionHead)) {
		i += len(sessionHead)
		end := scan.PlainEnd(msg, i)
		if end < 0 {
			return e, false
		}
		e.SessionID, i = msg[i:end], end+1
	}
	return e, i == len(msg)-1 && msg[i] == '}'
}

const methodHead = `{"method":"`

// peekMethod returns the name of an event that begins as Chrome's do, and nil
// for everything else. It looks at nothing behind the name: it is for events
// that end in the reader.
func peekMethod(msg []byte) []byte {
	if !bytes.HasPrefix(msg, []byte(methodHead)) {
		return nil
	}
	end := scan.PlainEnd(msg, len(methodHead))
	if end < 0 {
		return nil
	}
	return msg[len(methodHead):end]
}

// unread returns what stands behind the method of an event as Chrome writes them, up
// to the session's id, and that. Nothing has walked it: that the id is a member of the
// message is known by the end of the message alone. That is exact for valid JSON. The
// last brace is the message's, so the quote before it ends a text, which begins at the
// quote before, as a colon stands in front of that one and no backslash; so the name is
// a key, by the comma in front of it, and what comes last counts.
func unread(msg []byte, method string) (params, session []byte, ok bool) {
	const (
		sessionKey = `,"sessionId":"`
		maxSession = 64
	)
	rest, ok := paramsOf(msg, len(method))
	rest, closed := bytes.CutSuffix(rest, []byte(`"}`))
	if !ok || !closed {
		return nil, nil, false
	}
	from := max(0, len(rest)-maxSession)
	i := from + bytes.LastIndexByte(rest[from:], '"') + 1
	if session = rest[i:]; scan.PlainEnd(msg, len(msg)-len(`"}`)-len(session)) != len(msg)-len(`"}`) {
		return nil, nil, false
	}
	params, ok = bytes.CutSuffix(rest[:i], []byte(sessionKey))
	return params, session, ok && len(session) > 0 && len(params) > 0
}

// paramsOf returns what comes behind the name of an event, which peekMethod has found,
// from its params on.
func paramsOf(msg []byte, nameLen int) ([]byte, bool) {
	return bytes.CutPrefix(msg[len(methodHead)+nameLen+1:], []byte(`,"params":`))
}

// Whole returns the params of an event that was taken unread, which is what Scan would
// have made of them; nil where it is no event, or none of that method.
func Whole(e Event) []byte {
	msg := make([]byte, 0, len(methodHead)+len(e.Method)+len(e.Params)+len(`","params":}`))
	msg = append(append(append(msg, methodHead...), e.Method...), `","params":`...)
	read, err := Scan(append(append(msg, e.Params...), '}'))
	if err != nil || read.HasID || string(read.Method) != e.Method {
		return nil
	}
	return read.Params
}

// scanAny reads a message in whatever form JSON allows.
func scanAny(msg []byte) (Envelope, error) {
	var e Envelope
	m := scan.Members{JSON: msg}
	for m.Next() {
		e.take(m.Key, m.Value)
	}
	if m.Bad != "" {
		return Envelope{}, &EnvelopeError{Offset: min(m.At, len(msg)), Reason: m.Bad}
	}
	return e, nil
}

// take stores one member of the top-level object.
func (e *Envelope) take(key, value []byte) {
	switch string(key) {
	case "id":
		e.ID, e.HasID = parseID(value)
	case "method":
		e.Method = scan.Unquote(value)
	case "sessionId":
		e.SessionID = scan.Unquote(value)
	case "params":
		e.Params = value
	case "result":
		e.Result = value
	case "error":
		e.Error = value
	}
}

// scanCut reads as much as there is of a message whose end is missing.
func scanCut(head []byte) Envelope {
	var e Envelope
	m := scan.Members{JSON: head}
	for m.Next() {
		e.take(m.Key, m.Value)
	}
	// The value that was cut tells by its key what the message is.
	if m.Key != nil && m.IsCut {
		switch string(m.Key) {
		case "params":
			e.Params = []byte{}
		case "result":
			e.Result = []byte{}
		case "error":
			e.Error = []byte{}
		}
	}
	return e
}

// idFromTail finds the id of a message of which only the end is known, if it
// is the last member. That is exact for valid JSON: a number right before the
// last brace belongs to the outermost object, and the quote before its key
// follows a comma, so it is not an escaped one.
func idFromTail(tail []byte) (int64, bool) {
	tail = bytes.TrimRight(tail, " \t\r\n")
	if len(tail) == 0 || tail[len(tail)-1] != '}' {
		return 0, false
	}
	tail = tail[:len(tail)-1]
	i := bytes.LastIndex(tail, []byte(`,"id":`))
	if i < 0 {
		return 0, false
	}
	return parseID(bytes.TrimSpace(tail[i+len(`,"id":`):]))
}

// member returns the raw value of one key of an object, nil if there is none.
func member(object []byte, key string) []byte {
	var found []byte
	m := scan.Members{JSON: object}
	for m.Next() {
		if string(m.Key) == key {
			found = m.Value
		}
	}
	if m.Bad != "" {
		return nil
	}
	return found
}

// parseID reads an integer. Everything else JSON knows is no id.
func parseID(b []byte) (int64, bool) {
	neg := false
	if len(b) > 0 && b[0] == '-' {
		neg, b = true, b[1:]
	}
	// 18 digits always fit in 64 bits.
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}
