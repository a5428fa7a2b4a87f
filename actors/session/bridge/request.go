package bridge

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"holdfast/actors/session/clip"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// byRequest is the mechanism for a browser that refuses its debugger (C37 to C44): our
// functions make a synchronous request to an address that does not exist, and the answer is
// its response. Two reports make up a call, in either order, under the same name:
//
//	Runtime.bindingCalled   of this session: what is asked, and our secret
//	Fetch.requestPaused     of the browser's session: that the page waits, and in which frame
//
// So no text is ever in a request, wherever it may arrive if we do not take it (C43), and a
// request by itself, which a page can make as well, means nothing. A document asks before
// its first script whether it is heard; one that is not keeps its native dialogs, and says
// so.
//
// A request is reported to one link at a time, to the next once the first is gone (M11),
// while its message comes to every session that is there. A link that came later has the
// request alone: the actor that remembers the dialog knows what it is of.
type byRequest struct {
	*Machine
	word      *CallPaused                  // the newest that no request has come for
	held      map[string]heldRequest       // for which no word has
	wordless  map[string]mail.DialogOpened // by request: for which none came, left to the actor that remembers
	documents map[int64]bool               // by context, whether they are heard
	tries     int                          // to have those that are not ask again
	isFresh   bool                         // armed, and no document of the root has come since
	passing   int                          // pairs that a document is made to be heard by, see passAgain
}

//go:embed request.js
var waitsForRequest string

// Events of the mechanism.
type (
	// DocumentSaid is what a document says of itself: that it is heard, or not.
	DocumentSaid struct {
		Context int64
		IsHeard bool
		Key     string // of the call that got no answer, if it is not heard because of that
	}
	// CallSaid is the message of a call, or without a kind the question whether any session
	// hears.
	CallSaid struct{ call CallPaused }
)

func newByRequest(b *Machine) *byRequest {
	return &byRequest{Machine: b, held: map[string]heldRequest{}, wordless: map[string]mail.DialogOpened{}, documents: map[int64]bool{}}
}

// derive makes a name for one purpose, from which the secret cannot be told. Some of
// them are seen by pages, after the fact.
func (s Secret) derive(purpose string) string {
	sum := sha256.Sum256([]byte(s.reveal() + " " + purpose))
	return hex.EncodeToString(sum[:12])
}

// Binding names the function by which our script tells of a call.
func (s Secret) Binding() string { return "_" + s.derive("binding") }

// Asks names the function by which the script of blockers tells what a page asks for; "" where the
// task has no secret.
func (s Secret) Asks() string {
	if s.digits == nil {
		return ""
	}
	return "_" + s.derive("asks")
}

// Host is that of the requests; where a document may not ask it, they go to its own,
// below path.
func (s Secret) Host() string { return s.derive("host") + ".invalid" }

// Path begins the path of a request to the document's own host.
func (s Secret) Path() string { return s.derive("path") }

// Proof begins a response of ours; no server knows it.
func (s Secret) Proof() string { return s.derive("proof") }

// Label tells for whose session a request is; it is the same on each link.
func (s Secret) Label(t messages.TargetID) string { return s.derive("label " + string(t)) }

type requestPattern struct {
	URL  string `json:"urlPattern"`
	Type string `json:"resourceType,omitempty"`
}

type fetchPatterns struct {
	Patterns []requestPattern `json:"patterns"`
}

func (q *byRequest) arm() {
	q.passFirst()
	q.set()
}

func (q *byRequest) set() {
	if q.Role == messages.RoleAnchor {
		// Without it a binding is forgotten when the page moves to another process. The
		// primary's session has it in any case.
		q.command(effect.TagNone, "Runtime.enable", nil)
	}
	q.watch(0)
	q.command(TagOn, "Runtime.addBinding", q.bindingParams())
	q.add(q.secret.script(q.epoch, mail.ByRequest, waitsForRequest,
		"BINDING", q.secret.Binding(), "PROOF", q.secret.Proof(), "HOST", q.secret.Host(), "PATH", q.secret.Path(), "LABEL", q.secret.Label(q.Target)))
}

func (q *byRequest) bindingParams() []byte {
	return effect.Params(struct {
		Name string `json:"name"`
	}{q.secret.Binding()})
}

// rearm is nothing to it: it needs the session's Fetch no more.
func (q *byRequest) rearm() {}

// revived is nothing to it: what it has set is the session's.
func (q *byRequest) revived() {}

func (q *byRequest) added() {}

func (q *byRequest) disarm() {
	if q.pause != nil {
		q.drop(q.pause.Pause)
	}
	q.dropHeld()
	clear(q.documents)
	q.dropTimer(timerAgain)
	q.command(TagOff, "Runtime.removeBinding", q.bindingParams())
}

func (q *byRequest) give(p mail.Pause, id messages.DialogID, answer []byte) {
	q.end(mail.EndRequest{Role: p.Holder, Gen: p.HolderGen, Request: p.Request, Answer: answer, Dialog: id, Session: q.Session})
}

// drop fails a request, which its page takes for a dismissal.
func (q *byRequest) drop(p mail.Pause) {
	delete(q.wordless, p.Request)
	q.end(mail.EndRequest{Role: p.Holder, Gen: p.HolderGen, Request: p.Request})
}

// end is done by the link that holds the request.
func (q *byRequest) end(e mail.EndRequest) {
	if e.Role != q.Role {
		q.do(effect.ToSupervisor{Msg: e})
		return
	}
	q.do(EndRequest(q.secret, e))
}

// leaving answers a call whose document is to go: it would not, before that (C44).
func (q *byRequest) leaving() {
	if q.pause != nil {
		gone := q.pause.Pause
		q.over(false)
		q.drop(gone)
	}
	q.dropWordless()
}

