// Package sessiontest plays stories against the machines of a session's room.
//
// Only tests import it.
package sessiontest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// machine is what a transcript plays against.
type machine interface {
	Step(now time.Time, in any) []effect.Effect
	State() string
}

// Transcript is a machine with its clock, its timers and the commands without a reply.
type Transcript struct {
	Source  decode.Source
	machine machine
	now     time.Time
	timers  map[effect.Timer]time.Time
	armed   map[string]effect.Timer // ever, by name
	pending []effect.Command
	// process is the browser process: what it answers by itself. Nil answers nothing.
	Process func(effect.Command) (effect.Replied, bool)
	// restoring says that the outcome of what is restored is the story's to tell.
	IsRestoring bool
	Restore     effect.Restore // the newest
	asked       int            // orders that will be answered
	answers     strings.Builder
}

// Begin starts a story with a new machine.
func (tr *Transcript) Begin(source decode.Source, machine machine) {
	*tr = Transcript{Source: source, machine: machine, now: Epoch, timers: map[effect.Timer]time.Time{}, armed: map[string]effect.Timer{}}
}

// Secret is that of every machine with a bridge here.
const Secret = "000102030405060708090a0b0c0d0e0f1011121314151617"

// Siblings is that of another task.
const Siblings = "f0f1f2f3f4f5f6f7e0e1e2e3e4e5e6e7d0d1d2d3d4d5d6d7"

// Epoch is when every story begins.
var Epoch = time.Unix(0, 0)

// SetBridge reads SetBridge: on|off EPOCH [requests].
func (tr *Transcript) SetBridge(t *testing.T, d *datadriven.TestData) mail.SetBridge {
	n, err := strconv.ParseUint(Arg(t, d, 1), 10, 64)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	o := mail.SetBridge{IsOn: Arg(t, d, 0) == "on", Epoch: n}
	if d.HasArg("requests") {
		o.By = mail.ByRequest
	}
	return o
}

// Command carries out a block that both kinds of machine know.
func (tr *Transcript) Command(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "reply":
		return tr.Step(tr.Reply(t, d, Arg(t, d, 0)))
	case "event":
		return tr.Step(tr.Event(t, d, Arg(t, d, 0)))
	case "ignored":
		if fact := tr.Source.Decode(tr.now, Arg(t, d, 0), body(d)); fact != nil {
			d.Fatalf(t, "the event means %+v", fact)
		}
		return ""
	case "state":
		return tr.machine.State()
	case "fire":
		return tr.Step(effect.TimerFired{Timer: tr.armed[Arg(t, d, 0)]})
	case "wait":
		span, err := time.ParseDuration(Arg(t, d, 0))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return tr.wait(span)
	}
	d.Fatalf(t, "unknown command %s", d.Cmd)
	return ""
}

// Arg returns the i-th argument of a block.
func Arg(t *testing.T, d *datadriven.TestData, i int) string {
	if i >= len(d.CmdArgs) {
		d.Fatalf(t, "%s needs %d arguments", d.Cmd, i+1)
	}
	return d.CmdArgs[i].Key
}

func body(d *datadriven.TestData) []byte {
	if d.Input == "" {
		return []byte(`{}`)
	}
	return []byte(d.Input)
}

// Event decodes the CDP event that is the block's input.
func (tr *Transcript) Event(t *testing.T, d *datadriven.TestData, method string) any {
	if !slices.Contains(decode.Events(), method) || !json.Valid(body(d)) {
		d.Fatalf(t, "the link passes on no such event: %s %s", method, d.Input)
	}
	fact := tr.Source.Decode(tr.now, method, body(d))
	if fact == nil {
		d.Fatalf(t, "the event means nothing: %s %s", method, d.Input)
	}
	return fact
}

