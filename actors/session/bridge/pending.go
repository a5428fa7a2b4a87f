package bridge

import (
	"maps"
	"slices"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// What a session knows of requests that wait without their word, and what becomes of
// them.

type heldRequest struct {
	id     string
	holder messages.Role
	gen    mail.Generation
	frame  messages.FrameID
}

func (h heldRequest) pause(key string) mail.Pause {
	return mail.Pause{Key: key, Request: h.id, Holder: h.holder, HolderGen: h.gen}
}

// wordGrace is what the word of a request gets, which comes another way and mostly
// earlier.
const wordGrace = 500 * time.Millisecond

// MaxHeld bounds the requests without a word: a page can make as many as it likes,
// once it has seen what they look like.
const MaxHeld = 16

const timerHeld effect.TimerName = "held"

// requested is a request that waits.
func (q *byRequest) requested(r mail.RequestHeld) {
	h := heldRequest{r.Request, r.Role, r.Gen, r.Frame}
	switch {
	case !q.isOn:
		q.drop(h.pause(r.Key))
	case q.pause != nil && q.pause.Key == r.Key && q.pause.Request != r.Request && q.pause.Holder == r.Role && q.pause.HolderGen == r.Gen:
		q.drop(h.pause(r.Key)) // made up: a page waits once by each name
	case q.pause != nil && q.pause.Key == r.Key:
		// From a link that is gone.
		q.pause.Pause = h.pause(r.Key)
		way, told := q.wayOf(h), &q.pause.told
		told.Pause, told.Role, told.Gen, told.Session = q.pause.Pause, way.Role, way.Gen, way.Session
		q.tellAgain()
	case q.word != nil && q.word.Pause.Key == r.Key:
		q.waits(r.Key, h)
	default:
		if old, ok := q.takeHeld(r.Key); ok && old.id != r.Request { // from a link that is gone, or made up
			q.drop(old.pause(r.Key))
		}
		if len(q.held)+len(q.wordless) >= MaxHeld {
			q.drop(h.pause(r.Key))
			return
		}
		q.held[r.Key] = h
		q.do(effect.Arm{Timer: q.timer(r.Key), After: wordGrace})
	}
}

func (q *byRequest) takeHeld(key string) (heldRequest, bool) {
	h, ok := q.held[key]
	if ok {
		delete(q.held, key)
		q.do(effect.Disarm{Timer: q.timer(key)})
	}
	return h, ok
}

func (q *byRequest) dropHeld() {
	for _, key := range slices.Sorted(maps.Keys(q.held)) {
		q.drop(q.held[key].pause(key))
		q.do(effect.Disarm{Timer: q.timer(key)})
	}
	clear(q.held)
	q.dropWordless()
}

// dropWordless leaves the rest to the actor that remembers it.
func (q *byRequest) dropWordless() {
	for _, id := range slices.Sorted(maps.Keys(q.wordless)) {
		p := q.wordless[id].Pause
		q.drop(p)
		q.do(effect.ToDialog{Msg: mail.BridgedOver{Role: q.Role, Session: q.Session, Key: p.Key}})
	}
}

func (q *byRequest) timer(key string) effect.Timer {
	return effect.Timer{Name: timerHeld, Session: q.Session, Key: key}
}

// unspoken is a request whose word has not come: of a call from before this session,
// or made up. The link that holds it may have heard it.
func (q *byRequest) unspoken(key string) {
	h, ok := q.takeHeld(key)
	switch {
	case !ok:
	case h.holder != q.Role:
		q.do(effect.ToSupervisor{Msg: mail.RequestHeld{
			Role: h.holder, Gen: h.gen, Label: q.secret.Label(q.Target), Key: key, Frame: h.frame, Request: h.id, IsUnspoken: true,
		}})
	default:
		told := mail.DialogOpened{
			Role: q.Role, Gen: q.Gen, Session: q.Session, Page: q.Page, Frame: h.frame,
			Pause: h.pause(key),
		}
		q.wordless[h.id] = told
		q.do(effect.ToDialog{Msg: told})
	}
}

// tellWordless tells a new dialog actor of the requests that are left to it.
func (q *byRequest) tellWordless() {
	for _, id := range slices.Sorted(maps.Keys(q.wordless)) {
		q.do(effect.ToDialog{Msg: q.wordless[id]})
	}
}

// PauseOf is the pause of a call that waits in a request.
func PauseOf(r mail.RequestHeld) mail.Pause {
	return heldRequest{r.Request, r.Role, r.Gen, r.Frame}.pause(r.Key)
}
