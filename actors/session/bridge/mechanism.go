package bridge

import (
	"holdfast/actors/session/effect"
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
	// added says that its script is in place.
	added()
	// disarm takes from the session what arm has set.
	disarm()
	// give gives a call its answer. Its outcome is settled, or handled.
	give(p mail.Pause, id messages.DialogID, answer []byte)
	// leaving says that the session's document is about to go.
	leaving()
	// drop resumes a call that is not to be answered.
	drop(p mail.Pause)
	// navigated says that a frame has another document, maybe the session's root.
	navigated(root bool)
	replied(effect.Replied)
}

func (b *Machine) use(by mail.Mechanism) {
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
func (b *Machine) requests() *byRequest {
	q, _ := b.by.(*byRequest)
	return q
}

// RequestWord is what a document says by the session of its page or frame.
func (b *Machine) RequestWord(event any) {
	q := b.requests()
	if q == nil {
		return
	}
	switch e := event.(type) {
	case CallSaid:
		q.asked(e.call)
	case DocumentSaid:
		q.says(e)
	}
}

// TellAll tells a new dialog actor what waits, and what it may know of.
func (b *Machine) TellAll() {
	b.tellAgain()
	if q := b.requests(); q != nil {
		q.tellWordless()
	}
}

// RequestHeld takes a request of the session's, or ends it.
func (b *Machine) RequestHeld(r mail.RequestHeld) {
	if q := b.requests(); q != nil {
		q.requested(r)
	} else {
		b.do(effect.ToSupervisor{Msg: mail.EndRequest{Role: r.Role, Gen: r.Gen, Request: r.Request}})
	}
}

// IsProbe says that a request is the question of a document whether it is heard.
func (b *Machine) IsProbe(key string) bool {
	q := b.requests()
	return q != nil && q.isProbe(key)
}

// Label tells for whose session a request is; "" without the mechanism by requests.
func (b *Machine) Label() string {
	if q := b.requests(); q != nil {
		return q.secret.Label(q.Target)
	}
	return ""
}

// PassesOn says whether the requests of the session's documents come to the anchor when
// the primary is gone: those that are there are heard only once it has been armed.
func (b *Machine) PassesOn() bool {
	if !b.isOn || b.requests() == nil {
		return true
	}
	return b.through == b.armed && b.requests().passing == 0
}

// Leaving says that the session's document is about to go.
func (b *Machine) Leaving() { b.by.leaving() }

// Crashed says that the renderer is gone.
func (b *Machine) Crashed() { b.over(!b.isResumed) }
