package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/chaos/plan"
	"holdfast/internal/gateway"
	"holdfast/messages"
)

// maxTaskClients is how many clients of a task a plan connects at most.
const maxTaskClients = 4

// noticed is how long the node may take to notice that a client is gone without a word.
const noticed = 10 * time.Second

// actOfClient does what a step says of the clients of a task.
func (w *world) actOfClient(t *task, s plan.Step) {
	live := t.clients()
	var one *cdpClient
	if len(live) > 0 {
		one = live[s.Pick[0]%uint32(len(live))]
	}
	switch {
	case s.Kind == plan.ClientEvent:
		w.say(t, s)
	case s.Kind == plan.ClientPopup:
		w.clientPopup(t, s, one)
	case s.Kind == plan.ClientConnect, one == nil: // who does something has to come first
		if len(live) < maxTaskClients && t.running {
			w.connect(t, s.Pick[1])
		}
	case s.Kind == plan.ClientCommand:
		for _, c := range live {
			c.evaluate(s.Count, s.Pick[1])
		}
	case s.Kind == plan.ClientOpen:
		switch {
		case s.Count == 5:
			one.dispose()
		case len(t.pages()) < 5:
			one.open(s.Pick[1])
		}
	case s.Kind == plan.ClientAnswer:
		w.clientsAnswer(t, s)
	case s.Kind == plan.ClientDrop:
		w.clientDrop(t, s, live)
	case s.Kind == plan.ClientKill:
		one.evaluate(s.Count, s.Pick[1])
		one.kill()
	case s.Kind == plan.ClientHalfOpen:
		w.clientHalfOpen(one)
	case s.Kind == plan.ClientLeave:
		one.leave()
	}
}

// clients are those of a task that are to live.
func (t *task) clients() (list []*cdpClient) {
	for _, c := range t.w.clients {
		if c.t == t && c.isLive() {
			list = append(list, c)
		}
	}
	return list
}

func (c *cdpClient) isLive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.isOver && c.gone == ""
}

// evaluate runs n probes on sessions of the client.
func (c *cdpClient) evaluate(n int, pick uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := slices.Sorted(maps.Keys(c.sessions))
	for i := range n {
		if len(ids) == 0 {
			return
		}
		id := ids[(pick+uint32(i))%uint32(len(ids))]
		probe, expression := c.w.probes.new(messages.FrameID(c.sessions[id].target))
		c.send(id, "Runtime.evaluate", fmt.Sprintf(`{"expression":%q,"returnByValue":true}`, expression), func(m clientMessage) { c.probed(probe, m) })
	}
}

// probed takes the outcome of a probe.
func (c *cdpClient) probed(n int, m clientMessage) {
	c.w.probes.mu.Lock()
	defer c.w.probes.mu.Unlock()
	p := c.w.probes.list[n]
	var r struct{ Result struct{ Value *int } }
	switch {
	case m.Error != nil:
		if p.isUnsent = m.Error.Data.Sent != nil && !*m.Error.Data.Sent; p.isUnsent {
			c.w.count(&c.w.tally.unsent)
		} else {
			c.w.count(&c.w.tally.lost)
		}
	case json.Unmarshal(m.Result, &r) != nil || r.Result.Value == nil || *r.Result.Value != n:
		c.w.violate("client %s: the reply to probe %d is %s", c.name, n, m.Result)
	case len(p.ran) != 1:
		c.w.violate("client %s: probe %d succeeded and ran %d times", c.name, n, len(p.ran))
	default:
		c.w.count(&c.w.tally.replies)
	}
}

// open opens a page.
func (c *cdpClient) open(pick uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.tabs++ // whether a tab was made whose reply was lost is for the task to say
	if pick%2 == 0 {
		c.openIn("", pick)
		return
	}
	isOwn := pick%4 == 1
	c.send("", "Target.createBrowserContext", fmt.Sprintf(`{"disposeOnDetach":%v}`, isOwn), func(m clientMessage) {
		var made struct {
			ID string `json:"browserContextId"`
		}
		if m.Error == nil && json.Unmarshal(m.Result, &made) == nil {
			c.contexts[made.ID] = isOwn
			c.openIn(made.ID, pick)
		}
	})
}

