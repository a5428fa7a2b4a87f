package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"holdfast/actors/session"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// machine is what a transcript plays against.
type machine interface {
	Step(now time.Time, in any) []session.Effect
}

// transcript is a machine with its clock, its timers and the commands that
// nobody has answered yet.
type transcript struct {
	source  session.Source
	machine machine
	now     time.Time
	timers  map[session.Timer]time.Time
	armed   map[string]session.Timer // ever, by name
	pending []session.Command
	// process is the browser process: what it answers by itself. Nil answers nothing.
	process func(session.Command) (session.Replied, bool)
	// restoring says that the outcome of what is restored is the story's to tell.
	restoring bool
	restore   session.Restore // the newest
	asked     int             // orders that will be answered
	answers   strings.Builder
}

func (tr *transcript) begin(source session.Source, machine machine) {
	*tr = transcript{source: source, machine: machine, now: epoch, timers: map[session.Timer]time.Time{}, armed: map[string]session.Timer{}}
}

// secret is that of every machine with a bridge here.
const secret = "000102030405060708090a0b0c0d0e0f1011121314151617"

// siblings is that of another task.
const siblings = "f0f1f2f3f4f5f6f7e0e1e2e3e4e5e6e7d0d1d2d3d4d5d6d7"

var epoch = time.Unix(0, 0)

// setBridge reads SetBridge: on|off EPOCH [requests].
func (tr *transcript) setBridge(t *testing.T, d *datadriven.TestData) mail.SetBridge {
	n, err := strconv.ParseUint(arg(t, d, 1), 10, 64)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	o := mail.SetBridge{On: arg(t, d, 0) == "on", Epoch: n}
	if d.HasArg("requests") {
		o.By = mail.ByRequest
	}
	return o
}

// command carries out a block that both kinds of machine know.
func (tr *transcript) command(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "reply":
		return tr.step(tr.reply(t, d, arg(t, d, 0)))
	case "event":
		return tr.step(tr.event(t, d, arg(t, d, 0)))
	case "ignored":
		if fact := tr.source.Decode(tr.now, arg(t, d, 0), body(d)); fact != nil {
			d.Fatalf(t, "the event means %+v", fact)
		}
		return ""
	case "fire":
		return tr.step(session.TimerFired{Timer: tr.armed[arg(t, d, 0)]})
	case "wait":
		span, err := time.ParseDuration(arg(t, d, 0))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return tr.wait(span)
	}
	d.Fatalf(t, "unknown command %s", d.Cmd)
	return ""
}

func arg(t *testing.T, d *datadriven.TestData, i int) string {
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

func (tr *transcript) event(t *testing.T, d *datadriven.TestData, method string) any {
	if !slices.Contains(session.Events(), method) || !json.Valid(body(d)) {
		d.Fatalf(t, "the link passes on no such event: %s %s", method, d.Input)
	}
	fact := tr.source.Decode(tr.now, method, body(d))
	if fact == nil {
		d.Fatalf(t, "the event means nothing: %s %s", method, d.Input)
	}
	return fact
}

func (tr *transcript) reply(t *testing.T, d *datadriven.TestData, method string) any {
	at := -1
	for i, c := range tr.pending {
		if c.Method == method && (at < 0 || !d.HasArg("old")) {
			at = i
		}
	}
	if at < 0 {
		d.Fatalf(t, "no %s waits for a reply", method)
	}
	r := session.Replied{Tag: tr.pending[at].Tag, Result: body(d)}
	tr.pending = slices.Delete(tr.pending, at, at+1)
	if d.HasArg("error") {
		var code string
		d.ScanArgs(t, "error", &code)
		r.Result, r.Err = nil, messages.Errorf(messages.Code(code), "the browser says no")
		switch code {
		case "crashed":
			r.Err = messages.Errorf(messages.CodeCDPError, "Target crashed")
		case "inactive":
			r.Err = messages.Errorf(messages.CodeCDPError, "Not attached to an active page")
		case "gone":
			r.Err = messages.Errorf(messages.CodeCDPError, "Session with given id not found.")
		}
	}
	return r
}

// owe returns where the answer to the next order goes: into the transcript,
// under its number.
func (tr *transcript) owe() mail.Call {
	tr.asked++
	n, answered := tr.asked, false
	return calls.Open(func(value any, err error) {
		again := ""
		if answered {
			again = " AGAIN"
		}
		answered = true
		fmt.Fprintf(&tr.answers, "answer %d%s: %s\n", n, again, showAnswer(value, err))
	})
}

// wait lets time pass and fires each timer when it is due.
func (tr *transcript) wait(span time.Duration) string {
	var b strings.Builder
	b.WriteString(tr.browserAnswers())
	for end := tr.now.Add(span); ; {
		var next session.Timer
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
		fmt.Fprintf(&b, "(%v: %s)\n", tr.now.Sub(epoch), next)
		b.WriteString(tr.step(session.TimerFired{Timer: next}))
		b.WriteString(tr.browserAnswers())
	}
}

// browserAnswers are those that the browser process gives by itself, in the
// order in which it was asked.
func (tr *transcript) browserAnswers() string {
	var b strings.Builder
	for i := 0; i < len(tr.pending); {
		c := tr.pending[i]
		var r session.Replied
		answered := false
		if tr.process != nil {
			r, answered = tr.process(c)
		}
		if !answered {
			i++
			continue
		}
		tr.pending = slices.Delete(tr.pending, i, i+1)
		fmt.Fprintf(&b, "(%s answered)\n", c.Method)
		b.WriteString(tr.step(r))
	}
	return b.String()
}

func (tr *transcript) step(in any) string {
	var b strings.Builder
	restored := false
	for _, e := range tr.machine.Step(tr.now, in) {
		switch e := e.(type) {
		case session.Command:
			if e.Tag.Kind != session.TagNone {
				tr.pending = append(tr.pending, e)
			}
		case session.Arm:
			tr.timers[e.Timer] = tr.now.Add(e.After)
			tr.armed[e.Timer.String()] = e.Timer
		case session.Disarm:
			delete(tr.timers, e.Timer)
		case session.Answer:
			calls.Answer(e.To, e.Value, e.Err)
			b.WriteString(tr.answers.String())
			tr.answers.Reset()
			continue
		}
		fmt.Fprintln(&b, showEffect(e))
		if e, ok := e.(session.Restore); ok {
			tr.restore = e
			restored = !tr.restoring
		}
	}
	if restored {
		b.WriteString(tr.step(session.Restored{Round: tr.restore.Round}))
	}
	return b.String()
}
