package chaos

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"holdfast/messages"
)

// Chrome's words for what it refuses.
const (
	codeParse         = -32700
	codeBadMessage    = -32600
	codeNotFound      = -32601
	codeInvalidParams = -32602
	codeServer        = -32000
	codeNoSession     = -32001

	textNoTarget  = "No target with given id found"
	textNoDialog  = "No dialog is showing"
	textNotActive = "Not attached to an active page"
	textNoSession = "Session with given id not found."
	textCrashed   = "Target crashed"
)

// wireError has the field order of Chrome's error objects.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data,omitempty"`
}

type wireReply struct {
	ID        *int32             `json:"id,omitempty"`
	Result    json.RawMessage    `json:"result,omitempty"`
	Error     *wireError         `json:"error,omitempty"`
	SessionID messages.SessionID `json:"sessionId,omitempty"`
}

type wireEvent struct {
	Method    string             `json:"method"`
	Params    json.RawMessage    `json:"params"`
	SessionID messages.SessionID `json:"sessionId,omitempty"`
}

type empty struct{}

// marshal writes v the way Chrome's encoder does: no HTML escapes, everything
// outside ASCII as \u escapes.
func marshal(v any) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("chaos: " + err.Error())
	}
	return escape(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
}

func escape(b []byte) []byte {
	plain := true
	for _, c := range b {
		if c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/2)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r < utf8.RuneSelf {
			out = append(out, b[0])
		} else {
			out = appendEscape(out, r)
		}
		b = b[n:]
	}
	return out
}

func appendEscape(out []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	unit := func(u uint16) {
		out = append(out, '\\', 'u', hex[u>>12], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	if r > 0xffff {
		r -= 0x10000
		unit(uint16(0xd800 + r>>10))
		unit(uint16(0xdc00 + r&0x3ff))
		return out
	}
	unit(uint16(r))
	return out
}

// request is a command as it came.
type request struct {
	id      int32
	method  string
	session messages.SessionID
	params  json.RawMessage
}

// parse reads one message. A refusal is a reply, with the id when there was
// one (C56).
func parse(data []byte) (request, *wireReply) {
	refuse := func(id *int32, code int, text string) (request, *wireReply) {
		return request{}, &wireReply{ID: id, Error: &wireError{Code: code, Message: text}}
	}
	if !json.Valid(data) {
		return refuse(nil, codeParse, "JSON: invalid token at position 0")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields == nil {
		return refuse(nil, codeBadMessage, "Message must be an object")
	}
	var r request
	var number json.Number
	if json.Unmarshal(fields["id"], &number) != nil || len(fields["id"]) == 0 || fields["id"][0] == '"' {
		return refuse(nil, codeBadMessage, "Message must have integer 'id' property")
	}
	id, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || id < math.MinInt32 || id > math.MaxInt32 {
		return refuse(nil, codeBadMessage, "Message must have integer 'id' property")
	}
	r.id = int32(id)
	if !isString(fields["method"]) || json.Unmarshal(fields["method"], &r.method) != nil {
		return refuse(&r.id, codeBadMessage, "Message must have string 'method' property")
	}
	if raw, found := fields["sessionId"]; found {
		if !isString(raw) || json.Unmarshal(raw, &r.session) != nil {
			return refuse(&r.id, codeBadMessage, "Message may have string 'sessionId' property")
		}
	}
	for name := range fields {
		switch name {
		case "id", "method", "sessionId", "params":
		default:
			return refuse(&r.id, codeBadMessage, "Message has property other than 'id', 'method', 'sessionId', 'params'")
		}
	}
	if p := fields["params"]; len(p) > 0 && p[0] == '{' {
		r.params = p
	}
	return r, nil
}

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }
