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

// quick reads members of an object.
type quick struct {
	odd bool // something is not as expected: what was read does not count
}

// text is a member that is a string. Bytes that are no UTF-8 are the thorough
// reader's to mend.
func (q *quick) text(value []byte) string {
	b := scan.Unquote(value)
	if b == nil || !utf8.Valid(b) {
		q.odd = true
	}
	return string(b)
}

// each calls f for every member, unless the object is odd.
func (q *quick) each(object []byte, f func(key, value []byte)) {
	m := scan.Members{JSON: object}
	for m.Next() {
		if len(m.Value) == 0 || string(m.Value) == "null" {
			q.odd = true
		}
		f(m.Key, m.Value)
	}
	if m.Bad != "" {
		q.odd = true
	}
}

// maxQuickArgs bounds what is put together piece by piece.
const maxQuickArgs = 8

func quickConsole(c Config, params []byte) (r messages.ConsoleReported, ok bool) {
	var (
		q        quick
		text     string
		at       float64
		url      string
		args     int
		haveArgs bool
	)
	q.each(params, func(key, value []byte) {
		switch string(key) {
		case "args":
			q.odd = q.odd || haveArgs
			haveArgs = true
			list := scan.Elements{JSON: value}
			for !q.odd && list.Next() {
				if args++; args > 1 {
					text += " "
				}
				q.odd = q.odd || args > maxQuickArgs
				text += q.argument(list.Value)
			}
			q.odd = q.odd || list.Bad != ""
		case "timestamp":
			var err error
			at, err = strconv.ParseFloat(string(value), 64)
			q.odd = q.odd || err != nil || value[0] < '0' || value[0] > '9'
		case "stackTrace":
			url = q.firstURL(value)
		}
	})
	if q.odd {
		return r, false
	}
	return messages.ConsoleReported{
		Gen: c.Gen, Page: c.Page, Target: c.Target, Cut: len(text) > MaxConsoleText,
		Entry: messages.ConsoleError{TS: messages.Seconds(at / 1000), Level: "error", Text: consoleText(text), URL: clip(url, maxURL)},
	}, true
}

// argument is describe.
func (q *quick) argument(object []byte) string {
	var kind, description, unserializable string
	var value []byte
	q.each(object, func(key, v []byte) {
		switch string(key) {
		case "type":
			kind = q.text(v)
		case "description":
			description = q.text(v)
		case "unserializableValue":
			unserializable = q.text(v)
		case "value":
			value = v
		}
	})
	switch {
	case kind == "string" && len(value) > 0:
		return q.text(value)
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
func (q *quick) firstURL(stack []byte) (url string) {
	q.each(stack, func(key, value []byte) {
		if string(key) != "callFrames" {
			return
		}
		list := scan.Elements{JSON: value}
		if list.Next() {
			q.each(list.Value, func(key, v []byte) {
				if string(key) == "url" {
					url = q.text(v)
				}
			})
		}
		q.odd = q.odd || list.Bad != ""
	})
	return url
}

func quickNavigated(c Config, params []byte) (f messages.FrameNavigated, ok bool) {
	var q quick
	f = messages.FrameNavigated{Gen: c.Gen, Session: c.Session, Page: c.Page}
	known := false
	q.each(params, func(key, value []byte) {
		switch string(key) {
		case "type":
			f.Restored = q.text(value) == string(page.NavigationTypeBackForwardCacheRestore)
		case "frame":
			q.odd = q.odd || known
			known = true
			f.Frame = q.frame(value)
		}
	})
	return f, known && !q.odd
}

// frame is frameInfo.
func (q *quick) frame(object []byte) messages.FrameInfo {
	var f messages.FrameInfo
	var url, fragment, security string
	q.each(object, func(key, v []byte) {
		switch string(key) {
		case "id":
			f.ID = messages.FrameID(clip(q.text(v), maxID))
		case "parentId":
			f.Parent = messages.FrameID(clip(q.text(v), maxID))
		case "loaderId":
			f.Loader = clip(q.text(v), maxID)
		case "url":
			url = q.text(v)
		case "urlFragment":
			fragment = q.text(v)
		case "securityOrigin":
			security = q.text(v)
		}
	})
	f.URL, f.Origin = clip(url+fragment, maxURL), origin(security)
	return f
}

func quickLifecycle(params []byte) (l lifecycle, ok bool) {
	var q quick
	q.each(params, func(key, value []byte) {
		switch string(key) {
		case "frameId":
			l.Frame = messages.FrameID(q.text(value))
		case "loaderId":
			l.Loader = q.text(value)
		case "name":
			l.Name = q.text(value)
		}
	})
	return l, !q.odd
}
