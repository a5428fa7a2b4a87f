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

// TestMachineTranscripts replays the stories in testdata/machine; run with
// -rewrite to accept what the machine says now.
//
//	attach page|iframe [fresh|again|bridged|requests] [restoring]
//	                                 a new machine and its Start; what is restored has its outcome at
//	                                 once, or where it is said
//	restored                         it has
//	reply METHOD [old] [error=CODE]  the answer to the newest (oldest) such command; error=crashed is that
//	                                 of a renderer that has crashed meanwhile, error=gone of
//	                                 a session that has ended, error=inactive of a page between two
//	                                 documents
//	tree LOADER URL [old]            the answer to Page.getFrameTree
//	info TITLE                       the answer to Target.getTargetInfo
//	event METHOD                     a CDP event
//	document LOADER URL [restored]   Page.frameNavigated of the main frame
//	lifecycle LOADER NAME            Page.lifecycleEvent of the main frame
//	navigate URL [until=X] [timeout=S]
//	dialogs [ID...] [holding]        what the dialog actor says is open
//	handle ID|nobody accept|dismiss [text=X] [key=X [request=X] [anchor]]
//	pause KEY KIND MESSAGE [context=N]  Debugger.paused in a function of the bridge
//	script FRAME CONTEXT             our script, in a document
//	bridge on|off EPOCH [requests]   SetBridge
//	rearm METHOD                     what an agent has called by the session
//	elsewhere KEY                    Debugger.paused in a function of another task's bridge
//	left [ended]                     SiblingLeft of that task
//	word KEY KIND MESSAGE            what a call says of itself by the binding
//	wonders KEY | says +|-[KEY]      a document's question whether it is heard, and its conclusion
//	held KEY REQUEST [anchor]        its request, which the browser's session of a link holds
//	boxed open|shut                  what the parent's session knows of the frame
//	tellagain                        another dialog actor has begun
//	ignored METHOD                   a CDP event that means nothing
//	probe [report] | reload | load URL
//	browser alive|dialog|starting|stranded|silent
//	                                 what the browser process answers while time passes: signs of life;
//	                                 keys as well, of a page with a document, with none yet, or
//	                                 between two; or nothing; alive after every attach
//	wait DURATION                    fires what comes due, in order
//	fire TIMER                       one that had come due before it was dropped
//
// Results and params are the block's input, {} if there is none.
func TestMachineTranscripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		tr := &transcript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if in := tr.pageInput(t, d); in != nil {
				return tr.step(in)
			}
			return tr.command(t, d)
		})
	})
}

// transcript is a machine with its clock, its timers and the commands that
// nobody has answered yet.
type transcript struct {
	cfg     session.Config
	machine interface {
		Step(now time.Time, in any) []session.Effect
	}
	now     time.Time
	timers  map[session.Timer]time.Time
	armed   map[string]session.Timer // ever, by name
	pending []session.Command
	browser string
	// restoring says that the outcome of what is restored is the story's to tell.
	restoring bool
	restore   session.Restore // the newest
	asked     int             // orders that will be answered
	answers   strings.Builder
}

func (tr *transcript) begin(cfg session.Config) {
	*tr = transcript{cfg: cfg, now: epoch, timers: map[session.Timer]time.Time{}, armed: map[string]session.Timer{}, browser: "alive"}
}

// secret is that of every machine with a bridge here.
const secret = "000102030405060708090a0b0c0d0e0f1011121314151617"

// siblings is that of another task.
const siblings = "f0f1f2f3f4f5f6f7e0e1e2e3e4e5e6e7d0d1d2d3d4d5d6d7"

var epoch = time.Unix(0, 0)

