// Package bridge makes pages wait in functions of ours in place of native dialogs.
//
// The functions (bridge.js) replace alert, confirm and prompt. A page waits in one by one
// of two mechanisms: in the debugger (debugger.go, C47) or in a synchronous request
// (request.go, C37 to C44). [Machine] is one session's part and belongs to the machine of
// that session, on the primary or on the anchor; [Requests] is the browser's half of the
// second mechanism. docs/bridge.md says what it is for.
package bridge

import (
	"maps"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// Settings says whether a session's dialogs come over the bridge, and by what secret.
// The secret is there from the start: the bridge may be turned on later.
type Settings struct {
	IsOn   bool
	By     mail.Mechanism
	Past   mail.Mechanisms // whose functions documents may have, and are not to: a link before has left them on
	Epoch  uint64          // grows each time it is turned on or off
	Secret Secret
}

// Machine decides for the bridge of one session: alert, confirm and prompt are
// replaced by functions that make the page wait, by one of two mechanisms, until
// they are given their answer. It is part of the machine whose session it is, and
// gives its effects to do.
type Machine struct {
	effect.Identity
	secret Secret
	do     func(effect.Effect)

	mechanism mail.Mechanism
	past      mail.Mechanisms // to be turned off with the attach
	by        mechanism

	isOn            bool
	epoch           uint64
	isUnable        bool                       // the browser does not give it what by needs
	isBesidePrimary bool                       // the primary, which has the same functions
	contexts        map[messages.FrameID]int64 // the newest of each frame
	named           map[scriptAt]bool          // of our script's name, ours or not
	armed           uint32                     // how often
	through         uint32                     // the last of them that the page has had in full
	script          string                     // its identifier, to take it back
	pause           *pause                     // the page's last word
	box             box                        // of all frames here, by the element of the first
	asked           map[messages.TargetID]messages.SessionID
	policies        map[int64]box // by context
	answered        string        // the call that was answered last
	given           given         // that a call has, in the debugger
	others          string        // the token of another task's call that waits here
	dead            []deadSibling // tasks that have ended on this page, newest last
	isResumed       bool          // without an answer of ours; it asks again, or has gone on

	isIntercepted bool // an agent intercepts by this session, on or off and by whichever mechanism
}

// pause is a call that waits.
type pause struct {
	mail.Pause
	frame   messages.FrameID
	context int64
	policy  box
	isKnown bool // whether it may open a dialog
	told    mail.DialogOpened
}

// Events of the bridge.
type (
	// ScriptRuns says that our script runs in a context of a frame, or one that calls
	// itself so.
	ScriptRuns struct {
		Frame messages.FrameID
		scriptAt
	}
	// CallGarbled is a call of ours that does not say what it should.
	CallGarbled struct{}
	// CallPaused is a call of ours that waits.
	CallPaused struct {
		Pause                           mail.Pause
		Context                         int64
		Frame                           messages.FrameID // if told
		Way                             mail.Way         // by which it is answered, if not by this session
		Heard                           time.Time
		Kind, Message, Default, Address string
	}
)

// scriptAt is a script in an execution context.
type scriptAt struct {
	Context int64
	id      string
}

// resumedGrace is what a call that another client has resumed gets to ask again.
const resumedGrace = 150 * time.Millisecond

const timerBridge effect.TimerName = "bridge"

// Config is what the bridge of one session is born with.
type Config struct {
	effect.Identity
	Settings
	IsBesidePrimary bool // an anchor's, while the primary stands
}

// New makes the bridge of a page's session, or of one below.
func New(c Config, do func(effect.Effect)) *Machine {
	b := &Machine{
		Identity: c.Identity, isBesidePrimary: c.IsBesidePrimary, secret: c.Secret, isOn: c.IsOn, epoch: c.Epoch, past: c.Past, do: do,
	}
	b.use(c.By)
	if c.Target == c.Page {
		b.box = boxOpen
	}
	return b
}

func (b *Machine) setTimer(name effect.TimerName, after time.Duration) {
	b.do(effect.Arm{Timer: effect.Timer{Name: name, Session: b.Session}, After: after})
}

func (b *Machine) dropTimer(name effect.TimerName) {
	b.do(effect.Disarm{Timer: effect.Timer{Name: name, Session: b.Session}})
}

// TimerFired takes a timer of the bridge.
func (b *Machine) TimerFired(t effect.Timer) {
	q := b.requests()
	switch {
	case t.Name == timerBridge:
		b.timedOut()
	case t.Name == timerBox:
		b.boxTimedOut()
	case t.Name == timerAgain && q != nil:
		q.lookAgain()
	case t.Name == timerHeld && q != nil:
		q.unspoken(t.Key)
	}
}

func (b *Machine) command(kind effect.TagKind, method string, params []byte) {
	b.do(effect.Command{Session: b.Session, Tag: effect.Tag{Kind: kind, Session: b.Session, Seq: b.armed}, Method: method, Params: params})
}

// Attach is the bridge's part of an attach, whose last command lets the page run.
func (b *Machine) Attach() {
	b.turnOffPast()
	if !b.isOn {
		return
	}
	b.armed++
	b.by.arm()
}

// AttachAnew is attach to the renderer that takes a crashed one's place, and has the
// script.
func (b *Machine) AttachAnew() {
	if b.isOn {
		b.by.revived()
	}
	b.Attach()
}

// add adds the script of the mechanism to every document.
func (b *Machine) add(params []byte) {
	if b.script != "" {
		return // it outlives a renderer
	}
	b.do(effect.Command{
		Session: b.Session, Tag: effect.Tag{Kind: TagScript, Session: b.Session, Seq: b.armed, Round: uint32(b.mechanism)},
		Method: "Page.addScriptToEvaluateOnNewDocument", Params: params,
	})
}

// Set turns the bridge on or off, or changes its mechanism.
func (b *Machine) Set(s mail.SetBridge) {
	b.epoch = max(b.epoch, s.Epoch)
	switch {
	case s.IsOn && (!b.isOn || s.By != b.mechanism):
		b.leave()
		b.use(s.By)
		b.isOn, b.isUnable = true, false
		b.Attach()
	case !s.IsOn && b.isOn:
		b.leave()
	}
}

// leave gives the pages back what they had: who calls confirm when we are gone
// asks Chrome.
func (b *Machine) leave() {
	if !b.isOn {
		return
	}
	b.isOn = false
	b.takeBack()
	b.by.disarm()
	b.over(false)
	b.forgetDocuments()
}

// forgetDocuments is for a session that is not told of any to come.
func (b *Machine) forgetDocuments() {
	clear(b.contexts)
	clear(b.named)
}

// maxBridged bounds the frames of one session that are told apart.
const maxBridged = 4096

// ScriptRuns takes a document that runs our script.
func (b *Machine) ScriptRuns(s ScriptRuns) {
	if _, known := b.contexts[s.Frame]; !known && len(b.contexts) >= maxBridged {
		return
	}
	// Another process counts from 1 again: what had this number is gone.
	maps.DeleteFunc(b.contexts, func(f messages.FrameID, c int64) bool { return c == s.Context && f != s.Frame })
	delete(b.policies, s.Context)
	smallmap.Put(&b.contexts, s.Frame, s.Context)
	if len(b.named) >= maxBridged {
		clear(b.named)
	}
	smallmap.Put(&b.named, s.scriptAt, true)
	b.begins(s.Context)
	if b.pause != nil && b.pause.frame == s.Frame && b.pause.context != s.Context {
		b.frameGone(s.Frame) // another document
	}
}

func (b *Machine) frameOf(context int64) messages.FrameID {
	for f, c := range b.contexts {
		if c == context {
			return f
		}
	}
	return messages.FrameID(b.Target)
}

// Paused takes a call that waits in the debugger.
func (b *Machine) Paused(p CallPaused) {
	if b.isResumed {
		b.isResumed = false
		b.dropTimer(timerBridge)
	}
	b.others = ""
	last := b.pause
	again := last != nil && last.Key == p.Pause.Key && last.isKnown
	if last == nil || last.Key != p.Pause.Key {
		b.over(false) // by whatever answer, the page has continued
	}
	frame := p.Frame
	if frame == "" {
		frame = b.frameOf(p.Context)
	}
	way := p.Way
	if way == (mail.Way{}) {
		way = mail.Way{Role: b.Role, Gen: b.Gen, Session: b.Session}
	}
	b.pause = &pause{Pause: p.Pause, frame: frame, context: p.Context, told: mail.DialogOpened{
		Role: way.Role, Gen: way.Gen, Session: way.Session, Page: b.Page, Frame: frame,
		Type: messages.DialogType(p.Kind), Message: p.Message, Default: p.Default, URL: p.Address, Pause: p.Pause, Heard: p.Heard,
	}}
	if again {
		// One that was given back to Chrome is once more: the other link's resume, which
		// came behind ours, has let it go.
		b.pause.policy = last.policy
		if b.maybeTell(); !b.pause.isKnown {
			b.tell()
		}
		return
	}
	b.askPolicy(b.pause)
	if b.maybeTell(); !b.pause.isKnown {
		b.setTimer(timerBox, boxBudget)
	}
}

// goesOn is the end of a pause, by our resume or another client's. If the answer was
// already delivered, it does not matter which client resumes the page.
func (b *Machine) goesOn() {
	if b.given.isSet && !b.given.isInVain {
		b.settled(b.given.id, nil)
		return
	}
	if b.pause != nil {
		b.isResumed = true
		b.setTimer(timerBridge, resumedGrace)
	}
}

func (b *Machine) timedOut() {
	if b.isResumed {
		b.over(false)
	}
}

// over says that the last call needs no answer any more, and whether that is since its
// document has gone.
func (b *Machine) over(gone bool) {
	if p := b.pause; p != nil {
		b.dropTimer(timerBridge)
		b.pause, b.isResumed = nil, false
		b.dropTimer(timerBox)
		b.do(effect.ToDialog{Msg: mail.BridgedOver{Role: b.Role, Session: b.Session, Key: p.Key, IsGone: gone}})
	}
}

// frameGone is the end of a frame's document. The process may still stop where it was
// called, without a call to answer.
func (b *Machine) frameGone(f messages.FrameID) {
	if b.pause != nil && b.pause.frame == f {
		gone := b.pause.Pause
		b.given.isInVain = b.given.isSet
		b.over(!b.isResumed)
		b.by.drop(gone)
	}
}

// FrameDetached forgets a frame.
func (b *Machine) FrameDetached(f messages.FrameID) {
	b.frameGone(f)
	delete(b.contexts, f)
}

// Navigated is a frame's new document; one of the session's root takes all
// others along.
func (b *Machine) Navigated(f messages.FrameID, root bool) {
	if root {
		clear(b.named) // another process counts its scripts from 1 again
	}
	if root && b.pause != nil {
		f = b.pause.frame
	}
	b.frameGone(f)
	b.by.navigated(root)
}

// Handle answers a call, or releases one that no dialog is known of.
func (b *Machine) Handle(o mail.HandleDialog) {
	if o.Dialog == "" {
		b.by.drop(o.Pause) // no actor knows of it
		return
	}
	b.answered = o.Pause.Key
	b.by.give(o.Pause, o.Dialog, AnswerOf(o))
}

// Replied takes the outcome of a command of the bridge.
func (b *Machine) Replied(r effect.Replied) {
	switch r.Tag.Kind {
	case TagScript:
		script := decodeIdentifier(r.Result)
		switch {
		case r.Tag.Seq != b.armed || !b.isOn:
			// It was given up before it was known to be in place.
			b.removeScript(script)
			if by := mail.Mechanism(r.Tag.Round); !b.isOn || by != b.mechanism { // else it is that which is on now
				b.turnOff(by)
			}
		case isRefusal(r.Err):
			b.refused(r.Err)
		case r.Err == nil:
			b.script = script
			b.by.added()
		}
	case TagOn:
		b.through = r.Tag.Seq                         // said after all that a request needs, and answered by the page
		if r.Tag.Seq == b.armed && isRefusal(r.Err) { // of this mechanism, and not of the one before
			b.refused(r.Err)
		} else if q := b.requests(); q != nil && r.Tag.Seq == b.armed {
			q.passAnswered()
		}
	case TagTurned:
		b.removeScript(decodeIdentifier(r.Result))
	case TagOff:
		if !b.isOn {
			b.stands(false)
		}
	case TagOwner:
		b.ownerKnown(r)
	case TagElement:
		b.elementDescribed(r)
	case TagPolicy:
		b.policyKnown(r)
	default:
		b.by.replied(r)
	}
}

// isRefusal says whether err is the browser's no to what the mechanism needs.
func isRefusal(err error) bool {
	r := quirks.Classify(err)
	return r != quirks.None && !r.IsPassing()
}

// settled is the end of an answer: the call has it, or err says why not.
func (b *Machine) settled(id messages.DialogID, err error) {
	if err == nil && b.pause != nil && b.pause.Key == b.answered {
		b.pause, b.isResumed = nil, false
		b.dropTimer(timerBridge)
	}
	b.given = given{}
	b.handled(id, err)
}

func (b *Machine) stands(on bool) {
	b.do(effect.ToSupervisor{Msg: mail.BridgeStands{Role: b.Role, Gen: b.Gen, Session: b.Session, IsOn: on}})
}

// refused is for a browser that does not give this session what the mechanism
// needs: our functions would answer by themselves, but for those that the primary's
// session answers for an anchor beside it.
func (b *Machine) refused(err error) {
	if b.isUnable {
		return
	}
	b.isUnable, b.isOn = true, false
	b.takeBack()
	b.forgetDocuments()
	if b.Role == messages.RoleAnchor {
		return // what a page has is the primary's to say
	}
	b.do(effect.ToSupervisor{Msg: mail.BridgeRefused{Gen: b.Gen, Session: b.Session, By: b.mechanism, Err: err}})
}

// Rearm is for what an agent has done to what it shares with the bridge.
func (b *Machine) Rearm(method string) {
	switch method {
	case "Fetch.enable":
		b.isIntercepted = true
	case "Fetch.disable":
		b.isIntercepted = false
	}
	if b.isOn {
		b.by.rearm()
	}
}

func (b *Machine) handled(id messages.DialogID, err error) {
	if id == "" {
		return // given back to Chrome
	}
	b.do(effect.ToDialog{Msg: mail.DialogHandled{Dialog: id, Session: b.Session, Err: effect.DialogError(err)}})
}

// tellAgain tells a new dialog actor what waits.
func (b *Machine) tellAgain() {
	if b.pause != nil && b.pause.isKnown {
		b.do(effect.ToDialog{Msg: b.pause.told})
	}
}
