package bridge

import (
	"slices"

	"holdfast/actors/session/effect"
	"holdfast/messages/mail"
)

// takeBack gives the documents that are there their own functions, and those to
// come.
func (b *Machine) takeBack() {
	b.removeScript(b.script)
	b.script = ""
	b.turnOff(b.mechanism)
}

// LeftAlone says that the primary is gone, or back. Without it no link has what an anchor
// was refused.
func (b *Machine) LeftAlone(alone bool) {
	if b.isBesidePrimary = !alone; alone && b.isUnable {
		b.turnOff(b.mechanism)
	}
}

// KeepNative gives up what the primary was refused. It has turned the functions off,
// before this session may have turned them on.
func (b *Machine) KeepNative() {
	b.leave()
	if b.isUnable {
		b.isUnable = false
		b.turnOff(b.mechanism)
	}
}

func (b *Machine) removeScript(id string) {
	if id != "" {
		b.command(effect.TagNone, "Page.removeScriptToEvaluateOnNewDocument", effect.Params(struct {
			Identifier string `json:"identifier"`
		}{id}))
	}
}

func (b *Machine) turnOff(by mail.Mechanism) {
	if b.isUnable && b.isBesidePrimary {
		return // another has what this session was refused
	}
	b.turnOffBy(b.secret.word(by, b.epoch, false))
}

// turnOffBy has the documents that are there ask what was there before the functions that
// know the word.
func (b *Machine) turnOffBy(word string) {
	contexts := b.sortedContexts()
	if len(contexts) == 0 { // none was reported, and there may be some that the main frame's does not reach
		b.turnAllOff(TagTurned, word)
	}
	for _, context := range contexts {
		b.command(effect.TagNone, "Runtime.evaluate", turn(word, context))
	}
}

// turnAllOff is turnOffBy for a session that knows no documents: a script that the
// browser runs in each that is there. Until it is taken back it runs in those to come.
func (b *Machine) turnAllOff(tag effect.TagKind, word string) {
	b.command(tag, "Page.addScriptToEvaluateOnNewDocument", scriptNow(turning(word)))
}

// turnOffPast turns off what a link before has left on in the documents that are there.
// It stays: as long as the browser has not noticed the end of that link, documents to
// come have its functions as well.
func (b *Machine) turnOffPast() {
	for by := range b.past.All() {
		b.turnAllOff(effect.TagNone, b.secret.word(by, b.epoch, false))
	}
	b.past = 0
}

func (b *Machine) sortedContexts() []int64 {
	var list []int64
	for _, c := range b.contexts {
		list = append(list, c)
	}
	slices.Sort(list)
	return list
}

// GiveBack gives the pages their own functions before the task leaves them. What waits is
// theirs, or goes with us.
func (b *Machine) GiveBack() {
	if b.isOn {
		b.epoch++
		b.takeBack()
	}
}