// pageInput reads a block that is one input of a page's machine.
func (tr *transcript) pageInput(t *testing.T, d *datadriven.TestData) any {
	switch d.Cmd {
	case "attach":
		cfg := session.Config{Identity: session.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}, IsPage: true, Fresh: d.HasArg("fresh"), Again: d.HasArg("again")}
		if arg(t, d, 0) == "iframe" {
			cfg.Target, cfg.IsPage = "F", false
		}
		cfg.Bridge = session.Bridge{On: d.HasArg("bridged"), Epoch: 1, Secret: session.NewBridgeSecret(secret)}
		if d.HasArg("requests") {
			cfg.Bridge.On, cfg.Bridge.By = true, mail.ByRequest
		}
		tr.begin(cfg)
		tr.restoring = d.HasArg("restoring")
		tr.machine = session.NewMachine(cfg)
		return session.Start{}
	case "restored":
		return session.Restored{Round: tr.restore.Round}
	case "pause":
		context := 3
		if d.HasArg("context") {
			d.ScanArgs(t, "context", &context)
		}
		message := arg(t, d, 2)
		d.Input = fmt.Sprintf(`{"callFrames":[{"callFrameId":"1.%d.0","this":{"type":"string","value":"%s%s %s 4 %d u://%sdflt"}}]}`,
			context, secret[16:32], arg(t, d, 0), arg(t, d, 1), len(message), message)
		return tr.event(t, d, "Debugger.paused")
	case "rearm":
		return mail.RearmBridge{Method: arg(t, d, 0)}
	case "elsewhere":
		d.Input = fmt.Sprintf(`{"callFrames":[{"callFrameId":"1.3.0","this":{"type":"string","value":"%s%s confirm 4 4 u://what"}}]}`, siblings[16:32], arg(t, d, 0))
		return tr.event(t, d, "Debugger.paused")
	case "left":
		return session.SiblingLeft{Secret: session.NewBridgeSecret(siblings), Epoch: 7, Pages: []messages.TargetID{"T"}, Ended: d.HasArg("ended")}
	case "script":
		d.Input = fmt.Sprintf(`{"scriptId":"1","url":%q,"executionContextId":%s,"executionContextAuxData":{"isDefault":true,"frameId":%q}}`, secret[:16], arg(t, d, 1), arg(t, d, 0))
		return tr.event(t, d, "Debugger.scriptParsed")
	case "bridge":
		n, err := strconv.ParseUint(arg(t, d, 1), 10, 64)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		o := mail.SetBridge{On: arg(t, d, 0) == "on", Epoch: n}
		if d.HasArg("requests") {
			o.By = mail.ByRequest
		}
		return o
	case "word", "says", "wonders":
		payload := ""
		switch d.Cmd {
		case "word":
			message := arg(t, d, 2)
			payload = fmt.Sprintf("%s %s 4 %d u://%sdflt", arg(t, d, 0), arg(t, d, 1), len(message), message)
		case "wonders":
			payload = "?" + arg(t, d, 0)
		default:
			payload = arg(t, d, 0)
		}
		d.Input = fmt.Sprintf(`{"name":%q,"payload":%q,"executionContextId":3}`, session.NewBridgeSecret(secret).Binding(), secret[16:32]+payload)
		return tr.event(t, d, "Runtime.bindingCalled")
	case "held":
		h := mail.RequestHeld{Key: arg(t, d, 0), Request: arg(t, d, 1), Frame: "F2"}
		if d.HasArg("anchor") {
			h.Role = messages.RoleAnchor
		}
		return h
	case "boxed":
		return mail.FrameBoxed{Session: tr.cfg.Session, Shut: arg(t, d, 0) == "shut"}
	case "tree":
		d.Input = fmt.Sprintf(`{"frameTree":{"frame":{"id":%q,"loaderId":%q,"url":%q}}}`, tr.cfg.Target, arg(t, d, 0), arg(t, d, 1))
		return tr.reply(t, d, "Page.getFrameTree")
	case "info":
		d.Input = fmt.Sprintf(`{"targetInfo":{"targetId":%q,"type":"page","title":%q}}`, tr.cfg.Target, arg(t, d, 0))
		return tr.reply(t, d, "Target.getTargetInfo")
	case "document":
		kind := "Navigation"
		if d.HasArg("restored") {
			kind = "BackForwardCacheRestore"
		}
		d.Input = fmt.Sprintf(`{"frame":{"id":%q,"loaderId":%q,"url":%q},"type":%q}`, tr.cfg.Target, arg(t, d, 0), arg(t, d, 1), kind)
		return tr.event(t, d, "Page.frameNavigated")
	case "lifecycle":
		d.Input = fmt.Sprintf(`{"frameId":%q,"loaderId":%q,"name":%q}`, tr.cfg.Target, arg(t, d, 0), arg(t, d, 1))
		return tr.event(t, d, "Page.lifecycleEvent")
	case "navigate":
		r := messages.NavigateRequest{URL: arg(t, d, 0)}
		if d.HasArg("until") {
			var until string
			d.ScanArgs(t, "until", &until)
			r.WaitUntil = messages.WaitUntil(until)
		}
		if d.HasArg("timeout") {
			var seconds int
			d.ScanArgs(t, "timeout", &seconds)
			r.TimeoutS = float64(seconds)
		}
		return mail.Navigate{Request: r, Reply: tr.owe()}
	case "dialogs":
		o := mail.DialogsOpen{}
		for _, a := range d.CmdArgs {
			if a.Key == "holding" {
				o.Holding = true
			} else {
				o.Dialogs = append(o.Dialogs, messages.Dialog{ID: messages.DialogID(a.Key)})
			}
		}
		return o
	case "handle":
		o := mail.HandleDialog{Dialog: messages.DialogID(arg(t, d, 0)), Page: tr.cfg.Page, Accept: arg(t, d, 1) == "accept"}
		if o.Dialog == "nobody" {
			o.Dialog = ""
		}
		if d.HasArg("text") {
			var text string
			d.ScanArgs(t, "text", &text)
			o.Text = &text
		}
		if d.HasArg("key") {
			d.ScanArgs(t, "key", &o.Pause.Key)
			o.Pause.CallFrame = "1.3.0"
			if d.HasArg("request") {
				o.Pause.CallFrame = ""
				d.ScanArgs(t, "request", &o.Pause.Request)
			}
			if d.HasArg("anchor") {
				o.Pause.Holder = messages.RoleAnchor
			}
		}
		return o
	case "tellagain":
		return session.TellAgain()
	case "probe":
		return mail.ProbeSession{Report: d.HasArg("report")}
	case "load":
		return mail.ReloadPage{URL: arg(t, d, 0)}
	case "reload":
		return mail.ReloadFrames{}
	}
	return nil
}