// Reply answers the newest command of a method, or the oldest with the argument old.
func (tr *Transcript) Reply(t *testing.T, d *datadriven.TestData, method string) any {
	at := -1
	for i, c := range tr.pending {
		if c.Method == method && (at < 0 || !d.HasArg("old")) {
			at = i
		}
	}
	if at < 0 {
		d.Fatalf(t, "no %s waits for a reply", method)
	}
	r := effect.Replied{Tag: tr.pending[at].Tag, Result: body(d)}
	tr.pending = slices.Delete(tr.pending, at, at+1)
	if d.HasArg("error") {
		var code string
		d.ScanArgs(t, "error", &code)
		r.Result, r.Err = nil, messages.Errorf(messages.Code(code), "the browser says no")
		switch code {
		case "crashed":
			r.Err = quirks.TargetCrashedError()
		case "inactive":
			r.Err = messages.Errorf(messages.CodeCDPError, "Not attached to an active page")
		case "gone":
			r.Err = messages.Errorf(messages.CodeCDPError, "Session with given id not found.")
		}
	}
	return r
}

// Owe returns where the answer to the next order goes: into the transcript,
// under its number.
func (tr *Transcript) Owe() mail.Call {
	tr.asked++
	n, answered := tr.asked, false
	return Calls.Open(func(value any, err error) {
		again := ""
		if answered {
			again = " AGAIN"
		}
		answered = true
		fmt.Fprintf(&tr.answers, "answer %d%s: %s\n", n, again, showAnswer(value, err))
	})
}

// wait lets time pass and fires each timer when it is due.
func (tr *Transcript) wait(span time.Duration) string {
	var b strings.Builder
	b.WriteString(tr.browserAnswers())
	for end := tr.now.Add(span); ; {
		var next effect.Timer
		for timer, at := range tr.timers {
			if !at.After(end) && (next.Name == "" || at.Before(tr.timers[next]) || at.Equal(tr.timers[next]) && timer.String() < next.String()) {
				next = timer
			}
		}
		if next.Name == "" {
			tr.now = end
			return b.String()
		}
		tr.now = tr.timers[next]
		delete(tr.timers, next)
		fmt.Fprintf(&b, "(%v: %s)\n", tr.now.Sub(Epoch), next)
		b.WriteString(tr.Step(effect.TimerFired{Timer: next}))
		b.WriteString(tr.browserAnswers())
	}
}

// browserAnswers are those that the browser process gives by itself, in the
// order in which it was asked.
func (tr *Transcript) browserAnswers() string {
	var b strings.Builder
	for i := 0; i < len(tr.pending); {
		c := tr.pending[i]
		var r effect.Replied
		answered := false
		if tr.Process != nil {
			r, answered = tr.Process(c)
		}
		if !answered {
			i++
			continue
		}
		tr.pending = slices.Delete(tr.pending, i, i+1)
		fmt.Fprintf(&b, "(%s answered)\n", c.Method)
		b.WriteString(tr.Step(r))
	}
	return b.String()
}

// Step gives the machine one input, and returns its effects in lines.
func (tr *Transcript) Step(in any) string {
	var b strings.Builder
	restored := false
	for _, e := range tr.machine.Step(tr.now, in) {
		switch e := e.(type) {
		case effect.Command:
			if e.Tag.Kind != effect.TagNone {
				tr.pending = append(tr.pending, e)
			}
		case effect.Arm:
			tr.timers[e.Timer] = tr.now.Add(e.After)
			tr.armed[e.Timer.String()] = e.Timer
		case effect.Disarm:
			delete(tr.timers, e.Timer)
		case effect.Answer:
			Calls.Answer(e.To, e.Value, e.Err)
			b.WriteString(tr.answers.String())
			tr.answers.Reset()
			continue
		}
		fmt.Fprintln(&b, showEffect(e))
		if e, ok := e.(effect.Restore); ok {
			tr.Restore = e
			restored = !tr.IsRestoring
		}
	}
	if restored {
		b.WriteString(tr.Step(effect.Restored{Round: tr.Restore.Round}))
	}
	return b.String()
}
