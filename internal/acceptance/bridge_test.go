package acceptance_test

import (
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func bridged(s *messages.TaskSpec) { s.Bridge = messages.BridgeOn }

func TestD19_TheBridgeAnswersWithoutANativeDialog(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d19", bridged)
	for _, c := range []struct {
		typ, page, message, prompt, accepted, dismissed string
	}{
		{"alert", "/alert", "hello", "", `"returned"`, `"returned"`},
		{"confirm", "/confirm", "sure?", "", "true", "false"},
		{"prompt", "/prompt", "name?", "dflt", `"dflt"`, "null"},
	} {
		k.goTo("http://a.test" + c.page)
		for action, want := range map[string]string{"accept": c.accepted, "dismiss": c.dismissed} {
			k.later("", "ask()")
			d := k.dialog()
			s := k.snapshot()
			if d.Type != c.typ || d.Message != c.message || d.DefaultPrompt != c.prompt || d.Path != "bridge" {
				t.Errorf("dialog %+v", d)
			}
			if d.TargetID != s.PageTargetID || d.FrameID != s.FrameTree.Top.FrameID || d.SessionID != s.Pages[0].SessionID || s.PageState != messages.PageDialog {
				t.Errorf("dialog %+v on page %+v, %s", d, s.Pages[0], s.PageState)
			}
			if got := k.eval("", "1+1"); got != "2" {
				t.Errorf("a page that waits says %s", got)
			}
			k.respond(messages.DialogAnswer{Action: action})
			if got := k.eval("", "window.got"); got != want {
				t.Errorf("%s, %s: the page received %s, want %s", c.typ, action, got, want)
			}
		}
	}
}

// The bridge holds as many dialogs as there are frames that ask; natively Chrome
// closes the first and loses the second (C14).
func TestM7_TwoBridgedDialogsAtOnceAreBothAnswerable(t *testing.T) {
	t.Parallel()
	k := setup(t).task("m7", bridged)
	k.site.Set("/three", `<title>/three</title><iframe src="http://b.test/prompt"></iframe><iframe src="http://c.test/prompt"></iframe><script>function ask(){ window.got = prompt('top') }</script>`)
	k.goTo("http://a.test/three")
	var frames [2]messages.FrameNode
	k.await("both frames", func(s *messages.Snapshot) bool {
		if s.FrameTree == nil || len(s.FrameTree.Children) != 2 {
			return false
		}
		frames = [2]messages.FrameNode(s.FrameTree.Children)
		return frames[0].SessionID != "" && frames[1].SessionID != "" && strings.HasSuffix(frames[0].URL, "/prompt") && strings.HasSuffix(frames[1].URL, "/prompt")
	})
	where := []messages.FrameID{frames[0].FrameID, frames[1].FrameID, ""}
	for i, f := range where {
		k.later(f, "ask()")
		k.awaitPending(i + 1)
	}
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"})
	wantCode(t, err, messages.CodeDialogAmbiguous) // D11
	for _, i := range []int{1, 2, 0} {
		id := messages.NewDialogID(uint64(i + 1))
		k.respond(messages.DialogAnswer{Action: "accept", PromptText: text(string(id)), DialogID: id})
		if got := k.eval(where[i], "window.got"); got != strconv.Quote(string(id)) {
			t.Errorf("%d: the frame received %s", i, got)
		}
	}
}

func TestBridge_WithNobodyLeftThePageGetsWhatDismissingGives(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	for name, links := range map[string]func(*messages.TaskSpec){"with an anchor": func(*messages.TaskSpec) {}, "without": oneLink} {
		t.Run(name, func(t *testing.T) {
			askingPages(r)
			k := &task{r, r.task("nobody", r.through(p), bridged, links).id}
			l := places["a frame of another process"](k)
			if name == "with an anchor" {
				k.links(p)
			}
			k.runs(l, "setTimeout(() => ask('prompt')); 0")
			d := k.dialog()
			p.KillAll()
			if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost || c.Path != "bridge" {
				t.Errorf("record %+v", c)
			}
			k.reconnected(1)
			k.await("the frame", func(s *messages.Snapshot) bool { return l.grown(s.FrameTree) })
			k.wantGot(l, "null")
			if s := k.snapshot(); s.PageState != messages.PageOK {
				t.Errorf("page state %s", s.PageState)
			}
			if err := r.node.StopTask(r.ctx, k.id); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A client that comes while a page waits is told of it: a bridged dialog is not
// lost with an anchor that came late (natively it is).
func TestBridge_AnAnchorThatCameLateHasTheDialogToo(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	askingPages(r)
	k := r.task("late", r.through(p), bridged)
	l := places["the page"](k)
	_, anchor := k.links(p)
	k.later("", "ask('prompt')")
	d := k.dialog()
	k.fells(p, anchor)
	primary, _ := k.links(p)
	k.fells(p, primary)
	k.reconnected(1)
	if c := k.accept("late"); c.ID != d.ID {
		t.Errorf("record %+v", c)
	}
	k.wantGot(l, `"late"`)
}

func TestBridge_AutoTurnsToItWhenDialogsAreClosedUnasked(t *testing.T) {
	t.Parallel()
	k := setup(t).task("auto")
	k.goTo("http://a.test/oopif-prompt")
	k.frame("/prompt")
	if s := k.snapshot(); s.Connection.Bridge != "native" || s.Pages[0].Bridge != "native" {
		t.Errorf("at first %+v, %+v", s.Connection, s.Pages)
	}
	w, session := k.witness(k.snapshot().PageTargetID)
	k.later("", "window.got = confirm('eaten')")
	w.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
	w.Must(session, "Page.handleJavaScriptDialog", map[string]any{"accept": false})
	k.await("the bridge", func(s *messages.Snapshot) bool { return s.Connection.Bridge == "on" && s.Pages[0].Bridge == "on" })
	f := k.frame("/prompt").FrameID
	for i, where := range []messages.FrameID{"", f} {
		// In the documents that were there before.
		k.later(where, "window.got = prompt('kept', 'd')")
		if d := k.dialog(); d.Path != "bridge" {
			t.Errorf("%d: %+v", i, d)
		}
		k.accept("yes")
		if got := k.eval(where, "window.got"); got != `"yes"` {
			t.Errorf("%d: received %s", i, got)
		}
	}
	if n := k.log.lines("level=WARN", "bridge", "dialog=d-1"); n != 1 {
		t.Errorf("%d lines of it", n)
	}
	if n := len(w.Events(chromiumtest.On(session, "Page.javascriptDialogOpening"))); n != 1 {
		t.Errorf("%d native dialogs", n)
	}
}

// What a page can see of the functions is what it sees of the real ones.
func TestD21_TheFunctionsLookAndConvertLikeTheRealOnes(t *testing.T) {
	t.Parallel()
	const look = `JSON.stringify(['alert', 'confirm', 'prompt'].map(name => {
		const f = window[name], d = Object.getOwnPropertyDescriptor(window, name), thrown = f => { try { f(); return 'none' } catch (e) { return e.constructor.name } };
		return [f.name, f.length, String(f), f.toString(), Function.prototype.toString.call(f), 'prototype' in f, Object.keys(f), Reflect.ownKeys(f).map(String),
			d.writable, d.enumerable, d.configurable, typeof f, Object.prototype.toString.call(f), Object.getPrototypeOf(f) === Function.prototype,
			thrown(() => new f()), thrown(() => f.call({})), thrown(() => f.call(1)), thrown(() => f(Symbol())), thrown(() => f({toString() { throw new RangeError() }})),
			Function.prototype.toString + '', Function.prototype.toString.name, Function.prototype.toString.length]
	}))`
	// Said in turn, and what of it arrives.
	const say = `(async () => {
		const said = [[], [undefined], [null], [{}], [['a', 1]], [{toString: () => 'str', valueOf: () => 1}], [1.5], [true], ['a\u0000b\u2028c'], ['\ud800x'], ['x'.repeat(1 << 20)], ['y'.repeat(20000)]];
		for (const args of said) { alert(...args); confirm(...args); prompt(...args) }
		for (const value of [undefined, null, '', {}, 'z'.repeat(20000)]) prompt('m', value);
		window.types = [typeof alert(), typeof confirm(), typeof prompt()]; window.said = true })(); 0`
	type seen struct {
		look    string
		dialogs [][3]string
	}
	var native, bridge seen
	r := setup(t)
	for way, s := range map[string]*seen{messages.BridgeOff: &native, messages.BridgeOn: &bridge} {
		k := r.task(messages.TaskID("d21-"+way), func(s *messages.TaskSpec) { s.Bridge = way }, policy(messages.PolicyAutoAccept))
		k.goTo("http://a.test/plain")
		s.look = k.eval("", look)
		stream := k.watch()
		k.eval("", say)
		stream.until("the last dialog", func(e messages.Event) bool { return e.Closed != nil && e.Closed.ID == "d-44" })
		for _, e := range stream.seen {
			if e.Dialog != nil {
				s.dialogs = append(s.dialogs, [3]string{e.Dialog.Type, e.Dialog.Message, e.Dialog.DefaultPrompt})
			}
		}
		if got := k.eval("", "window.types"); got != `["undefined","boolean","string"]` {
			t.Errorf("%s: types %s", way, got)
		}
	}
	if native.look != bridge.look {
		t.Errorf("native\n%s\nbridge\n%s", native.look, bridge.look)
	}
	if len(native.dialogs) != len(bridge.dialogs) {
		t.Fatalf("%d and %d dialogs", len(native.dialogs), len(bridge.dialogs))
	}
	for i := range native.dialogs {
		for j := range 3 {
			if n, b := native.dialogs[i][j], bridge.dialogs[i][j]; n != b {
				t.Errorf("dialog %d (%s): native %d bytes %.40q, bridge %d bytes %.40q", i, native.dialogs[i][0], len(n), n, len(b), b)
			}
		}
	}
}
