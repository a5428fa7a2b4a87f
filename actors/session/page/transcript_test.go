package page_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/page"
	"holdfast/actors/session/sessiontest"
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
//	handle ID|none accept|dismiss [text=X] [key=X [request=X] [anchor]]
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
//	state                            what the machine knows
//	fire TIMER                       one that had come due before it was dropped
//
// Results and params are the block's input, {} if there is none.
func TestMachineTranscripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		tr := &pageStory{Transcript: &sessiontest.Transcript{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if in := tr.input(t, d); in != nil {
				return tr.Step(in)
			}
			if d.Cmd == "browser" {
				tr.browser = sessiontest.Arg(t, d, 0)
				return ""
			}
			return tr.Command(t, d)
		})
	})
}

// pageStory is a transcript of a page's machine.
type pageStory struct {
	*sessiontest.Transcript
	browser string // what the browser process does
}

// answer is what the browser process says by itself.
func (tr *pageStory) answer(c effect.Command) (r effect.Replied, answered bool) {
	r = effect.Replied{Tag: c.Tag, Result: []byte(`{}`)}
	taken := tr.browser == "dialog" || tr.browser == "starting" || tr.browser == "stranded"
	switch c.Tag.Kind {
	case page.TagSign:
		answered = true
		if tr.browser == "dialog" {
			r.Result = []byte(`{"targetInfo":{"targetId":"T","type":"page","url":"http://a.test/"}}`)
		}
	case page.TagKey:
		answered = taken
	case page.TagHistory:
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
	return r, answered && tr.browser != "silent"
}

// input reads a block that is one input of a page's machine.
func (tr *pageStory) input(t *testing.T, d *datadriven.TestData) any {
	switch d.Cmd {
	case "attach":
		cfg := page.Config{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}, IsPage: true, IsFresh: d.HasArg("fresh")}
		if sessiontest.Arg(t, d, 0) == "iframe" {
			cfg.Target, cfg.IsPage = "F", false
		}
		cfg.Bridge = bridge.Settings{IsOn: d.HasArg("bridged"), Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)}
		if d.HasArg("requests") {
			cfg.Bridge.IsOn, cfg.Bridge.By = true, mail.ByRequest
		}
		tr.Begin(cfg.Source(), page.New(cfg))
		tr.IsRestoring, tr.browser, tr.Process = d.HasArg("restoring"), "alive", tr.answer
		return effect.Start{}
	case "bridge":
		return tr.SetBridge(t, d)
	case "restored":
		return effect.Restored{Round: tr.Restore.Round}
	case "pause":
		context := 3
		if d.HasArg("context") {
			d.ScanArgs(t, "context", &context)
		}
		message := sessiontest.Arg(t, d, 2)
		d.Input = fmt.Sprintf(`{"callFrames":[{"callFrameId":"1.%d.0","this":{"type":"string","value":"%s%s %s 4 %d u://%sdflt"}}]}`,
			context, sessiontest.Secret[16:32], sessiontest.Arg(t, d, 0), sessiontest.Arg(t, d, 1), len(message), message)
		return tr.Event(t, d, "Debugger.paused")
	case "rearm":
		return mail.RearmBridge{Method: sessiontest.Arg(t, d, 0)}
	case "elsewhere":
		d.Input = fmt.Sprintf(`{"callFrames":[{"callFrameId":"1.3.0","this":{"type":"string","value":"%s%s confirm 4 4 u://what"}}]}`, sessiontest.Siblings[16:32], sessiontest.Arg(t, d, 0))
		return tr.Event(t, d, "Debugger.paused")
	case "left":
		return bridge.SiblingLeft{Secret: bridge.NewSecret(sessiontest.Siblings), Epoch: 7, Pages: []messages.TargetID{"T"}, HasEnded: d.HasArg("ended")}
	case "script":
		d.Input = fmt.Sprintf(`{"scriptId":"1","url":%q,"executionContextId":%s,"executionContextAuxData":{"isDefault":true,"frameId":%q}}`, sessiontest.Secret[:16], sessiontest.Arg(t, d, 1), sessiontest.Arg(t, d, 0))
		return tr.Event(t, d, "Debugger.scriptParsed")
	case "word", "says", "wonders":
		payload := ""
		switch d.Cmd {
		case "word":
			message := sessiontest.Arg(t, d, 2)
			payload = fmt.Sprintf("%s %s 4 %d u://%sdflt", sessiontest.Arg(t, d, 0), sessiontest.Arg(t, d, 1), len(message), message)
		case "wonders":
			payload = "?" + sessiontest.Arg(t, d, 0)
		default:
			payload = sessiontest.Arg(t, d, 0)
		}
		d.Input = fmt.Sprintf(`{"name":%q,"payload":%q,"executionContextId":3}`, bridge.NewSecret(sessiontest.Secret).Binding(), sessiontest.Secret[16:32]+payload)
		return tr.Event(t, d, "Runtime.bindingCalled")
	case "held":
		h := mail.RequestHeld{Key: sessiontest.Arg(t, d, 0), Request: sessiontest.Arg(t, d, 1), Frame: "F2"}
		if d.HasArg("anchor") {
			h.Role = messages.RoleAnchor
		}
		return h
	case "boxed":
		return mail.FrameBoxed{Session: tr.Source.Session, IsShut: sessiontest.Arg(t, d, 0) == "shut"}
	case "tree":
		d.Input = fmt.Sprintf(`{"frameTree":{"frame":{"id":%q,"loaderId":%q,"url":%q}}}`, tr.Source.Target, sessiontest.Arg(t, d, 0), sessiontest.Arg(t, d, 1))
		return tr.Reply(t, d, "Page.getFrameTree")
	case "info":
		d.Input = fmt.Sprintf(`{"targetInfo":{"targetId":%q,"type":"page","title":%q}}`, tr.Source.Target, sessiontest.Arg(t, d, 0))
		return tr.Reply(t, d, "Target.getTargetInfo")
	case "document":
		kind := "Navigation"
		if d.HasArg("restored") {
			kind = "BackForwardCacheRestore"
		}
		d.Input = fmt.Sprintf(`{"frame":{"id":%q,"loaderId":%q,"url":%q},"type":%q}`, tr.Source.Target, sessiontest.Arg(t, d, 0), sessiontest.Arg(t, d, 1), kind)
		return tr.Event(t, d, "Page.frameNavigated")
	case "lifecycle":
		d.Input = fmt.Sprintf(`{"frameId":%q,"loaderId":%q,"name":%q}`, tr.Source.Target, sessiontest.Arg(t, d, 0), sessiontest.Arg(t, d, 1))
		return tr.Event(t, d, "Page.lifecycleEvent")
	case "navigate":
		r := messages.NavigateRequest{URL: sessiontest.Arg(t, d, 0)}
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
		return mail.Navigate{Request: r, Reply: tr.Owe()}
	case "dialogs":
		o := mail.DialogsOpen{}
		for _, a := range d.CmdArgs {
			if a.Key == "holding" {
				o.IsHolding = true
			} else {
				o.Dialogs = append(o.Dialogs, messages.Dialog{ID: messages.DialogID(a.Key)})
			}
		}
		return o
	case "handle":
		o := mail.HandleDialog{Dialog: messages.DialogID(sessiontest.Arg(t, d, 0)), Page: tr.Source.Page, MustAccept: sessiontest.Arg(t, d, 1) == "accept"}
		if o.Dialog == "none" {
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
		return effect.TellAgain{}
	case "probe":
		return mail.ProbeSession{MustReport: d.HasArg("report")}
	case "replied":
		return mail.RendererReplied{}
	case "load":
		return mail.ReloadPage{URL: sessiontest.Arg(t, d, 0)}
	case "reload":
		return mail.ReloadFrames{}
	}
	return nil
}
