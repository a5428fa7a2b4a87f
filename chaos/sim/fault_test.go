package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"holdfast/chaos"
	"holdfast/chaos/plan"
	"holdfast/messages"
)

func mustUnmarshal(raw []byte, v any) {
	if err := json.Unmarshal(raw, v); err != nil {
		panic(err)
	}
}

// inject does harm.
func (w *world) inject(t *task, s plan.Step) {
	b := t.host.now()
	primary, anchor, all := t.host.links(t.index)
	w.fault(0)
	switch s.Kind {
	case plan.ResetPrimary:
		w.reset(primary)
	case plan.ResetAnchor:
		w.reset(anchor)
	case plan.ResetBoth:
		w.reset(all...)
	case plan.ResetAll:
		w.reset(b.Connections()...)
	case plan.CleanClose:
		if c := pickLink(s, primary, anchor); c != nil {
			w.cleanClose(c, s.Count)
		}
	case plan.HalfOpen:
		if c := pickLink(s, primary, anchor); c != nil {
			w.halfOpen(t, c, 10*time.Second)
		}
	case plan.Outage:
		w.outage(t.host, s.For)
	case plan.LateEnd:
		if c := pickLink(s, primary, anchor); c != nil {
			w.halfOpen(t, c, max(s.For, 5*time.Second))
		}
	case plan.Stall:
		if c := pickLink(s, primary, anchor); c != nil {
			w.stall(t, c, min(s.For, 4*time.Second))
		}
	case plan.DialRefused:
		w.shut(t, refusing, s, primary)
	case plan.DialBlackHole:
		w.shut(t, swallows, s, primary)
	case plan.DialError:
		w.shut(t, failing, s, primary)
	case plan.DialSlow:
		w.shut(t, dawdling, s, primary)
	case plan.Garbage:
		if c := pickLink(s, primary, anchor); c != nil {
			w.garbage(c, s)
		}
	case plan.Oversized:
		if primary != nil {
			primary.SendRaw([]byte(`{"method":"Page.frameNavigated","params":{"text":"` + strings.Repeat("x", messages.MaxCDPMessage) + `"}}`))
		}
	case plan.MissingReply, plan.DuplicateReply, plan.DelayedReply:
		w.oddReply(t, s, primary)
	case plan.CrashPage:
		if p, ok := t.page(s.Pick[0]); ok && p.Dialogs == 0 && canCrash(b) {
			b.Crash(p.Target)
		}
	case plan.CrashFrame:
		if p, ok := t.page(s.Pick[0]); ok && canCrash(b) {
			if f, ok := t.frame(p.Target, s.Pick[1], func(f chaos.Frame) bool { return f.IsOOPIF && !f.HasDialog }); ok {
				b.Crash(f.Target)
			}
		}
	case plan.SlowPage:
		w.slowPage(t, s, primary)
	case plan.Spin:
		if p, ok := t.page(s.Pick[0]); ok && p.Dialogs == 0 {
			b.Spin(p.Target)
		}
	case plan.Detach:
		w.detach(t, s)
	case plan.SwapInAttach:
		w.swapInAttach(t, s, primary)
	case plan.DialogBurst:
		w.burst(t, s)
	case plan.DropInCall:
		w.dropInCall(t, s, primary)
	case plan.DropInAnswer:
		w.dropInAnswer(t, s, primary, anchor)
	case plan.ActorPanic:
		w.breakActor(t, s)
	case plan.BrowserRestart:
		w.restartBrowser(t.host)
	case plan.HeldPopup:
		w.heldPopup(t, s, primary)
	case plan.Poison:
		w.poison(t, s)
	case plan.TwoDialogs:
		w.twoDialogs(t, s)
	case plan.DoomedDialog:
		w.doom(t, s)
	case plan.BeforeUnload:
		if p, ok := t.page(s.Pick[0]); ok && p.Dialogs == 0 {
			b.ArmBeforeUnload(messages.FrameID(p.Target))
			w.navigate(t, s)
		}
	default:
		w.violate("nobody knows how to do %s", s.Kind)
	}
}

// pickLink picks one of a task's links.
func pickLink(s plan.Step, primary, anchor *chaos.Conn) *chaos.Conn {
	if s.Pick[0]%3 == 0 && anchor != nil {
		return anchor
	}
	return primary
}

