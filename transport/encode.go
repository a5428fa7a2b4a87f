package transport

import (
	"encoding/json"
	"strconv"
	"sync"

	"holdfast/internal/scan"
)

// command is one message that is being sent.
type command struct {
	buf             []byte
	id              CallID
	isTracked       bool // it stands in the pending table
	isGuest         bool // see Call
	needsPermission bool // the link's permission is asked for last
}

var commands = sync.Pool{New: func() any { return &command{buf: make([]byte, 0, 512)} }}

// maxPooledCommand keeps the pool free of buffers of rare big messages.
const maxPooledCommand = 64 << 10

func (c *command) release() {
	if cap(c.buf) > maxPooledCommand {
		c.buf = nil
	}
	*c = command{buf: c.buf[:0]}
	commands.Put(c)
}

// encode writes the CDP message. Keys stand in the order of Chrome's own
// messages, so that [Scan] takes its short way on the other side.
func (c *command) encode(id CallID, call *Call) {
	b := append(c.buf[:0], `{"id":`...)
	b = strconv.AppendInt(b, int64(id), 10)
	b = append(b, `,"method":`...)
	b = appendString(b, call.Method)
	if len(call.Params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, call.Params...)
	}
	if call.SessionID != "" {
		b = append(b, `,"sessionId":`...)
		b = appendString(b, string(call.SessionID))
	}
	c.buf, c.id = append(b, '}'), id
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string always encodes
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// isObject says whether b is one JSON object and nothing behind it, so that
// it cannot smuggle members into the message around it.
func isObject(b []byte) bool {
	i := scan.SkipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	end := scan.SkipNested(b, i)
	return end >= 0 && scan.SkipSpace(b, end) == len(b)
}