// command carries out a block that both kinds of machine know.
func (tr *transcript) command(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "reply":
		return tr.step(tr.reply(t, d, arg(t, d, 0)))
	case "event":
		return tr.step(tr.event(t, d, arg(t, d, 0)))
	case "ignored":
		if fact := session.Decode(tr.cfg.Source(), tr.now, arg(t, d, 0), body(d)); fact != nil {
			d.Fatalf(t, "the event means %+v", fact)
		}
		return ""
	case "fire":
		return tr.step(session.TimerFired{Timer: tr.armed[arg(t, d, 0)]})
	case "browser":
		tr.browser = arg(t, d, 0)
		return ""
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
	fact := session.Decode(tr.cfg.Source(), tr.now, method, body(d))
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
		r := session.Replied{Tag: c.Tag, Result: []byte(`{}`)}
		taken := tr.browser == "dialog" || tr.browser == "starting" || tr.browser == "stranded"
		answered := false
		switch c.Tag.Kind {
		case session.TagSign:
			answered = true
			if tr.browser == "dialog" {
				r.Result = []byte(`{"targetInfo":{"targetId":"T","type":"page","url":"http://a.test/"}}`)
			}
		case session.TagKey:
			answered = taken
		case session.TagHistory:
			answered = true
			switch tr.browser {
			case "dialog":
				r.Result = []byte(`{"currentIndex":1,"entries":[{"url":""},{"url":"http://a.test/"}]}`)
			case "starting":
				r.Result = []byte(`{"currentIndex":0,"entries":[{"url":""}]}`)
			case "stranded":
				r.Result, r.Err = nil, messages.Errorf(messages.CodeCDPError, "Not attached to an active page")
			}
		}
		if tr.browser == "silent" || !answered {
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