// reset breaks links without a word.
func (w *world) reset(links ...*chaos.Conn) {
	for _, c := range links {
		if c != nil && !w.zombie(c) {
			w.trace.say("reset link %d of %s", c.Number(), c.Host())
			c.Drop()
		}
	}
}

func (w *world) cleanClose(c *chaos.Conn, n int) {
	code := []websocket.StatusCode{1000, 1001, 1009, 1006}[n%4]
	w.trace.say("link %d of %s closes with %d", c.Number(), c.Host(), code)
	if code == 1006 { // which stands for an end without a close frame
		c.Drop()
		return
	}
	w.closers.Go(func() { c.Close(code, "as planned") })
}

// outage has a browser drop every link and take none for a while: a gateway that is
// deployed, or a tunnel that is down. Its pages and dialogs live on.
func (w *world) outage(h *host, d time.Duration) {
	w.trace.say("browser %d takes no connections for %s", h.index, d)
	for _, t := range w.tasks {
		if t.host == h {
			h.shut(t.index, refusing, 0)
		}
	}
	w.reset(h.now().Connections()...)
	w.last(d, func() {
		for _, t := range w.tasks {
			h.shut(t.index, open, 0)
		}
	})
}

// halfOpen silences a link for good. The node has to find out by itself; the
// browser notices even later, after d.
func (w *world) halfOpen(t *task, c *chaos.Conn, d time.Duration) {
	w.trace.say("link %d of %s goes silent", c.Number(), c.Host())
	c.Stall()
	w.dialogs.excuse(t, "its link went silent")
	w.last(d, func() {
		for _, x := range t.host.now().Connections() {
			if x == c {
				c.Drop()
			}
		}
		delete(w.zombies, c)
	})
	w.zombies[c] = true
}

func (w *world) stall(t *task, c *chaos.Conn, d time.Duration) {
	w.trace.say("link %d of %s stalls for %s", c.Number(), c.Host(), d)
	c.Stall()
	w.last(d, c.Resume)
}

// shut makes a task's dials fail for a while, and has it dial.
func (w *world) shut(t *task, m mode, s plan.Step, primary *chaos.Conn) {
	h := t.host
	h.shut(t.index, m, min(s.For, 4*time.Second))
	w.last(s.For, func() { h.shut(t.index, open, 0) })
	w.reset(primary)
}

// garbage sends what no browser sends. Eight frames of it in a row end a link.
func (w *world) garbage(c *chaos.Conn, s plan.Step) {
	for i := range s.Count {
		switch (s.Pick[1] + uint32(i)) % 6 {
		case 0:
			c.SendRaw([]byte("]]garbage[["))
		case 1:
			c.SendRaw([]byte(`{"id":1,"resu`))
		case 2:
			c.SendRaw([]byte(`{"method":"Page.javascriptDialogOpening","params":{"url":"","frameId":"nobody","message":"ghost","type":"alert","hasBrowserHandler":true,"defaultPrompt":""},"sessionId":"NOBODY"}`))
		case 3:
			c.SendRaw([]byte(`{"id":1000000007,"result":{}}`))
		case 4:
			c.SendRaw([]byte(`{"id":-5,"error":"not an object","sessionId":7}`))
		case 5:
			c.SendRaw([]byte(`{"method":"Target.attachedToTarget","params":{"sessionId":"X"},"sessionId":"NOBODY"}`))
		}
	}
}

// oddReply loses, doubles or delays the reply to one command of a caller.
func (w *world) oddReply(t *task, s plan.Step, primary *chaos.Conn) {
	p, ok := t.page(s.Pick[0])
	if !ok || primary == nil {
		return
	}
	method := []string{"Runtime.evaluate", t.answers(s), "Page.navigate"}[s.Pick[1]%3]
	switch s.Kind {
	case plan.MissingReply:
		primary.SwallowNextReply(method)
	case plan.DuplicateReply:
		primary.DuplicateNextReply(method)
	case plan.DelayedReply:
		primary.DelayReplies(method, min(s.For, 2*time.Second))
		w.last(s.For, func() { primary.DelayReplies(method, 0) })
	}
	w.trace.say("of %s on link %d", method, primary.Number())
	if s.Kind == plan.MissingReply {
		w.excuseClients(t, method)
	}
	switch method {
	case "Runtime.evaluate":
		// The probe's own outcome is no success when its reply is lost.
		w.evaluate(t, p.Target, messages.FrameID(p.Target), s.Pick[2])
	case "Page.navigate":
		w.navigate(t, s)
	default:
		w.answerOne(t, s)
	}
	// A browser that loses the reply to a question of the node's own is none.
	w.quiet()
	primary.SwallowNothing()
}

