package scan

import (
	"bytes"
	"encoding/json"
)

// Members walks the members of a JSON object without allocating, save for keys
// written with escapes. After Next has returned false, Bad is empty if the object
// was whole.
type Members struct {
	JSON       []byte // what is walked
	At         int    // where in it the walk stands
	Key, Value []byte // of the member: the key unquoted, the value as it is
	Bad        string // why the walk ended, if it ended too early
	IsCut      bool   // it ended inside the value of Key
	hasBegun   bool
}

// Next moves to the next member.
func (m *Members) Next() bool {
	if m.Bad != "" {
		return false
	}
	if !m.hasBegun {
		m.hasBegun = true
		if m.At = SkipSpace(m.JSON, 0); m.At >= len(m.JSON) || m.JSON[m.At] != '{' {
			m.fail("an object was expected")
			return false
		}
		if m.At = SkipSpace(m.JSON, m.At+1); m.At < len(m.JSON) && m.JSON[m.At] == '}' {
			m.end()
			return false
		}
	} else {
		m.At = SkipSpace(m.JSON, m.At)
		if m.At >= len(m.JSON) {
			m.fail("the object does not end")
			return false
		}
		switch m.JSON[m.At] {
		case '}':
			m.end()
			return false
		case ',':
			m.At = SkipSpace(m.JSON, m.At+1)
		default:
			m.fail("a comma was expected")
			return false
		}
	}
	return m.hasMember()
}

func (m *Members) hasMember() bool {
	m.Key, m.Value = nil, nil
	if m.At >= len(m.JSON) || m.JSON[m.At] != '"' {
		m.fail("a key was expected")
		return false
	}
	end := SkipString(m.JSON, m.At)
	if end < 0 {
		m.fail("a key does not end")
		return false
	}
	key := Unquote(m.JSON[m.At:end])
	if key == nil {
		m.fail("a key is not a JSON string")
		return false
	}
	m.At = SkipSpace(m.JSON, end)
	if m.At >= len(m.JSON) || m.JSON[m.At] != ':' {
		m.fail("a colon was expected")
		return false
	}
	m.Key = key
	m.At = SkipSpace(m.JSON, m.At+1)
	end = SkipValue(m.JSON, m.At)
	if end < 0 {
		m.IsCut = true
		m.fail("a value was expected")
		return false
	}
	m.Value, m.At = m.JSON[m.At:end], end
	return true
}

// end checks that nothing follows the object.
func (m *Members) end() {
	if m.At = SkipSpace(m.JSON, m.At+1); m.At < len(m.JSON) {
		m.fail("bytes after the object")
		return
	}
	m.Key, m.Value = nil, nil
}

func (m *Members) fail(reason string) { m.Bad = reason }

// SkipSpace returns the index of the first byte from b[i] on that is no white
// space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// SkipValue returns the index behind the value at b[i], or -1. Brackets are
// counted, not paired: in JSON that is valid at all it comes to the same.
func SkipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '{', '[':
		return SkipNested(b, i)
	case '"':
		return SkipString(b, i)
	}
	end := LiteralEnd(b, i)
	if end == i {
		return -1
	}
	return end
}

// The classes of bytes that SkipNested stops at.
const (
	classQuote = 1 + iota
	classOpen
	classClose
)

var class = [256]uint8{'"': classQuote, '{': classOpen, '[': classOpen, '}': classClose, ']': classClose}

// SkipNested is SkipValue for an object or a list.
func SkipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch class[b[i]] {
		case classQuote:
			if i = SkipString(b, i); i < 0 {
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

// SkipString returns the index behind the string whose opening quote is b[i].
func SkipString(b []byte, i int) int {
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

// LiteralEnd returns the index behind the number or word at b[i].
func LiteralEnd(b []byte, i int) int {
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

// PlainEnd returns the index of the quote that ends a string without escapes
// whose first byte is b[i], or -1. Names and ids are short; a long one is left
// to the thorough scan.
func PlainEnd(b []byte, i int) int {
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

// Unquote returns what a JSON string says, nil if value is not a string.
func Unquote(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return nil
	}
	return []byte(s)
}

// Elements walks the elements of a JSON list without allocating, like [Members].
type Elements struct {
	JSON     []byte
	At       int
	Value    []byte // the element, as it is
	Bad      string
	hasBegun bool
}

// Next moves to the next element.
func (e *Elements) Next() bool {
	if e.Bad != "" {
		return false
	}
	e.At = SkipSpace(e.JSON, e.At)
	opening := byte(',')
	if !e.hasBegun {
		opening = '['
	}
	switch {
	case e.At < len(e.JSON) && e.JSON[e.At] == opening:
		e.At = SkipSpace(e.JSON, e.At+1)
	case e.hasBegun && e.At == len(e.JSON)-1 && e.JSON[e.At] == ']':
		return false
	default:
		e.Bad = "a list was expected"
		return false
	}
	if !e.hasBegun && e.At == len(e.JSON)-1 && e.JSON[e.At] == ']' {
		e.hasBegun = true
		return false
	}
	e.hasBegun = true
	end := SkipValue(e.JSON, e.At)
	if end < 0 {
		e.Bad = "a value was expected"
		return false
	}
	e.Value, e.At = e.JSON[e.At:end], end
	return true
}
