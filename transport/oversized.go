package transport

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// These are known however long they are, from what is left of them: a page waits for their
// answer. Chromium cuts a prompt's message, and not its default. A pause has the name of
// the function with each of its frames; what asks is the first.
const (
	openingEvent = "Page.javascriptDialogOpening"
	pausedEvent  = "Debugger.paused"
)

// stateDomains are those whose events say what a page's state is. What a page says by
// Runtime is only a report.
var stateDomains = []string{"Debugger", "Fetch", "Inspector", "Page", "Target"}

// eventTooLarge makes an opening or a pause of what there is of it. Any other wanted event
// of a page's state costs the link: the next learns anew what the browser has, and what was
// paused for this one continues. A script of that length is none of ours.
func (m *Mux) eventTooLarge(method, head, tail []byte) {
	name, wanted := m.wants.find(method)
	domain, _, _ := strings.Cut(name, ".")
	if !wanted || !slices.Contains(stateDomains, domain) || name == "Debugger.scriptParsed" {
		return
	}
	if tail == nil {
		tail = head[max(0, len(head)-tailSize):]
	}
	var short []byte
	switch name {
	case openingEvent:
		short = shortOpening(head, tail)
	case pausedEvent:
		short = shortPaused(head, tail)
	}
	if e, err := Scan(short); short != nil && err == nil && string(e.Method) == name {
		m.handleEvent(e, name)
		return
	}
	m.Flood()
}

// shortPaused is a pause with its first frame alone. Its reason may be cut, and is left out.
func shortPaused(head, tail []byte) []byte {
	key, end := []byte(`"callFrames":[`), []byte(`},"sessionId":"`)
	i, j := bytes.Index(head, key), bytes.LastIndex(tail, end)
	if i < 0 || j < 0 {
		return nil
	}
	var first json.RawMessage
	if json.NewDecoder(bytes.NewReader(head[i+len(key):])).Decode(&first) != nil {
		return nil
	}
	out := append([]byte(`{"method":"`+pausedEvent+`","params":{"callFrames":[`), first...)
	return append(append(out, ']'), tail[j:]...)
}

// keptDefault is how much of a default that is too long is kept, in bytes.
const keptDefault = 1 << 10

// shortOpening puts an opening together of its beginning and its end, with a default that
// is cut. A quote within a text is escaped, so what is looked for is found in none.
func shortOpening(head, tail []byte) []byte {
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