// answers is the command, or one of those, that answers the task's dialogs.
func (t *task) answers(s plan.Step) string {
	switch {
	case t.plan.Bridge != messages.BridgeOn:
		return "Page.handleJavaScriptDialog"
	case s.Pick[2]%2 == 0:
		return "Debugger.evaluateOnCallFrame"
	default:
		return "Debugger.resume"
	}
}

func (w *world) detach(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok || len(p.Sessions) == 0 {
		return
	}
	gone := p.Sessions[s.Pick[1]%uint32(len(p.Sessions))]
	w.trace.say("the browser detaches a session of %s", w.trace.name("p", string(p.Target)))
	t.host.now().Detach(gone.ID)
	w.detached[p.Target] = true // a client that had it has none, and is told so
}

// swapInAttach moves a frame between processes while its page is attached anew.
func (w *world) swapInAttach(t *task, s plan.Step, primary *chaos.Conn) {
	p, ok := t.page(s.Pick[0])
	if !ok {
		return
	}
	b := t.host.now()
	f, ok := t.frame(p.Target, s.Pick[1], isChild)
	if !ok {
		id := b.AddFrame(messages.FrameID(p.Target), "http://a.test/swap")
		f = chaos.Frame{ID: id}
	}
	w.reset(primary)
	for i := range s.Count + 2 {
		b.NavigateFrame(f.ID, fmt.Sprintf("http://%c.test/swap", 'a'+rune(i%2)))
	}
}

// burst opens many dialogs at once: one after the other in each page.
func (w *world) burst(t *task, s plan.Step) {
	for i, p := range t.pages() {
		if p.Dialogs > 0 || t.shared(p.Target) {
			continue
		}
		main := messages.FrameID(p.Target)
		for n := range s.Count {
			w.dialogs.raise(t.host.now(), main, s.Pick[0]+uint32(i+n))
		}
	}
}

// dropInCall cuts the link under a command that has been carried out.
func (w *world) dropInCall(t *task, s plan.Step, primary *chaos.Conn) {
	p, ok := t.page(s.Pick[0])
	if !ok || primary == nil {
		return
	}
	primary.DelayReplies("Runtime.evaluate", time.Second)
	w.evaluate(t, p.Target, messages.FrameID(p.Target), s.Pick[1])
	w.navigate(t, s)
	w.quiet()
	w.reset(primary)
}

// dropInAnswer cuts the link under an answer: after it has reached the page and before it
// was reported, or before it has reached it.
func (w *world) dropInAnswer(t *task, s plan.Step, primary, anchor *chaos.Conn) {
	if primary == nil {
		return
	}
	if s.Pick[0]%2 == 0 {
		primary.DelayReplies(t.answers(s), time.Second)
	} else {
		if _, ok := t.shown(s.Pick[0]); !ok {
			w.openDialog(t, s.Pick[1])
			w.quiet()
		}
		primary.Stall()
	}
	w.answerOne(t, s)
	synctest.Wait()
	w.dialogs.cut()
	w.reset(primary)
	if s.Pick[0]%4 < 2 {
		w.reset(anchor)
	}
}

// breakActor has one of the task's actors panic, and gives it occasion to.
func (w *world) breakActor(t *task, s plan.Step) {
	w.breaker.arm(string(t.id), s.Panic)
	primary, anchor, all := t.host.links(t.index)
	p, hasPage := t.page(s.Pick[0])
	if s.Panic.Actor == "supervisor" {
		t.mayLose = "its supervisor was broken"
		w.dialogs.excuse(t, "its supervisor was broken")
	}
	switch s.Panic.Phase {
	case "receive":
		switch {
		case s.Panic.Actor == "anchor" && hasPage:
			w.openDialog(t, s.Pick[1])
			if primary == nil { // none but the anchor hears of the dialog, and of its end
				w.dialogs.excuse(t, deafened)
			}
		case hasPage:
			t.host.now().Navigate(p.Target, address(s.Pick[1]))
		}
	default:
		switch s.Panic.Actor {
		case "supervisor":
			t.stop(s.Pick[0])
			w.quiet()
			t.start(s.Pick[1])
		case "browser", "frame":
			if s.Count%2 == 0 && s.Panic.Phase == "terminate" { // in an orderly end
				t.stop(s.Pick[0])
				w.checkStopped(t)
				t.start(s.Pick[1])
				break
			}
			w.reset(primary)
		case "anchor":
			if s.Count%2 == 0 && s.Panic.Phase == "terminate" {
				t.stop(s.Pick[0])
				w.checkStopped(t)
				t.start(s.Pick[1])
				break
			}
			w.reset(anchor)
		case "session":
			w.reset(all...)
		case "dialog":
			// It starts again only after a panic of another kind; the end of
			// the task is its usual end.
			t.stop(s.Pick[0])
			w.quiet()
			t.start(s.Pick[1])
		}
	}
	w.fault(0)
}

