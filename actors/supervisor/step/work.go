package step

import (
	"time"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/party"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Work is the state of a task with what the step under way does and tells.
type Work struct {
	model.Task
	Anchor   model.Anchor
	Parties  party.Set[Effect] // who is attached to the pages beside the primary
	IsLapsed bool              // the node may not decide for the task
	Now      time.Time         // of the step under way

	Turned  []messages.TargetID // pages whose state is another than was shown last
	Later   []Effect            // effects to run after Publish
	Answers []Answer            // for who is to read what is published before

	out    []Effect
	events []messages.Event
	held   []*messages.ConsoleError // published together
	// isFlushing says that a Flush has been asked for.
	isFlushing bool
}

// Do adds an effect.
func (w *Work) Do(e Effect) {
	if w.out == nil {
		w.out = make([]Effect, 0, 4) // one has seldom more to do, and seldom only one thing
	}
	w.out = append(w.out, e)
}

// DoAll adds effects.
func (w *Work) DoAll(effects []Effect) {
	for _, e := range effects {
		w.Do(e)
	}
}

// Effects takes what is to be done: a machine that idles holds nothing of it.
func (w *Work) Effects() []Effect {
	out := w.out
	w.out = nil
	return out
}

// ToDialog sends to the dialog actor.
func (w *Work) ToDialog(msg any) { w.Do(ToDialog{msg}) }

// ToFrame sends to the frame actor.
func (w *Work) ToFrame(msg any) { w.Do(ToFrame{msg}) }

// ToBrowser sends to the primary link.
func (w *Work) ToBrowser(msg any) { w.Do(ToBrowser{msg}) }

// ToSession sends to the actor of a session.
func (w *Work) ToSession(s messages.SessionID, msg any) { w.Do(ToSession{s, msg}) }

// ToAnchor sends to the second link, where there is one that is to stay.
func (w *Work) ToAnchor(msg any) {
	if w.Anchor.IsRunning {
		w.Do(ToAnchor{msg})
	}
}

// Arm sets a named timer anew.
func (w *Work) Arm(name string, after time.Duration) { w.Do(Arm{name, after}) }

// Reply answers the caller of an order.
func (w *Work) Reply(to mail.Call, value any) { w.Do(Answer{To: to, Value: value}) }

// Refuse answers the caller of an order that is not carried out.
func (w *Work) Refuse(to mail.Call, err error) { w.Do(Answer{To: to, Err: err}) }

// IsRefused answers an order that the node may not carry out.
func (w *Work) IsRefused(reply mail.Call) bool {
	if w.IsLapsed {
		w.Refuse(reply, mail.Lapsed())
	}
	return w.IsLapsed
}

// GiveAnswers comes behind what they follow from: who has an answer reads a
// snapshot that knows of it.
func (w *Work) GiveAnswers() {
	for _, a := range w.Answers {
		w.Do(a)
	}
	w.Answers = nil
}
