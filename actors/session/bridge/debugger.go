package bridge

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"holdfast/actors/session/clip"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// byDebugger is the mechanism of choice (C47): our functions stop at a debugger
// statement, and the answer is set in the frame of the call.
//
//	Debugger.scriptParsed  our script, in a new document   → whose context is whose
//	Debugger.paused        in a function of ours           → a call
//	answer                 Debugger.evaluateOnCallFrame, awaited, then resume
//
// A pause is told to every session with a debugger, also to one that comes later,
// and holds until the last of them is gone. So what the primary link leaves
// behind the anchor still has.
type byDebugger struct{ *Machine }

//go:embed debugger.js
var waitsInDebugger string

func (d byDebugger) arm() {
	if d.Role == messages.RoleAnchor {
		d.command(effect.TagNone, "Inspector.enable", nil) // to hear of a crash, see revived
	}
	// First, lest a debugger statement of the page's own gets in between.
	d.command(effect.TagNone, "Debugger.setBlackboxPatterns", d.secret.patterns())
	d.command(TagOn, "Debugger.enable", nil)
	d.add(d.secret.script(d.epoch, mail.ByDebugger, waitsInDebugger))
}

// rearm is for what an agent has done to the debugger of its own session. One that is on
// keeps what it was told to pass over, and without breakpoints a debugger statement is
// nothing.
func (d byDebugger) rearm() {
	d.command(effect.TagNone, "Debugger.setBlackboxPatterns", d.secret.patterns())
	d.command(effect.TagNone, "Debugger.setBlackboxExecutionContexts", []byte(`{"uniqueIds":[]}`))
	d.command(effect.TagNone, "Debugger.enable", nil)
	d.command(effect.TagNone, "Debugger.setSkipAllPauses", []byte(`{"skip":false}`))
	d.command(effect.TagNone, "Debugger.setBreakpointsActive", []byte(`{"active":true}`))
}

// revived is for a debugger that is on and stops nowhere.
func (d byDebugger) revived() { d.command(effect.TagNone, "Debugger.disable", nil) }

func (d byDebugger) disarm() { d.command(TagOff, "Debugger.disable", nil) }

func (d byDebugger) added() { d.stands(true) }

// given is an answer that a call has, until it is known what became of it.
type given struct {
	id messages.DialogID
	// isSet says that there is one: the call continues with it as soon as it is resumed.
	isSet bool
	// isInVain says that the call's document has gone before that.
	isInVain bool
}

func (d byDebugger) give(p mail.Pause, id messages.DialogID, answer []byte) {
	d.do(effect.Command{
		Session: d.Session, Tag: effect.Tag{Kind: TagAnswer, Session: d.Session, ID: id}, Timeout: effect.AnswerBudget,
		Method: "Debugger.evaluateOnCallFrame", Params: answerWith(p, answer),
	})
}

// leaving is nothing to it: a document goes while it waits.
func (d byDebugger) leaving() {}

// drop lets the process go on that may still stop where it was called.
func (d byDebugger) drop(mail.Pause) { d.command(effect.TagNone, "Debugger.resume", nil) }

// navigated is nothing to it: our script tells of each document.
func (d byDebugger) navigated(bool) {}

func (d byDebugger) replied(r effect.Replied) {
	switch r.Tag.Kind {
	case TagAnswer:
		switch taken, err := decodeTaken(r.Result); {
		case r.Err != nil:
			d.handled(r.Tag.ID, NotWaiting(r.Err))
		case err != nil || !taken:
			d.handled(r.Tag.ID, quirks.NoDialogError())
		default:
			d.given = given{id: r.Tag.ID, isSet: true, isInVain: d.pause == nil}
			// Only now: a resume overtakes an answer that is not awaited (C47).
			d.do(effect.Command{
				Session: d.Session, Tag: effect.Tag{Kind: TagResume, Session: d.Session, ID: r.Tag.ID}, Timeout: effect.AnswerBudget,
				Method: "Debugger.resume",
			})
			if !d.given.isInVain && r.Tag.ID != "" {
				d.do(effect.ToDialog{Msg: mail.AnswerTaken{Dialog: r.Tag.ID, Session: d.Session}}) // this session may not live to tell more
			}
		}
	case TagResume:
		if d.given.isSet && d.given.id == r.Tag.ID {
			d.settled(r.Tag.ID, d.hadIt(r.Err))
		}
	}
}