func (w *world) restartBrowser(h *host) {
	w.trace.say("browser %d is restarted", h.index)
	for _, t := range w.tasks {
		if t.host != h {
			continue
		}
		t.lives++
		w.dialogs.excuse(t, "its browser is no more")
		w.dialogs.excuseOpen(t, "its browser is no more")
		if t.plan.IsDirect {
			t.mayLose = "its browser is no more"
			w.fault(directPatience + 4*time.Second) // the last dial may take some
		}
	}
	h.restart()
}

// heldPopup loses the link while it holds a popup (C33).
func (w *world) heldPopup(t *task, s plan.Step, primary *chaos.Conn) {
	p, ok := t.page(s.Pick[0])
	if !ok || primary == nil || len(t.pages()) > 4 {
		return
	}
	primary.Stall()
	id := t.host.now().OpenPopup(messages.FrameID(p.Target), address(s.Pick[1]))
	w.trace.say("%s is held", w.trace.name("p", string(id)))
	synctest.Wait()
	w.reset(primary)
}

// poison removes the frame of an open dialog (C15).
func (w *world) poison(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok || p.Dialogs > 0 || t.shared(p.Target) {
		return
	}
	// An answer that is being sent when the frame is removed ends the browser, and cannot
	// be taken back (C15).
	if slices.ContainsFunc(t.host.now().Connections(), func(c *chaos.Conn) bool {
		return c.Host() == t.host.name(t.index) && c.IsStalled()
	}) {
		return
	}
	f, ok := t.frame(p.Target, s.Pick[1], func(f chaos.Frame) bool { return f.IsOOPIF && !f.IsHanging && !f.IsLoading })
	if !ok || !t.hearsParent(f) {
		return
	}
	d := w.dialogs.raise(t.host.now(), f.ID, s.Pick[2])
	w.quiet()
	w.dialogs.excuse(t, "its frame was removed")
	w.trace.say("%s is removed under %q", w.trace.name("f", string(f.ID)), d.message)
	t.host.now().RemoveFrame(f.ID)
}

// hearsParent says whether a frame's parent can remove it, and the task has a session there
// that reports it. A page that hangs reports no iframe to a new link, so what its iframes
// do among themselves is not reported.
func (t *task) hearsParent(f chaos.Frame) bool {
	b := t.host.now()
	for _, parent := range b.FramesOf(f.Page) {
		if parent.ID != f.Parent {
			continue
		}
		sessions := b.Sessions(parent.Target)
		return !parent.IsHanging && slices.ContainsFunc(b.Connections(), func(c *chaos.Conn) bool {
			return c.Host() == t.host.name(t.index) && slices.ContainsFunc(sessions, func(s chaos.Session) bool { return s.Conn == c.Number() })
		})
	}
	return false
}

// twoDialogs opens two at once on a page: the first is closed by the browser,
// the second out of reach (C14).
func (w *world) twoDialogs(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok || p.Dialogs > 0 || t.shared(p.Target) {
		return
	}
	f, ok := t.frame(p.Target, s.Pick[1], func(f chaos.Frame) bool { return f.IsOOPIF && !f.IsHanging && !f.IsLoading })
	if !ok {
		return
	}
	w.dialogs.raise(t.host.now(), messages.FrameID(p.Target), s.Pick[2])
	w.dialogs.raise(t.host.now(), f.ID, s.Pick[2]+1)
	w.dialogs.excuse(t, "two at once")
}

// slowPage opens a tab whose renderer takes its time to start. Half of them are met by a
// link that comes up meanwhile.
func (w *world) slowPage(t *task, s plan.Step, primary *chaos.Conn) {
	t.host.now().NewSlowPage(address(s.Pick[0]), min(s.For, 4*time.Second))
	if s.HasDialog {
		w.reset(primary)
	}
}