// openIn opens a page in a browser context; "" is the task's. The lock is held.
func (c *cdpClient) openIn(context string, pick uint32) {
	own := c.t.own
	in := ""
	if context != "" {
		in = fmt.Sprintf(`,"browserContextId":%q`, context)
	}
	c.send("", "Target.createTarget", fmt.Sprintf(`{"url":%q%s}`, address(pick), in), func(m clientMessage) {
		var made struct{ TargetID messages.TargetID }
		if m.Error == nil && json.Unmarshal(m.Result, &made) == nil {
			c.w.mu.Lock()
			own[made.TargetID] = true // read by the driver only when all is quiet
			c.w.mu.Unlock()
		}
	})
}

// dispose ends one of the client's browser contexts, with whatever its pages show.
func (c *cdpClient) dispose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.contexts)) {
		c.send("", "Target.disposeBrowserContext", fmt.Sprintf(`{"browserContextId":%q}`, id), func(m clientMessage) {
			if m.Error == nil {
				c.contexts[id] = true // it is to be gone
			}
		})
		return
	}
}

// kill ends the client's connection without a word.
func (c *cdpClient) kill() {
	c.mu.Lock()
	c.gone = "it was killed"
	c.mu.Unlock()
	c.w.trace.say("%s: client %s is killed", c.t.id, c.name)
	_ = c.line.Close()
	c.w.fault(0)
}

// leave has the client close its browser, which ends its connection alone.
func (c *cdpClient) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.send("", "Browser.close", `{}`, nil)
	c.gone = "it has closed its browser"
	c.w.trace.say("%s: client %s leaves", c.t.id, c.name)
}

// clientHalfOpen has a client neither read nor answer any more. Where a relay stands before it, only
// a ping finds out; else the kernel does, whose part the driver takes.
func (w *world) clientHalfOpen(c *cdpClient) {
	c.mu.Lock()
	c.gone = "it was half-open"
	c.mu.Unlock()
	w.trace.say("%s: client %s is half-open, behind a relay %v", c.t.id, c.name, c.isPing)
	c.line.stall(c.isPing)
	w.last(noticed, func() {
		synctest.Wait()
		if c.isPing && c.isListed() && !c.mayEnd(gateway.CloseEnded) { // else it is told so, in vain
			w.violate("client %s is half-open and on the task after %s", c.name, noticed)
		}
		_ = c.line.Close()
	})
}

// isListed says whether the node takes the client to be on its task.
func (c *cdpClient) isListed() bool {
	return slices.ContainsFunc(c.w.gateway.Clients(c.t.id).Clients, func(l messages.Client) bool { return l.Name == c.name })
}

// clientDrop cuts the link under commands of every client: that were carried out, that wait to be
// read, or that come afterwards.
func (w *world) clientDrop(t *task, s plan.Step, live []*cdpClient) {
	primary, anchor, _ := t.host.links(t.index)
	if primary == nil {
		return
	}
	w.fault(0)
	switch s.Pick[1] % 3 {
	case 0:
		primary.DelayReplies("Runtime.evaluate", time.Second)
	case 1:
		primary.Stall()
	}
	for _, c := range live {
		c.evaluate(s.Count, s.Pick[2])
	}
	synctest.Wait()
	w.reset(primary)
	if s.Pick[0]%3 == 0 {
		w.reset(anchor)
	}
	for _, c := range live {
		c.evaluate(s.Count, s.Pick[2])
	}
}

// clientPopup has a page open a popup, and a client die while it is held for it: the popup runs at
// once, and not when the node's patience with its clients is over.
func (w *world) clientPopup(t *task, s plan.Step, one *cdpClient) {
	p, ok := t.page(s.Pick[0])
	if !ok || len(t.pages()) > 4 {
		return
	}
	f, ok := t.frame(p.Target, s.Pick[1], func(f chaos.Frame) bool { return !f.IsLoading && !f.IsHanging })
	if !ok {
		return
	}
	dies, isCalm := one != nil && s.Count%2 == 0, w.calm && len(w.outages) == 0
	if dies {
		one.line.stall(one.isPing) // so that it does not resume what it is told of
	}
	id := t.host.now().OpenPopup(f.ID, address(s.Pick[2]))
	w.trace.say("%s opens", w.trace.name("p", string(id)))
	synctest.Wait()
	if !dies {
		return
	}
	one.kill()
	synctest.Wait()
	isAwaited := slices.ContainsFunc(w.clients, func(c *cdpClient) bool { // another one resumes it, in its time
		return c.isAuto && c.isLive() && c.t.host == t.host && (c.t == t || c.t.plan.Scope == messages.ScopeBrowser)
	})
	for _, p := range t.host.now().Pages() {
		if p.Target == id && p.IsHeld && isCalm && !isAwaited {
			w.violate("client %s was killed, and %s is held still", one.name, w.trace.name("p", string(id)))
		}
	}
}