// hadIt turns the outcome of the resume behind an answer into that of the answer. If the
// call's document has gone, which the debugger does not report (C47), there is no call to
// resume, or a process that stands still under no document. If another client had resumed
// the call, that would have been reported before our resume failed.
func (d byDebugger) hadIt(err error) error {
	if d.given.isInVain {
		return quirks.NoDialogError()
	}
	return NotWaiting(err)
}

// patterns make the debugger deaf to everything but our script: a page's own
// debugger statements stay silent.
func (s Secret) patterns() []byte {
	return effect.Params(struct {
		Patterns      []string `json:"patterns"`
		SkipAnonymous bool     `json:"skipAnonymous"`
	}{[]string{"^(?!" + s.name() + "$)"}, true})
}

// answerWith sets the answer of one call and of no other: the same frame may
// belong to the page's next question by now.
func answerWith(p mail.Pause, answer []byte) []byte {
	return effect.Params(struct {
		CallFrameID   string `json:"callFrameId"`
		Expression    string `json:"expression"`
		Silent        bool   `json:"silent"`
		ReturnByValue bool   `json:"returnByValue"`
	}{p.CallFrame, "id===" + string(effect.Params(p.Key)) + "&&(answer=" + string(answer) + ",true)", true, true})
}

func decodeTaken(result []byte) (bool, error) {
	var r struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	err := json.Unmarshal(result, &r)
	return r.Result.Value == true, err
}

// ScriptParsed is the event of a script that a session's debugger learns of.
const ScriptParsed = "Debugger.scriptParsed"

// IsPageScript says of a script, by how its params begin, that no task's bridge can have
// named it so: such a name is [nameSize] hexadecimal digits, and a page that evaluates
// thousands of texts makes a script of each, without a name.
func IsPageScript(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(`{"scriptId":"`))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, "0123456789"), []byte(`","url":"`))
	if !ok {
		return false
	}
	for i, c := range rest {
		switch {
		case c == '\\':
			return false // may stand for a digit
		case i == nameSize:
			return c != '"'
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return true
		}
	}
	return false
}

// DecodeScript reads Debugger.scriptParsed; nearly all are the page's own.
func (s Secret) DecodeScript(params []byte) any {
	if s.digits == nil || !bytes.Contains(params, []byte(s.name())) {
		return nil
	}
	var e struct {
		ID      string `json:"scriptId"`
		URL     string `json:"url"`
		Context int64  `json:"executionContextId"`
		Aux     struct {
			Frame messages.FrameID `json:"frameId"`
		} `json:"executionContextAuxData"`
	}
	if json.Unmarshal(params, &e) != nil || e.URL != s.name() || e.Aux.Frame == "" {
		return nil
	}
	return ScriptRuns{messages.FrameID(clip.Text(string(e.Aux.Frame), clip.MaxID)), scriptAt{e.Context, clip.Text(e.ID, clip.MaxID)}}
}

// DecodePaused reads Debugger.paused: a call of ours, if it can be read, or another
// client's pause.
func (s Secret) DecodePaused(now time.Time, params []byte) any {
	if s.digits == nil {
		return Pause{isOn: true}
	}
	var e struct {
		CallFrames []struct {
			ID       string `json:"callFrameId"`
			Location struct {
				Script string `json:"scriptId"`
			} `json:"location"`
			This struct {
				Value any `json:"value"`
			} `json:"this"`
		} `json:"callFrames"`
		Reason string   `json:"reason"`
		Hit    []string `json:"hitBreakpoints"`
	}
	if json.Unmarshal(params, &e) != nil || len(e.CallFrames) == 0 {
		return Pause{isOn: true}
	}
	text, _ := e.CallFrames[0].This.Value.(string)
	if !strings.HasPrefix(text, s.token()) {
		other := Pause{isOn: true, token: tokenIn(text)}
		if e.Reason == "other" && len(e.Hit) == 0 {
			other.at = scriptAt{contextOf(e.CallFrames[0].ID), clip.Text(e.CallFrames[0].Location.Script, clip.MaxID)}
		}
		return other
	}
	p, ok := s.parseCall(text)
	if !ok {
		return CallGarbled{}
	}
	p.Heard = now
	p.Pause.CallFrame = clip.Text(e.CallFrames[0].ID, 256)
	p.Context = contextOf(p.Pause.CallFrame)
	return p
}

// contextOf reads the execution context out of a call frame's id, which Chrome
// makes of isolate, context and depth. 0 is none.
func contextOf(callFrame string) int64 {
	parts := strings.Split(callFrame, ".")
	if len(parts) != 3 {
		return 0
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
