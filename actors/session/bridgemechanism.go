package session

import (
	"strings"

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

// heldTooLong is for a timer of a request without a word.
func (b *bridge) heldTooLong(timer string) bool {
	key, ok := strings.CutPrefix(timer, timerHeld+string(b.session)+":")
	if q := b.requests(); ok && q != nil {
		q.unspoken(key)
	}
	return ok
}

// tellAll tells a new dialog actor what waits, and what it may know of.
func (b *bridge) tellAll() {
	b.tellAgain()
	if q := b.requests(); q != nil {
		q.tellWordless()
	}
}

func (b *bridge) lookAgain() {
	if q := b.requests(); q != nil {
		q.lookAgain()
	}
}
