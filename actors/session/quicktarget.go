package session

import (
	"holdfast/messages"
	"holdfast/messages/mail"
)

// What every attach says, once a session: read by hand for what reflection leaves
// behind. A start's garbage lies between what stays, and what lies between is kept.

func quickAttached(c *Source, params []byte) (a mail.TargetAttached, ok bool) {
	q := quick{json: params}
	a = mail.TargetAttached{Gen: c.Gen, Via: c.Session}
	known := false
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "sessionId":
			a.Session = messages.SessionID(clip(q.text(), MaxID))
		case "targetInfo":
			q.odd = q.odd || known
			known = true
			a.Info = q.target()
		case "waitingForDebugger":
			a.Waiting = q.boolean()
		default:
			q.skip()
		}
	}
	return a, known && q.good()
}

// quickTargetInfo reads what has a target's info and nothing else that is wanted.
func quickTargetInfo(said []byte) (t mail.TargetInfo, ok bool) {
	q := quick{json: said}
	known := false
	for q.open('{'); q.more('}'); {
		if string(q.key()) != "targetInfo" {
			q.skip()
			continue
		}
		q.odd = q.odd || known
		known = true
		t = q.target()
	}
	return t, known && q.good()
}

// target is targetInfo.
func (q *quick) target() (t mail.TargetInfo) {
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "targetId":
			t.ID = messages.TargetID(clip(q.text(), MaxID))
		case "type":
			t.Type = q.targetType()
		case "url":
			t.URL = clip(q.text(), MaxURL)
		case "title":
			t.Title = clip(q.text(), 300)
		case "openerId":
			t.Opener = messages.TargetID(clip(q.text(), MaxID))
		case "parentFrameId":
			t.ParentFrame = messages.FrameID(clip(q.text(), MaxID))
		case "browserContextId":
			t.Context = clip(q.text(), MaxID)
		case "canAccessOpener":
			t.CanAccessOpener = q.boolean()
		default:
			q.skip()
		}
	}
	return t
}

// targetType is a text of which nearly all are one of two.
func (q *quick) targetType() string {
	from := q.at
	t := q.raw()
	switch string(t) {
	case `"page"`:
		return "page"
	case `"iframe"`:
		return "iframe"
	}
	q.at = from
	return clip(q.text(), MaxID)
}

func (q *quick) boolean() bool {
	value := string(q.raw())
	q.odd = q.odd || value != "true" && value != "false"
	return value == "true"
}

// maxQuickDepth is how deep frames may lie in each other that are read quickly.
const maxQuickDepth = 32

// quickFrameTree is decodeFrameTree.
func quickFrameTree(c *Source, result []byte) (frames []mail.FrameInfo, ok bool) {
	q := quick{json: result, said: &repeated{}}
	for q.open('{'); q.more('}'); {
		if string(q.key()) != "frameTree" {
			q.skip()
			continue
		}
		q.odd = q.odd || frames != nil
		frames = q.frameTree(c, frames, maxQuickDepth)
	}
	return frames, len(frames) > 0 && q.good()
}

// frameTree adds a frame and those below it.
func (q *quick) frameTree(c *Source, frames []mail.FrameInfo, depth int) []mail.FrameInfo {
	q.odd = q.odd || depth == 0
	known, below := false, false
	for q.open('{'); q.more('}'); {
		switch string(q.key()) {
		case "frame":
			q.odd = q.odd || known || below
			known = true
			frames = append(frames, q.frame(c))
		case "childFrames":
			q.odd = q.odd || below || !known
			below = true
			for q.open('['); q.more(']'); {
				frames = q.frameTree(c, frames, depth-1)
			}
		default:
			q.skip()
		}
	}
	q.odd = q.odd || !known
	return frames
}
