package transport

import "bytes"

// members walks the members of a JSON object without allocating. After next
// has returned false, bad is empty if the object was whole.
type members struct {
	b          []byte
	i          int
	key, value []byte
	bad        string // why the walk ended, if it ended too early
	cut        bool   // it ended inside the value of key
	begun      bool
}

// next moves to the next member.
func (m *members) next() bool {
	if m.bad != "" {
		return false
	}
	if !m.begun {
		m.begun = true
		if m.i = skipSpace(m.b, 0); m.i >= len(m.b) || m.b[m.i] != '{' {
			return m.fail("an object was expected")
		}
		if m.i = skipSpace(m.b, m.i+1); m.i < len(m.b) && m.b[m.i] == '}' {
			return m.end()
		}
	} else {
		m.i = skipSpace(m.b, m.i)
		if m.i >= len(m.b) {
			return m.fail("the object does not end")
		}
		switch m.b[m.i] {
		case '}':
			return m.end()
		case ',':
			m.i = skipSpace(m.b, m.i+1)
		default:
			return m.fail("a comma was expected")
		}
	}
	return m.member()
}

func (m *members) member() bool {
	m.key, m.value = nil, nil
	if m.i >= len(m.b) || m.b[m.i] != '"' {
		return m.fail("a key was expected")
	}
	end := skipString(m.b, m.i)
	if end < 0 {
		return m.fail("a key does not end")
	}
	key := unquote(m.b[m.i:end])
	if key == nil {
		return m.fail("a key is not a JSON string")
	}
	m.i = skipSpace(m.b, end)
	if m.i >= len(m.b) || m.b[m.i] != ':' {
		return m.fail("a colon was expected")
	}
	m.key = key
	m.i = skipSpace(m.b, m.i+1)
	end = skipValue(m.b, m.i)
	if end < 0 {
		m.cut = true
		return m.fail("a value was expected")
	}
	m.value, m.i = m.b[m.i:end], end
	return true
}

// end checks that nothing follows the object.
func (m *members) end() bool {
	if m.i = skipSpace(m.b, m.i+1); m.i < len(m.b) {
		return m.fail("bytes after the object")
	}
	m.key, m.value = nil, nil
	return false
}

func (m *members) fail(reason string) bool {
	m.bad = reason
	return false
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the index behind the value at b[i], or -1. Brackets are
// counted, not paired: in JSON that is valid at all it comes to the same.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '{', '[':
		return skipNested(b, i)
	case '"':
		return skipString(b, i)
	}
	end := literalEnd(b, i)
	if end == i {
		return -1
	}
	return end
}

// The classes of bytes that skipNested stops at.
const (
	classQuote = 1 + iota
	classOpen
	classClose
)

var class = [256]uint8{'"': classQuote, '{': classOpen, '[': classOpen, '}': classClose, ']': classClose}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch class[b[i]] {
		case classQuote:
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case classOpen:
			depth++
		case classClose:
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// skipString returns the index behind the string whose opening quote is b[i].
func skipString(b []byte, i int) int {
	i++
	// Most strings are short: looking byte by byte is cheaper than a call.
	for near := min(i+24, len(b)); i < near; i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	for i < len(b) {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		quote := i + n
		slashes := 0
		for quote-slashes > i && b[quote-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return quote + 1
		}
		i = quote + 1
	}
	return -1
}

// literalEnd returns the index behind the number or word at b[i].
func literalEnd(b []byte, i int) int {
	for i < len(b) {
		switch c := b[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '+', c == '.':
			i++
		default:
			return i
		}
	}
	return i
}

// plainEnd returns the index of the quote that ends a string without escapes
// whose first byte is b[i], or -1. Names and ids are short; a long one is left
// to the thorough scan.
func plainEnd(b []byte, i int) int {
	for end := min(i+256, len(b)); i < end; i++ {
		switch c := b[i]; {
		case c == '"':
			return i
		case c == '\\', c < 0x20:
			return -1
		}
	}
	return -1
}
