package decode

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/chromedp/cdproto/page"

	"holdfast/actors/session/clip"
	"holdfast/internal/redact"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The events that a page can cause by the thousand are read by hand: reflection
// over the whole of them cost ten times what is kept of them. A quick reader
// either returns what its thorough sibling would, or leaves the event to it:
// whatever is not as Chrome writes it.

// scanner walks an event once, from its beginning to its end:
//
//	for q.open('{'); q.more('}'); {
//		switch string(q.key()) { … q.text() … default: q.skip() }
//	}
type scanner struct {
	json        []byte
	at          int
	isMalformed bool // something is not as expected: what was read does not count
	said        *Repeated
}

// Repeated are texts that a page says again and again, each as it was read last: the
// next one that is the same is no new text.
type Repeated struct{ frame, script string }

func (r *Repeated) text(last *string, b []byte) string {
	if *last != string(b) {
		*last = string(b)
	}
	return *last
}

// open enters an object or a list.
func (q *scanner) open(bracket byte) {
	if q.at >= len(q.json) || q.json[q.at] != bracket {
		q.isMalformed = true
		return
	}
	q.at++
}

// hasMore says whether there is another member, or element, or leaves.
func (q *scanner) hasMore(closing byte) bool {
	if q.isMalformed || q.at >= len(q.json) {
		q.isMalformed = true
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
		q.isMalformed = true
	}
	return !q.isMalformed
}

// key is the name of the next member, which is behind it.
func (q *scanner) key() []byte {
	if q.at >= len(q.json) || q.json[q.at] != '"' {
		q.isMalformed = true
		return nil
	}
	from := q.at + 1
	end := scan.PlainEnd(q.json, from)
	if end < 0 || end+2 >= len(q.json) || q.json[end+1] != ':' || q.json[end+2] == 'n' {
		q.isMalformed = true // a member that is null is left to the thorough reader as well
		return nil
	}
	q.at = end + 2
	return q.json[from:end]
}

// text takes a string. Bytes that are no UTF-8 are the thorough reader's to mend.
func (q *scanner) text() string { return string(q.bytes()) }

// bytes is text, in what is read or copied.
func (q *scanner) bytes() []byte {
	from := q.at
	if from >= len(q.json) || q.json[from] != '"' {
		q.isMalformed = true
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
	if q.isMalformed {
		return nil
	}
	return q.unquote(q.json[from:q.at])
}

func (q *scanner) unquote(value []byte) []byte {
	b := scan.Unquote(value)
	if b == nil || !utf8.Valid(b) {
		q.isMalformed = true
	}
	return b
}

// raw takes a value as it is.
func (q *scanner) raw() []byte {
	from := q.at
	q.skip()
	return q.json[from:q.at]
}

// skip passes over an unwanted value.
func (q *scanner) skip() {
	if end := scan.SkipValue(q.json, q.at); end > q.at {
		q.at = end
	} else {
		q.isMalformed = true
	}
}

// isGood says whether what was read counts: all of it, and nothing behind it.
func (q *scanner) isGood() bool { return !q.isMalformed && q.at == len(q.json) }

// maxScannedArgs bounds what is put together piece by piece.
const maxScannedArgs = 8

// ScanConsole reads Runtime.consoleAPICalled; false leaves it to encoding/json.
func ScanConsole(c *Source, said *Repeated, params []byte) (r mail.ConsoleReported, ok bool) {
	q := scanner{json: params, said: said}
	r = mail.ConsoleReported{Gen: c.Gen, Page: c.Page, Target: c.Target, Entry: messages.ConsoleError{Level: "error"}}
	haveArgs := false
	for q.open('{'); q.hasMore('}'); {
		switch string(q.key()) {
		case "args":
			q.isMalformed = q.isMalformed || haveArgs
			haveArgs = true
			said := q.arguments()
			r.IsCut = len(said) > MaxConsoleText
			r.Entry.Text = said
		case "timestamp":
			value := q.raw()
			at, err := strconv.ParseFloat(string(value), 64)
			q.isMalformed = q.isMalformed || err != nil || value[0] < '0' || value[0] > '9'
			r.Entry.TS = messages.Seconds(at / 1000)
		case "stackTrace":
			r.Entry.URL = q.said.text(&q.said.script, clip.Bytes(q.firstURL(), clip.MaxURL))
		default:
			q.skip()
		}
	}
	if !q.isGood() {
		return r, false
	}
	r.Entry.Text, r.Entry.URL = consoleText(r.Entry.Text), redact.PageURL(r.Entry.URL)
	return r, true
}

func (q *scanner) arguments() (said string) {
	n := 0
	for q.open('['); q.hasMore(']'); {
		if n++; n > 1 {
			said += " "
		}
		q.isMalformed = q.isMalformed || n > maxScannedArgs
		said += q.argument()
	}
	return said
}

// argument is describe.
func (q *scanner) argument() string {
	var kind, description, unserializable, text, value []byte
	read := false // as text
	for q.open('{'); q.hasMore('}'); {
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
	q.isMalformed = q.isMalformed || read && (string(kind) != "string" || len(value) > 0)
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
func (q *scanner) firstURL() (url []byte) {
	for q.open('{'); q.hasMore('}'); {
		if string(q.key()) != "callFrames" {
			q.skip()
			continue
		}
		n := 0
		for q.open('['); q.hasMore(']'); {
			if n++; n > 1 {
				q.skip()
				continue
			}
			for q.open('{'); q.hasMore('}'); {
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

func scanNavigated(c *Source, said *Repeated, params []byte) (f mail.FrameNavigated, ok bool) {
	q := scanner{json: params, said: said}
	f = mail.FrameNavigated{Gen: c.Gen, Session: c.Session, Page: c.Page}
	known := false
	for q.open('{'); q.hasMore('}'); {
		switch string(q.key()) {
		case "type":
			f.IsRestored = string(q.bytes()) == string(page.NavigationTypeBackForwardCacheRestore)
		case "frame":
			q.isMalformed = q.isMalformed || known
			known = true
			f.Frame = q.frame(c)
		default:
			q.skip()
		}
	}
	f.IsPDF = bytes.Contains(params, pdfMember)
	return f, known && q.isGood()
}

// frame is frameInfo.
func (q *scanner) frame(c *Source) (f mail.FrameInfo) {
	var loader, url, fragment, security []byte
	for q.open('{'); q.hasMore('}'); {
		switch string(q.key()) {
		case "id":
			f.ID = q.frameID(c)
		case "parentId":
			f.Parent = q.frameID(c)
		case "loaderId":
			loader = clip.Bytes(q.bytes(), clip.MaxID)
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
	if q.isMalformed {
		return f
	}
	if len(url) > clip.MaxURL {
		fragment = nil
	}
	url = clip.Bytes(url, clip.MaxURL)
	fragment = clip.Bytes(fragment, clip.MaxURL-len(url))
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
func (q *scanner) frameID(c *Source) messages.FrameID {
	b := clip.Bytes(q.bytes(), clip.MaxID)
	if string(b) == string(c.Target) {
		return messages.FrameID(c.Target)
	}
	return messages.FrameID(q.said.text(&q.said.frame, b))
}

func scanLifecycle(params []byte) (l Lifecycle, ok bool) {
	q := scanner{json: params}
	for q.open('{'); q.hasMore('}'); {
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
	return l, q.isGood()
}