// say has a page say something. Its clients hear it, each session that listens once.
func (w *world) say(t *task, s plan.Step) {
	p, ok := t.page(s.Pick[0])
	if !ok {
		return
	}
	frame, ok := t.frame(p.Target, 0, func(f chaos.Frame) bool { return f.ID == messages.FrameID(p.Target) })
	isAble := ok && !frame.IsHanging && !frame.IsPaused && !frame.IsLoading && !p.IsFrozen && !p.IsHeld
	isCalm := w.calm && len(w.outages) == 0 && isAble
	w.said++
	text := fmt.Sprintf(sayForm, w.said, p.Target)
	type listener struct {
		c   *cdpClient
		key string
	}
	var listeners []listener
	for _, c := range w.clients {
		c.mu.Lock()
		for id, x := range c.sessions {
			if x.target == p.Target && x.hears && c.gone == "" {
				listeners = append(listeners, listener{c, string(id) + " " + text})
			}
		}
		c.mu.Unlock()
	}
	t.host.now().LogError(messages.FrameID(p.Target), text)
	synctest.Wait()
	for _, l := range listeners {
		l.c.mu.Lock()
		heard := l.c.heard[l.key]
		l.c.mu.Unlock()
		if isCalm && heard != 1 {
			w.autopsy()
			w.violate("client %s has heard %q %d times", l.c.name, l.key, heard)
		}
	}
}

// clientsAnswer has every client that was told of dialogs answer the first of each page, at once.
func (w *world) clientsAnswer(t *task, s plan.Step) {
	isAsked := func() bool {
		return slices.ContainsFunc(t.clients(), func(c *cdpClient) bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, x := range c.sessions {
				if len(x.asks) > 0 {
					return true
				}
			}
			return false
		})
	}
	if !isAsked() {
		w.openDialog(t, s.Pick[1])
		w.quiet()
	}
	for _, c := range t.clients() {
		c.answer(s.Pick[2])
	}
	if s.Count%2 == 0 { // and an agent
		if d, ok := t.shown(s.Pick[0]); ok {
			w.answer(t, d, 0, s.Pick[2])
		}
	}
}

// clientAnswer is an answer of a client. It names no dialog (C1).
type clientAnswer struct {
	given
	by    *cdpClient
	page  messages.TargetID
	from  time.Time
	until time.Time // of its outcome; zero while it has none
	// isConfirmed says that the client was told that its answer counts.
	isConfirmed bool
	// isUnnamed says that it may have met a beforeunload, which no step raises by name.
	isUnnamed bool
}

func (c *cdpClient) answer(pick uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		s := c.sessions[id]
		if len(s.asks) == 0 {
			continue
		}
		a := &clientAnswer{by: c, page: s.target, from: time.Now(), given: given{accept: pick%2 == 0}, isUnnamed: slices.Contains(s.asks, "")}
		params := fmt.Sprintf(`{"accept":%v}`, a.accept)
		if pick%3 > 0 {
			text := fmt.Sprintf("by client %s", c.name)
			a.text, params = &text, fmt.Sprintf(`{"accept":%v,"promptText":%q}`, a.accept, text)
		}
		d := &c.w.dialogs
		d.mu.Lock()
		d.byClients = append(d.byClients, a)
		d.mu.Unlock()
		what := strings.Join(s.asks, ", ")
		c.send(id, "Page.handleJavaScriptDialog", params, func(m clientMessage) {
			c.w.trace.say("%s: client %s answers %q: %+v", c.t.id, c.name, what, m.Error)
			d.mu.Lock()
			defer d.mu.Unlock()
			a.until, a.isConfirmed = time.Now(), m.Error == nil
			if a.isConfirmed {
				c.w.count(&c.w.tally.answered)
			} else {
				c.w.count(&c.w.tally.late)
			}
			if a.isConfirmed && c.dialogs == "observe" {
				c.w.violate("client %s observes dialogs, and its answer counts", c.name)
			}
		})
	}
}
