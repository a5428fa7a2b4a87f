package session

import (
	"strconv"
	"unicode/utf8"

	"github.com/chromedp/cdproto/page"

	"holdfast/internal/scan"
	"holdfast/messages"
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
func (q *quick) text() string {
	from := q.at
	if from >= len(q.json) || q.json[from] != '"' {
		q.odd = true
		return ""
	}
	// Most are short and plain.
	for i, c := range q.json[from+1 : min(from+40, len(q.json))] {
		if c == '"' {
			q.at = from + i + 2
			return string(q.json[from+1 : from+1+i])
		}
		if c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	q.skip()
	if q.odd {
		return ""
	}
	return q.unquote(q.json[from:q.at])
}

func (q *quick) unquote(value []byte) string {
	b := scan.Unquote(value)
	if b == nil || !utf8.Valid(b) {
		q.odd = true
	}
	return string(b)
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

func quickConsole(c Config, params []byte) (r messages.ConsoleReported, ok bool) {
	q := quick{json: params}
	r = messages.ConsoleReported{Gen: c.Gen, Page: c.Page, Target: c.Target, Entry: messages.ConsoleError{Level: "error"}}
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
			r.Entry.URL = clip(q.firstURL(), maxURL)
		default:
			q.skip()
		}
	}
	if !q.good() {
		return r, false
	}
	r.Entry.Text = consoleText(r.Entry.Text)
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
	var kind, description, unserializable, text string
	var value []byte
	read := false // as text
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "type":
			kind = q.text()
		case "description":
			description = q.text()
		case "unserializableValue":
			unserializable = q.text()
		case "value":
			if kind == "string" {
				text, read = q.text(), true
			} else {
				value = q.raw()
			}
		default:
			q.skip()
		}
	}
	q.odd = q.odd || read && (kind != "string" || len(value) > 0)
	switch {
	case read:
		return text
	case kind == "string" && len(value) > 0:
		return q.unquote(value)
	case description != "":
		return description
	case unserializable != "":
		return unserializable
	case len(value) > 0:
		return string(value)
	}
	return kind
}

// firstURL is scriptURL.
func (q *quick) firstURL() (url string) {
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
					url = q.text()
				} else {
					q.skip()
				}
			}
		}
	}
	return url
}

func quickNavigated(c Config, params []byte) (f messages.FrameNavigated, ok bool) {
	q := quick{json: params}
	f = messages.FrameNavigated{Gen: c.Gen, Session: c.Session, Page: c.Page}
	known := false
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "type":
			f.Restored = q.text() == string(page.NavigationTypeBackForwardCacheRestore)
		case "frame":
			q.odd = q.odd || known
			known = true
			f.Frame = q.frame()
		default:
			q.skip()
		}
	}
	return f, known && q.good()
}

// frame is frameInfo.
func (q *quick) frame() messages.FrameInfo {
	var f messages.FrameInfo
	var url, fragment, security string
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "id":
			f.ID = messages.FrameID(clip(q.text(), maxID))
		case "parentId":
			f.Parent = messages.FrameID(clip(q.text(), maxID))
		case "loaderId":
			f.Loader = clip(q.text(), maxID)
		case "url":
			url = q.text()
		case "urlFragment":
			fragment = q.text()
		case "securityOrigin":
			security = q.text()
		default:
			q.skip()
		}
	}
	f.URL, f.Origin = clip(url+fragment, maxURL), origin(security)
	return f
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
