package link_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// TestBrowserTranscripts replays the stories in testdata/primary; run with
// -rewrite to accept what the machine says now. Pages whose name begins with X
// are another task's.
//
//	dial own|browser|target [owned=ID]        a new machine; target is given G
//	dial … lacks                              of a browser that has nothing of [link.Lacks]
//	linked | link …                           its Start; both
//	bridge on|off EPOCH [requests]
//	attached SESSION PAGE [opener=ID] [held]  Target.attachedToTarget
//	attached … helper                         of a page with the address of the task's helpers
//	detached SESSION | destroyed PAGE
//	open [window] | close PAGE [free] | release PAGE | again PAGE | leave
//	failed SESSION PAGE                       the session's actor has failed
//
// and what TestMachineTranscripts says of reply, event, wait, state and fire.
func TestBrowserTranscripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/primary", func(t *testing.T, path string) {
		tr := &sessiontest.Transcript{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if in := browserInput(t, d, tr); in != nil {
				return tr.Step(in)
			}
			if d.Cmd == "dial" {
				return ""
			}
			return tr.Command(t, d)
		})
	})
}

// browserInput reads a block that is one input of a browser's machine.
func browserInput(t *testing.T, d *datadriven.TestData, tr *sessiontest.Transcript) any {
	switch d.Cmd {
	case "link", "dial":
		cfg := link.Config{
			Gen: 1, Scope: messages.Scope(sessiontest.Arg(t, d, 0)), HelperURL: "about:blank#helper",
		}
		if d.HasArg("lacks") {
			cfg.Lacks = link.Lacks{HasTargets: true, HasDiscovery: true, HasWindows: true}
		}
		if cfg.Scope == messages.ScopeTarget {
			cfg.Target = "G"
		}
		if d.HasArg("isolation") {
			var how string
			d.ScanArgs(t, "isolation", &how)
			cfg.Isolation = messages.Isolation(how)
		}
		if d.HasArg("context") {
			d.ScanArgs(t, "context", &cfg.Context)
		}
		if d.HasArg("owned") {
			var page string
			d.ScanArgs(t, "owned", &page)
			cfg.Owned = []messages.TargetID{messages.TargetID(page)}
		}
		tr.Begin(decode.Source{Identity: effect.Identity{Gen: 1}}, beside{link.NewPrimary(cfg)})
		if d.Cmd == "dial" {
			return nil
		}
		return effect.Start{}
	case "linked":
		return effect.Start{}
	case "bridge":
		return tr.SetBridge(t, d)
	case "attached":
		opener := ""
		if d.HasArg("opener") {
			d.ScanArgs(t, "opener", &opener)
		}
		context := ""
		if d.HasArg("context") {
			d.ScanArgs(t, "context", &context)
		}
		url := ""
		if d.HasArg("helper") {
			url = `"url":"about:blank#helper",`
		}
		d.Input = fmt.Sprintf(`{"sessionId":%q,"targetInfo":{"targetId":%q,"type":"page",%s"openerId":%q,"canAccessOpener":%v,"browserContextId":%q},"waitingForDebugger":%v}`,
			sessiontest.Arg(t, d, 0), sessiontest.Arg(t, d, 1), url, opener, opener != "", context, d.HasArg("held"))
		return tr.Event(t, d, "Target.attachedToTarget")
	case "detached":
		d.Input = fmt.Sprintf(`{"sessionId":%q}`, sessiontest.Arg(t, d, 0))
		return tr.Event(t, d, "Target.detachedFromTarget")
	case "destroyed":
		d.Input = fmt.Sprintf(`{"targetId":%q}`, sessiontest.Arg(t, d, 0))
		return tr.Event(t, d, "Target.targetDestroyed")
	case "open":
		return mail.OpenPage{IsNewWindow: d.HasArg("window"), Reply: tr.Owe()}
	case "close":
		return mail.ClosePage{Page: messages.TargetID(sessiontest.Arg(t, d, 0)), MustFree: d.HasArg("free"), Reply: tr.Owe()}
	case "release":
		return mail.ReleasePage{Page: messages.TargetID(sessiontest.Arg(t, d, 0))}
	case "again":
		return mail.ReattachPage{Page: messages.TargetID(sessiontest.Arg(t, d, 0))}
	case "failed":
		return mail.ReattachPage{Failed: messages.SessionID(sessiontest.Arg(t, d, 0)), Page: messages.TargetID(sessiontest.Arg(t, d, 1))}
	case "contexts":
		return mail.ClientContexts{IDs: strings.Fields(d.Input)}
	case "leave":
		return mail.Leave{}
	}
	return nil
}
