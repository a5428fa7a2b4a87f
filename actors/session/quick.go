package session

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/chromedp/cdproto/page"

	"holdfast/internal/redact"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The events that a page can cause by the thousand are read by hand: reflection
// over the whole of them cost ten times what is kept of them. A quick reader
// either returns what its thorough sibling would, or leaves the event to it:
// whatever is not as Chrome writes it.

// quick walks an event once, from its beginning to its end:
//
//	for q.open('{'); q.more('}'); {
//		switch string(q.key()) { … q.text() … default: q.skip() }
//	}
type quick struct {
	json []byte
	at   int
	odd  bool // something is not as expected: what was read does not count
	said *repeated
}

// repeated are texts that a page says again and again, each as it was read last: the
// next one that is the same is no new text.
type repeated struct{ frame, script string }

func (r *repeated) text(last *string, b []byte) string {
	if *last != string(b) {
		*last = string(b)
	}
	return *last
}

// open enters an object or a list.
func (q *quick) open(bracket byte) {
	if q.at >= len(q.json) || q.json[q.at] != bracket {
		q.odd = true
		return
	}
	q.at++
}

// more says whether there is another member, or element, or leaves.
func (q *quick) more(closing byte) bool {
	if q.odd || q.at >= len(q.json) {
		q.odd = true
		return false
	}
	first := q.json[q.at-1] == '{' || q.json[q.at-1] == '['
	switch {
	case q.json[q.at] == closing:
		q.at++
		return false
	case first:
	case q.json[q.at] == ',':
		q.at++
	default:
		q.odd = true
	}
	return !q.odd
}

// key is the name of the next member, which is behind it.
func (q *quick) key() []byte {
	if q.at >= len(q.json) || q.json[q.at] != '"' {
		q.odd = true
		return nil
	}
	from := q.at + 1
	end := scan.PlainEnd(q.json, from)
	if end < 0 || end+2 >= len(q.json) || q.json[end+1] != ':' || q.json[end+2] == 'n' {
		q.odd = true // a member that is null is left to the thorough reader as well
		return nil
	}
	q.at = end + 2
	return q.json[from:end]
}

// text takes a string. Bytes that are no UTF-8 are the thorough reader's to mend.
func (q *quick) text() string { return string(q.bytes()) }

// bytes is text, in what is read or copied.
func (q *quick) bytes() []byte {
	from := q.at
	if from >= len(q.json) || q.json[from] != '"' {
		q.odd = true
		return nil
	}
	// Most are short and plain.
	for i, c := range q.json[from+1 : min(from+40, len(q.json))] {
		if c == '"' {
			q.at = from + i + 2
			return q.json[from+1 : from+1+i]
		}
		if c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	q.skip()
	if q.odd {
		return nil
	}
	return q.unquote(q.json[from:q.at])
}

func (q *quick) unquote(value []byte) []byte {
	b := scan.Unquote(value)
	if b == nil || !utf8.Valid(b) {
		q.odd = true
	}
	return b
}

// raw takes a value as it is.
func (q *quick) raw() []byte {
	from := q.at
	q.skip()
	return q.json[from:q.at]
}

// skip takes a value that nobody wants.
func (q *quick) skip() {
	if end := scan.SkipValue(q.json, q.at); end > q.at {
		q.at = end
	} else {
		q.odd = true
	}
}

// good says whether what was read counts: all of it, and nothing behind it.
func (q *quick) good() bool { return !q.odd && q.at == len(q.json) }

// maxQuickArgs bounds what is put together piece by piece.
const maxQuickArgs = 8

func quickConsole(c *Source, said *repeated, params []byte) (r mail.ConsoleReported, ok bool) {
	q := quick{json: params, said: said}
	r = mail.ConsoleReported{Gen: c.Gen, Page: c.Page, Target: c.Target, Entry: messages.ConsoleError{Level: "error"}}
	haveArgs := false
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "args":
			q.odd = q.odd || haveArgs
			haveArgs = true
			said := q.arguments()
			r.Cut = len(said) > MaxConsoleText
			r.Entry.Text = said
		case "timestamp":
			value := q.raw()
			at, err := strconv.ParseFloat(string(value), 64)
			q.odd = q.odd || err != nil || value[0] < '0' || value[0] > '9'
			r.Entry.TS = messages.Seconds(at / 1000)
		case "stackTrace":
			r.Entry.URL = q.said.text(&q.said.script, cut(q.firstURL(), MaxURL))
		default:
			q.skip()
		}
	}
	if !q.good() {
		return r, false
	}
	r.Entry.Text, r.Entry.URL = consoleText(r.Entry.Text), redact.PageURL(r.Entry.URL)
	return r, true
}

