package transport

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// openingEvent is the one event that a page can make as long as it likes and that has to
// be known all the same: Chromium cuts a prompt's message, and not its default.
const openingEvent = "Page.javascriptDialogOpening"

// eventTooLarge makes an opening of what there is of it. Any other wanted event of a page's
// state costs the link: the next learns it anew. What a page says by Runtime is only a report.
func (m *Mux) eventTooLarge(method, head, tail []byte) {
	name, wanted := m.wants.find(method)
	domain, _, _ := strings.Cut(name, ".")
	if !wanted || domain != "Page" && domain != "Target" && domain != "Inspector" {
		return
	}
	if name == openingEvent {
		if e, err := Scan(shortOpening(head, tail)); err == nil && string(e.Method) == openingEvent {
			m.handleEvent(e, name)
			return
		}
	}
	m.Flood()
}

// keptDefault is how much of a default that is too long is kept, in bytes.
const keptDefault = 1 << 10

// shortOpening puts an opening together of its beginning and its end, with a default that
// is cut. A quote within a text is escaped, so what is looked for is found in none.
func shortOpening(head, tail []byte) []byte {
	if tail == nil {
		tail = head[max(0, len(head)-tailSize):]
	}
	key, end := []byte(`"defaultPrompt":"`), []byte(`"},"sessionId":"`)
	i, j := bytes.Index(head, key), bytes.LastIndex(tail, end)
	if i < 0 || j < 0 {
		return nil
	}
	kept := head[i+len(key):]
	kept = kept[:min(len(kept), keptDefault)]
	// No half of a character, nor of an escape, the longest of which has six bytes.
	if k := bytes.LastIndexByte(kept, '\\'); k >= 0 && k >= len(kept)-6 {
		for k > 0 && kept[k-1] == '\\' {
			k--
		}
		kept = kept[:k]
	}
	for len(kept) > 0 && !utf8.Valid(kept) {
		kept = kept[:len(kept)-1]
	}
	out := append([]byte(nil), head[:i+len(key)]...)
	out = append(append(out, kept...), "…"...)
	return append(out, tail[j:]...)
}
