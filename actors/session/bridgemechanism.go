package session

import (
	"holdfast/messages"
	"holdfast/messages/mail"
)

// mechanism is a way to make a page wait for the answer to a bridged dialog.
type mechanism interface {
	// arm sets it up in a session whose page is about to run; rearm does so once an
	// agent may have changed what it needs.
	arm()
	rearm()
	// revived says that another renderer has taken a crashed one's place.
	revived()
	// inherit is arm in place of a failed actor's, in whose mailbox calls and their ends
	// may have been.
	inherit()
	// added says that its script is in place.
	added()
	// disarm takes from the session what arm has set.
	disarm()
	// give gives a call its answer. Its outcome is settled, or handled.
	give(p mail.Pause, id messages.DialogID, answer []byte)
	// leaving says that the session's document is about to go.
	leaving()
	// drop lets go a call that nobody is to answer.
	drop(p mail.Pause)
	// navigated says that a frame has another document, maybe the session's root.
	navigated(root bool)
	replied(Replied)
}

func (b *bridge) use(by mail.Mechanism) {
	if b.by != nil && by == b.mechanism {
		return
	}
	if b.mechanism = by; by == mail.ByRequest {
		b.by = newByRequest(b)
	} else {
		b.by = byDebugger{b}
	}
}

// requests is the session's half of the mechanism, while it is in use.
func (b *bridge) requests() *byRequest {
	q, _ := b.by.(*byRequest)
	return q
}

// requestWord is what a document says by the session of its page or frame.
func (b *bridge) requestWord(event any) {
	q := b.requests()
	if q == nil {
		return
	}
	switch e := event.(type) {
	case bridgeAsked:
		q.asked(e.call)
	case bridgeWord:
		q.says(e)
	}
}

// tellAll tells a new dialog actor what waits, and what it may know of.
func (b *bridge) tellAll() {
	b.tellAgain()
	if q := b.requests(); q != nil {
		q.tellWordless()
	}
}

// requestHeld takes a request of the session's, or ends it.
func (b *bridge) requestHeld(r mail.RequestHeld) {
	if q := b.requests(); q != nil {
		q.requested(r)
	} else {
		b.do(ToSupervisor{mail.EndRequest{Role: r.Role, Gen: r.Gen, Request: r.Request}})
	}
}

// wonders says that a request is the question of a document whether it is heard.
func (b *bridge) wonders(key string) bool {
	q := b.requests()
	return q != nil && q.wonders(key)
}

// label tells for whose session a request is; "" without the mechanism by requests.
func (b *bridge) label() string {
	if q := b.requests(); q != nil {
		return q.secret.Label(q.Target)
	}
	return ""
}

// passesOn says whether the requests of the session's documents come to the anchor when
// the primary is gone: those that are there are heard only once it has been armed.
func (b *bridge) passesOn() bool {
	if !b.on || b.requests() == nil {
		return true
	}
	return b.through == b.armed && b.requests().passing == 0
}

// leaving says that the session's document is about to go.
func (b *bridge) leaving() { b.by.leaving() }

// crashed says that the renderer is gone.
func (b *bridge) crashed() { b.over(!b.resumed) }
