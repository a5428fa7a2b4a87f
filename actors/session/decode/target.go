package decode

import (
	"holdfast/actors/session/clip"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// What every attach says, once a session: read by hand for what reflection leaves
// behind. A start's garbage lies between what stays, and what lies between is kept.

func scanAttached(c *Source, params []byte) (a mail.TargetAttached, ok bool) {
	q := scanner{json: params}
	a = mail.TargetAttached{Gen: c.Gen, Via: c.Session}
	known := false
	for q.open('{'); q.hasMore('}'); {
		switch string(q.key()) {
		case "sessionId":
			a.Session = messages.SessionID(clip.Text(q.text(), clip.MaxID))
		case "targetInfo":
			q.isMalformed = q.isMalformed || known
			known = true
			a.Info = q.target()
		case "waitingForDebugger":
			a.IsWaiting = q.readBool()
		default:
			q.skip()
		}
	}
	return a, known && q.isGood()
}

// scanTargetInfo reads what has a target's info and nothing else that is wanted.
func scanTargetInfo(said []byte) (t mail.TargetInfo, ok bool) {
	q := scanner{json: said}
	known := false
	for q.open('{'); q.hasMore('}'); {
		if string(q.key()) != "targetInfo" {
			q.skip()
			continue
		}
		q.isMalformed = q.isMalformed || known
		known = true
		t = q.target()
	}
	return t, known && q.isGood()
}

// target is targetInfo.
func (q *scanner) target() (t mail.TargetInfo) {
	for q.open('{'); q.hasMore('}'); {
		switch string(q.key()) {
		case "targetId":
			t.ID = messages.TargetID(clip.Text(q.text(), clip.MaxID))
		case "type":
			t.Type = q.targetType()
		case "url":
			t.URL = clip.Text(q.text(), clip.MaxURL)
		case "title":
			t.Title = clip.Text(q.text(), 300)
		case "openerId":
			t.Opener = messages.TargetID(clip.Text(q.text(), clip.MaxID))
		case "parentFrameId":
			t.ParentFrame = messages.FrameID(clip.Text(q.text(), clip.MaxID))
		case "browserContextId":
			t.Context = clip.Text(q.text(), clip.MaxID)
		case "canAccessOpener":
			t.CanAccessOpener = q.readBool()
		default:
			q.skip()
		}
	}
	return t
}

// targetType is a text of which nearly all are one of two.
func (q *scanner) targetType() string {
	from := q.at
	t := q.raw()
	switch string(t) {
	case `"page"`:
		return "page"
	case `"iframe"`:
		return "iframe"
	}
	q.at = from
	return clip.Text(q.text(), clip.MaxID)
}

func (q *scanner) readBool() bool {
	value := string(q.raw())
	q.isMalformed = q.isMalformed || value != "true" && value != "false"
	return value == "true"
}

// maxScannedDepth is how deep frames may lie in each other that are read quickly.
const maxScannedDepth = 32

// scanFrameTree is decodeFrameTree.
func scanFrameTree(c *Source, result []byte) (frames []mail.FrameInfo, ok bool) {
	q := scanner{json: result, said: &Repeated{}}
	for q.open('{'); q.hasMore('}'); {
		if string(q.key()) != "frameTree" {
			q.skip()
			continue
		}
		q.isMalformed = q.isMalformed || frames != nil
		frames = q.frameTree(c, frames, maxScannedDepth)
	}
	return frames, len(frames) > 0 && q.isGood()
}

// frameTree adds a frame and those below it.
func (q *scanner) frameTree(c *Source, frames []mail.FrameInfo, depth int) []mail.FrameInfo {
	q.isMalformed = q.isMalformed || depth == 0
	known, below := false, false
	for q.open('{'); q.hasMore('}'); {
		switch string(q.key()) {
		case "frame":
			q.isMalformed = q.isMalformed || known || below
			known = true
			frames = append(frames, q.frame(c))
		case "childFrames":
			q.isMalformed = q.isMalformed || below || !known
			below = true
			for q.open('['); q.hasMore(']'); {
				frames = q.frameTree(c, frames, depth-1)
			}
		default:
			q.skip()
		}
	}
	q.isMalformed = q.isMalformed || !known
	return frames
}