func (q *byRequest) navigated(root bool) {
	if !root {
		return
	}
	q.passNavigated()
	clear(q.documents)
	q.watch(0)
	clear(q.policies) // another process counts its contexts from 1 again
	q.word = nil
	q.dropHeld()
}

// asked is the word of a call.
func (q *byRequest) asked(p CallPaused) {
	q.word = &p
	if h, ok := q.takeHeld(p.Pause.Key); ok {
		q.waits(p.Pause.Key, h)
	}
}

// waits is a call of which everything is known.
func (q *byRequest) waits(key string, h heldRequest) {
	p := *q.word
	q.word = nil
	if p.Kind == "" { // a question whether it is heard
		q.give(h.pause(key), "", []byte{})
		return
	}
	q.leaving() // it has gone on from the one before
	p.Pause, p.Frame, p.Way = h.pause(key), h.frame, q.wayOf(h)
	q.Paused(p)
}

// wayOf is the link that holds the request: with it the dialog is lost, or passes to
// the other.
func (q *byRequest) wayOf(h heldRequest) mail.Way {
	if h.holder == q.Role {
		return mail.Way{Role: q.Role, Gen: q.Gen, Session: q.Session}
	}
	return mail.Way{Role: h.holder, Gen: h.gen}
}

// isProbe says that a request is the question of a document whether it is heard.
func (q *byRequest) isProbe(key string) bool {
	return q.word != nil && q.word.Pause.Key == key && q.word.Kind == ""
}

// says is a document's own account.
func (q *byRequest) says(w DocumentSaid) {
	if !q.isOn {
		return
	}
	if w.Key != "" {
		q.wentOn(w)
		return
	}
	was := q.documents[w.Context]
	if len(q.documents) >= maxBridged {
		clear(q.documents)
	}
	q.documents[w.Context] = w.IsHeard
	if !w.IsHeard {
		q.word = nil
		if q.pause != nil && q.pause.context == w.Context {
			q.leaving() // it has gone on
		}
		if was {
			q.turn(false, w.Context)
		}
	}
	unable := false
	for _, heard := range q.documents {
		unable = unable || !heard
	}
	q.do(effect.ToSupervisor{Msg: mail.BridgeStands{Role: q.Role, Gen: q.Gen, Session: q.Session, IsOn: !unable, IsUnable: unable}})
}

// wentOn is a document whose call got no answer. Mostly another session, the other link, or
// the supervisor for want of both has failed it; else another client took its request.
// Which it is the document finds out: it asks whether it is heard.
func (q *byRequest) wentOn(w DocumentSaid) {
	if q.word != nil && q.word.Pause.Key == w.Key {
		q.word = nil
	}
	if q.pause != nil && q.pause.Key == w.Key {
		q.over(false)
	}
	if !q.isBesidePrimary {
		q.turn(true, w.Context)
	}
}

func (q *byRequest) turn(on bool, context int64) {
	q.command(effect.TagNone, "Runtime.evaluate", turn(q.secret.word(mail.ByRequest, q.epoch, on), context))
}

// askAgain is after what time documents are looked at that are not heard, or of which
// nothing is: the first of a popup is not as long as it is held, and the next may have
// its window, where scripts for new documents run but once.
var askAgain = [...]time.Duration{500 * time.Millisecond, 2 * time.Second}

const timerAgain effect.TimerName = "again"

// watch begins to, or continues. What a page can do is reported by the primary's session.
func (q *byRequest) watch(tries int) {
	if q.tries = tries; q.Role == messages.RolePrimary && tries < len(askAgain) {
		q.setTimer(timerAgain, askAgain[tries])
	}
}

func (q *byRequest) lookAgain() {
	if !q.isOn {
		return
	}
	asked := false
	for _, context := range slices.Sorted(maps.Keys(q.documents)) {
		if !q.documents[context] {
			asked = true
			q.turn(true, context)
		}
	}
	if len(q.documents) == 0 {
		asked = true
		q.turn(true, 0)
	}
	if asked {
		q.watch(q.tries + 1)
	}
}

func (q *byRequest) replied(r effect.Replied) {
	switch r.Tag.Kind {
	case TagPass:
		q.passed(r.Tag.Seq)
	case TagRequest:
		q.settled(r.Tag.ID, NotWaiting(r.Err))
		gone := messages.CodeOf(r.Err) == messages.CodeCDPError
		if gone && q.pause != nil && q.pause.Key == q.answered { // and not of the call after it
			q.over(false)
		}
		if gone || r.Err == nil {
			maps.DeleteFunc(q.wordless, func(_ string, told mail.DialogOpened) bool { return told.Pause.Key == q.answered })
		}
	}
}

// DecodeBinding reads Runtime.bindingCalled; agents may have bindings as well.
func (s Secret) DecodeBinding(now time.Time, params []byte) any {
	var e struct {
		Name    string `json:"name"`
		Payload string `json:"payload"`
		Context int64  `json:"executionContextId"`
	}
	if s.digits == nil || json.Unmarshal(params, &e) != nil || e.Name != s.Binding() {
		return nil
	}
	switch rest, ok := strings.CutPrefix(e.Payload, s.token()); {
	case !ok:
		return nil
	case rest == "+":
		return DocumentSaid{Context: e.Context, IsHeard: true}
	case strings.HasPrefix(rest, "-"):
		return DocumentSaid{Context: e.Context, Key: clip.Text(rest[1:], 64)}
	case strings.HasPrefix(rest, "?"):
		return CallSaid{CallPaused{Pause: mail.Pause{Key: clip.Text(rest[1:], 64)}, Context: e.Context}}
	}
	p, ok := s.parseCall(e.Payload)
	if !ok {
		return nil
	}
	p.Context, p.Heard = e.Context, now
	return CallSaid{p}
}
