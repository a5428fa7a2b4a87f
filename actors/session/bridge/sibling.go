package bridge

import (
	"slices"
	"strings"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// SiblingLeft says that another task of the node cannot answer what its bridge asks on
// pages: it has no link left, or has ended without giving them back. The debugger of any
// other client still holds such a call (C47), and its functions stand in front of those of
// earlier tasks.
type SiblingLeft struct {
	Secret Secret
	By     mail.Mechanism
	// Epoch is one that the task has not come to.
	Epoch    uint64
	Pages    []messages.TargetID
	HasEnded bool
}

// Pause is a pause that is none of our calls, or the end of any. Of another
// task's call the token is known.
type Pause struct {
	isOn  bool
	token string
	at    scriptAt // of a debugger statement
}

// tokenIn is where the token of a call would be; "" where there is none. The text may come
// from any page, of any length, and is not kept.
func tokenIn(text string) string {
	const digits = 16
	if len(text) < digits {
		return ""
	}
	for _, c := range []byte(text[:digits]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return strings.Clone(text[:digits])
}

// TakeForeignPause takes a pause that is none of our calls, or the end of any. It returns whether
// the page waits in the debugger of another client.
func (b *Machine) TakeForeignPause(p Pause) bool {
	if b.isForged(p) {
		b.Unread()
		return false
	}
	b.others = p.token
	if !p.isOn {
		b.goesOn()
		return false
	}
	if slices.ContainsFunc(b.dead, func(d deadSibling) bool { return d.Secret.token() == p.token }) {
		b.letOthersGo()
	}
	return true
}

// isForged says that a page stops at a debugger statement of its own. It finds our script's
// name in any stack trace, and what it gives that name to is not passed over.
func (b *Machine) isForged(p Pause) bool { return p.isOn && b.named[p.at] }

// SiblingLeft resumes the call of such a task, as the end of the last debugger would. It
// turns off the task's functions if the task has ended.
func (b *Machine) SiblingLeft(l SiblingLeft) {
	if b.others != "" && b.others == l.Secret.token() {
		b.letOthersGo()
	}
	if l.HasEnded && !slices.ContainsFunc(b.dead, l.isSame) { // it may be told of twice
		b.turnOffBy(l.OffWord())
		// It asks again where the browser has not noticed that link's end, or another
		// client debugs.
		if b.dead = append(b.dead, deadSibling{l, documentsUnderWay}); len(b.dead) > maxDead {
			b.dead = b.dead[1:]
		}
	}
}

// deadSibling is a task that has ended. Documents that were loading then have its
// functions, and are reported later.
type deadSibling struct {
	SiblingLeft
	documents int // that may be among them
}

// OffWord is the word by which that task's functions are turned off.
func (l SiblingLeft) OffWord() string { return l.Secret.word(l.By, l.Epoch, false) }

// isSame says that d is of the same task's functions.
func (l SiblingLeft) isSame(d deadSibling) bool { return l.Secret == d.Secret && l.By == d.By }

const (
	// maxDead bounds the ended tasks of one page that a session knows.
	maxDead = 16
	// documentsUnderWay are those of a page and of some frames.
	documentsUnderWay = 8
)

// begins is a document that is new to this session.
func (b *Machine) begins(context int64) {
	for i := range b.dead {
		if d := &b.dead[i]; d.documents > 0 {
			d.documents--
			b.command(effect.TagNone, "Runtime.evaluate", turn(d.OffWord(), context))
		}
	}
}

func (b *Machine) letOthersGo() {
	b.others = ""
	b.command(effect.TagNone, "Debugger.resume", nil)
}
