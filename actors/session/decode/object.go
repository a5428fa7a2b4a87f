package decode

import (
	"bytes"
	"unicode/utf8"
)

// readPlain reads an object of texts and truths in Chrome's own way of writing: without
// spaces, and with no text that needs an escape. It calls member for each, which
// says whether it knows it. The result is false for anything else, and then nothing
// that was told counts: encoding/json understands more, and takes ten times as long.
// Name and text are parts of object.
func readPlain(object []byte, member func(name, text []byte, truth bool) bool) bool {
	rest, ok := bytes.CutPrefix(object, []byte{'{'})
	for ok {
		var name, text []byte
		if name, rest, ok = plainText(rest); !ok || len(rest) < 2 || rest[0] != ':' {
			return false
		}
		rest = rest[1:]
		truth := rest[0] == 't'
		switch {
		case rest[0] == '"':
			text, rest, ok = plainText(rest)
		case truth:
			rest, ok = bytes.CutPrefix(rest, []byte("true"))
		default:
			rest, ok = bytes.CutPrefix(rest, []byte("false"))
		}
		if !ok || !member(name, text, truth) {
			return false
		}
		if len(rest) == 1 && rest[0] == '}' {
			return true
		}
		rest, ok = bytes.CutPrefix(rest, []byte{','})
	}
	return false
}

// plainText cuts a text with its quotes off b. That of the empty text is not nil.
func plainText(b []byte) (text, rest []byte, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte{'"'})
	if !ok {
		return nil, nil, false
	}
	ascii := true
	for i, c := range b {
		switch {
		case c == '"':
			text = b[:i:i]
			return text, b[i+1:], ascii || utf8.Valid(text)
		case c < ' ', c == '\\':
			return nil, nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, nil, false
}