func (q *quick) arguments() (said string) {
	n := 0
	for q.open('['); q.more(']'); {
		if n++; n > 1 {
			said += " "
		}
		q.odd = q.odd || n > maxQuickArgs
		said += q.argument()
	}
	return said
}

// argument is describe.
func (q *quick) argument() string {
	var kind, description, unserializable, text, value []byte
	read := false // as text
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "type":
			kind = q.bytes()
		case "description":
			description = q.bytes()
		case "unserializableValue":
			unserializable = q.bytes()
		case "value":
			if string(kind) == "string" {
				text, read = q.bytes(), true
			} else {
				value = q.raw()
			}
		default:
			q.skip()
		}
	}
	q.odd = q.odd || read && (string(kind) != "string" || len(value) > 0)
	switch {
	case read:
		return string(text)
	case string(kind) == "string" && len(value) > 0:
		return string(q.unquote(value))
	case len(description) > 0:
		return string(description)
	case len(unserializable) > 0:
		return string(unserializable)
	case len(value) > 0:
		return string(value)
	}
	return string(kind)
}

// firstURL is scriptURL.
func (q *quick) firstURL() (url []byte) {
	for q.open('{'); q.more('}'); {
		if string(q.key()) != "callFrames" {
			q.skip()
			continue
		}
		n := 0
		for q.open('['); q.more(']'); {
			if n++; n > 1 {
				q.skip()
				continue
			}
			for q.open('{'); q.more('}'); {
				if string(q.key()) == "url" {
					url = q.bytes()
				} else {
					q.skip()
				}
			}
		}
	}
	return url
}

func quickNavigated(c *Source, said *repeated, params []byte) (f mail.FrameNavigated, ok bool) {
	q := quick{json: params, said: said}
	f = mail.FrameNavigated{Gen: c.Gen, Session: c.Session, Page: c.Page}
	known := false
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "type":
			f.Restored = string(q.bytes()) == string(page.NavigationTypeBackForwardCacheRestore)
		case "frame":
			q.odd = q.odd || known
			known = true
			f.Frame = q.frame(c)
		default:
			q.skip()
		}
	}
	return f, known && q.good()
}

// frame is frameInfo.
func (q *quick) frame(c *Source) (f mail.FrameInfo) {
	var loader, url, fragment, security []byte
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "id":
			f.ID = q.frameID(c)
		case "parentId":
			f.Parent = q.frameID(c)
		case "loaderId":
			loader = cut(q.bytes(), MaxID)
		case "url":
			url = q.bytes()
		case "urlFragment":
			fragment = q.bytes()
		case "securityOrigin":
			security = q.bytes()
		default:
			q.skip()
		}
	}
	if q.odd {
		return f
	}
	if len(url) > MaxURL {
		fragment = nil
	}
	url = cut(url, MaxURL)
	fragment = cut(fragment, MaxURL-len(url))
	// What is of one document is one text: it is kept and forgotten together.
	var text strings.Builder
	text.Grow(len(loader) + len(url) + len(fragment))
	text.Write(loader)
	text.Write(url)
	text.Write(fragment)
	f.Loader, f.URL = text.String()[:len(loader)], text.String()[len(loader):]
	if len(security) > 0 && strings.HasPrefix(f.URL, string(security)) {
		f.Origin = origin(f.URL[:len(security)])
	} else {
		f.Origin = origin(string(security))
	}
	return f
}

// frameID takes the id of a frame, most often that of the session's own.
func (q *quick) frameID(c *Source) messages.FrameID {
	b := cut(q.bytes(), MaxID)
	if string(b) == string(c.Target) {
		return messages.FrameID(c.Target)
	}
	return messages.FrameID(q.said.text(&q.said.frame, b))
}

func quickLifecycle(params []byte) (l lifecycle, ok bool) {
	q := quick{json: params}
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "frameId":
			l.Frame = messages.FrameID(q.text())
		case "loaderId":
			l.Loader = q.text()
		case "name":
			l.Name = q.text()
		default:
			q.skip()
		}
	}
	return l, q.good()
}
