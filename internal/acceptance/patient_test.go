package acceptance_test

import (
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// patient is one page that is to be made ill: the task that has it, and the
// proxy through which that task alone reaches the browser.
type patient struct {
	*task
	links *chromiumtest.FaultProxy
	page  messages.TargetID
}

// patient starts a task of its own on the rig's browser.
func (r *rig) patient(id string, change ...func(*messages.TaskSpec)) *patient {
	r.Helper()
	p := chromiumtest.Proxy(r.T, r.chrome.Addr())
	k := r.task(messages.TaskID(id), append([]func(*messages.TaskSpec){r.through(p)}, change...)...)
	return &patient{k, p, k.snapshot().PageTargetID}
}

// both waits until both links stand, so that both can be lost.
func (p *patient) both() {
	p.Helper()
	p.await("both links", func(s *messages.Snapshot) bool {
		return s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp
	})
}

// is waits until the page is in a state, on a link that stands.
func (p *patient) is(state messages.PageState) {
	p.Helper()
	p.await("a page that is "+string(state), func(s *messages.Snapshot) bool {
		return s.PageState == state && s.Connection.Primary == messages.LinkUp
	})
}

func (p *patient) recover(a messages.RecoverAction) (messages.RecoverResult, error) {
	return p.node.Recover(p.ctx, p.id, messages.RecoverRequest{Action: a})
}

// loseBoth cuts every link of the task while dialogs that wait have no other session.
func (p *patient) loseBoth() {
	p.Helper()
	p.both()
	if n := p.links.KillAll(); n != 2 {
		p.Fatalf("%d links were lost, want both", n)
	}
}

// ills are the ways to lose a page that a recovery is promised for.
var ills = []struct {
	name   string
	path   string
	state  messages.PageState
	befall func(p *patient)
	// helps are the actions that bring the page back; keeps those that keep what
	// it holds; no those that are refused, with what.
	helps []messages.RecoverAction
	keeps map[messages.RecoverAction]bool
	no    map[messages.RecoverAction]messages.Code
}{
	{
		name: "a dialog that lost both links", path: "http://a.test/confirm", state: messages.PageDialogUnreachable,
		befall: func(p *patient) {
			p.later("", "ask()")
			p.dialog()
			p.loseBoth()
		},
		helps: []messages.RecoverAction{messages.RecoverRelease, messages.RecoverReload, messages.RecoverClose},
		keeps: map[messages.RecoverAction]bool{messages.RecoverRelease: true},
	},
	{
		name: "a frame's dialog that lost both links", path: "http://a.test/oopif-prompt", state: messages.PageDialogUnreachable,
		befall: func(p *patient) {
			p.later(p.frame("/prompt").FrameID, "ask()")
			p.dialog()
			p.loseBoth()
		},
		helps: []messages.RecoverAction{messages.RecoverRelease, messages.RecoverReload, messages.RecoverClose},
		keeps: map[messages.RecoverAction]bool{messages.RecoverRelease: true},
	},
	{
		name: "the second of two dialogs (C14)", path: "http://a.test/two-oopifs", state: messages.PageDialogUnreachable,
		befall: func(p *patient) {
			tree := p.await("two frames", func(s *messages.Snapshot) bool {
				return s.FrameTree != nil && len(s.FrameTree.Children) == 2 && s.FrameTree.Children[0].SessionID != "" && s.FrameTree.Children[1].SessionID != ""
			}).FrameTree
			p.later(tree.Children[0].FrameID, "ask()")
			p.dialog()
			p.later(tree.Children[1].FrameID, "ask()")
			p.closed("d-2")
		},
		helps: []messages.RecoverAction{messages.RecoverRelease, messages.RecoverReload, messages.RecoverClose},
		keeps: map[messages.RecoverAction]bool{messages.RecoverRelease: true},
	},
	{
		name: "a loop", path: "http://a.test/busy", state: messages.PageHung,
		befall: func(p *patient) {
			p.later("", "spin()")
			go func() { _, _ = p.tryEval("", "1") }() // ends with the test
		},
		helps: []messages.RecoverAction{messages.RecoverReload, messages.RecoverClose},
		no:    map[messages.RecoverAction]messages.Code{messages.RecoverRelease: messages.CodePageWedged},
	},
	{
		name: "a loop that was there before the link", path: "http://a.test/busy", state: messages.PageHung,
		befall: func(p *patient) {
			p.later("", "spin()")
			p.loseBoth()
		},
		helps: []messages.RecoverAction{messages.RecoverReload, messages.RecoverClose},
		no:    map[messages.RecoverAction]messages.Code{messages.RecoverRelease: messages.CodePageWedged},
	},
	{
		name: "a crash", path: "http://a.test/plain", state: messages.PageCrashed,
		befall: func(p *patient) {
			_, err := p.node.CDP(p.ctx, p.id, messages.CDPRequest{Method: "Page.crash"})
			wantCode(p.T, err, messages.CodePageCrashed)
		},
		helps: []messages.RecoverAction{messages.RecoverReload, messages.RecoverClose},
		no:    map[messages.RecoverAction]messages.Code{messages.RecoverRelease: messages.CodePageCrashed},
	},
	{
		name: "a dialog that can be answered", path: "http://a.test/confirm", state: messages.PageDialog,
		befall: func(p *patient) {
			p.later("", "ask()")
			p.dialog()
		},
		helps: []messages.RecoverAction{messages.RecoverClose},
		no: map[messages.RecoverAction]messages.Code{
			messages.RecoverRelease: messages.CodeBlockedByDialog, messages.RecoverReload: messages.CodeBlockedByDialog,
		},
	},
}

// hasRecovered says that a page is as good as a recovery promises.
func (p *patient) hasRecovered(b *chromiumtest.Browser, action messages.RecoverAction, kept bool) {
	p.Helper()
	select {
	case <-b.Exited():
		p.Fatalf("%s: the browser is gone: %s", action, b.ExitReason())
	default:
	}
	if action == messages.RecoverClose {
		if s := p.snapshot(); len(s.Pages) != 0 {
			p.Errorf("close: pages %+v", s.Pages)
		}
		return
	}
	s := p.snapshot()
	if s.PageState != messages.PageOK || s.State != messages.StateActive || s.PageTargetID != p.page || len(s.Pages) != 1 {
		p.Errorf("%s: %+v", action, s)
	}
	want := "undefined"
	if kept {
		want = `"kept"`
	}
	if got := p.eval("", "window.here"); got != want {
		p.Errorf("%s: the page has %s, want %s", action, got, want)
	}
	// It asks again, in its own name, and can be answered; once it has loaded,
	// since a frame that loads has Chrome close the page's dialog (measured).
	p.evalPromise("", "new Promise(r => document.readyState == 'complete' ? r(1) : addEventListener('load', () => r(1)))")
	p.later("", "window.again = confirm('again?')")
	p.dialog()
	p.respond(messages.DialogAnswer{Action: "accept"})
	if got := p.eval("", "window.again"); got != "true" {
		p.Errorf("%s: the next dialog gave %s", action, got)
	}
}
