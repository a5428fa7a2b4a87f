package sim

import (
	"fmt"
	"slices"

	"github.com/coder/websocket"

	"holdfast/chaos"
	"holdfast/internal/gateway"
	"holdfast/messages"
)

// clientTally counts what the clients of a run have met: a run in which they meet nothing shows
// nothing.
type clientTally struct {
	connected, replies, lost, unsent, heard, answered, late, ended, gone int
}

func (c *clientTally) add(o clientTally) {
	c.connected += o.connected
	c.replies += o.replies
	c.lost += o.lost
	c.unsent += o.unsent
	c.heard += o.heard
	c.answered += o.answered
	c.late += o.late
	c.ended += o.ended
	c.gone += o.gone
}

// count counts under the world's lock.
func (w *world) count(n *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

func (c clientTally) String() string {
	return fmt.Sprintf("%d clients, %d of them ended with their task or browser and %d by the plan; %d replies to probes, %d lost with a link and %d never sent; %d times a page was heard; %d answers to dialogs that counted, and %d that did not",
		c.connected, c.ended, c.gone, c.replies, c.lost, c.unsent, c.heard, c.answered, c.late)
}

// isEmpty says whether something was not met at all. Which of two answers at once counts is not
// the plan's to say, so they are one thing.
func (c clientTally) isEmpty() bool {
	return slices.Contains([]int{c.connected, c.replies, c.lost, c.unsent, c.heard, c.answered + c.late, c.ended, c.gone}, 0)
}

// lookAtClients notes whose every page is or was.
func (w *world) lookAtClients() {
	if !w.plan.HasClients {
		return
	}
	for _, t := range w.tasks {
		if t.plan.Scope != messages.ScopeOwn {
			continue // it has every page, those of the others included
		}
		for id := range t.own {
			if w.whose[id] == nil {
				w.whose[id] = map[messages.TaskID]bool{}
			}
			w.whose[id][t.id] = true
		}
	}
}

// checkClients holds the gateway to what is true of its clients at every moment: none sees a page of
// another task, none is ended but with what it is on, and one that has gone has left.
func (w *world) checkClients() {
	for _, c := range w.clients {
		c.mu.Lock()
		met := c.met
		c.met = map[messages.TargetID]bool{}
		isOver, gone, code := c.isOver, c.gone, c.code
		c.mu.Unlock()
		for id := range met {
			if c.isForeign(id) {
				w.violate("client %s of %s is told of %s, which is another task's", c.name, c.t.id, id)
			}
		}
		switch {
		case !isOver || c.isEnded:
			continue
		case gone == "" && !c.mayEnd(code):
			w.violate("client %s of %s was ended with %d", c.name, c.t.id, code)
		case c.isListed():
			w.violate("client %s of %s has ended and is on it", c.name, c.t.id)
		}
		c.isEnded = true
		if gone == "" {
			w.count(&w.tally.ended)
		} else {
			w.count(&w.tally.gone)
		}
	}
	for _, t := range w.tasks {
		live := t.clients()
		if len(live) > 1 && slices.ContainsFunc(live, func(c *cdpClient) bool { return c.isSole }) {
			w.violate("%s has %d clients, and one of them exclusively", t.id, len(live))
		}
	}
	w.dialogs.checkClients()
}

// isForeign says whether a target is a page of another task's, and never was one of the client's.
func (c *cdpClient) isForeign(id messages.TargetID) bool {
	whose := c.w.whose[id]
	return len(whose) > 0 && !whose[c.t.id] && c.t.plan.Scope != messages.ScopeBrowser
}

// mayEnd says whether the gateway may end the client's connection: with its task or browser.
func (c *cdpClient) mayEnd(code websocket.StatusCode) bool {
	s := c.t.snapshot()
	return code == gateway.CloseEnded && (c.lives != c.t.lives || s == nil || !s.Active || c.t.mayLose != "")
}

// clientsDiff lists what the clients of a world at rest have not been told, or have too much.
func (w *world) clientsDiff() (list []string) {
	for _, t := range w.tasks {
		for _, c := range t.clients() {
			for _, d := range c.diff() {
				list = append(list, fmt.Sprintf("client %s of %s: %s", c.name, t.id, d))
			}
		}
		if d := t.leftByClients(); d != "" {
			list = append(list, d)
		}
		list = append(list, t.contextsLeft()...)
	}
	return list
}

func (c *cdpClient) diff() (list []string) {
	t := c.t
	if !t.running || c.lives != t.lives {
		return []string{"is connected, and what it was on has ended"}
	}
	frames := map[messages.TargetID]chaos.Frame{}
	var pages []chaos.Page
	for _, p := range t.host.now().Pages() {
		if t.own[p.Target] {
			pages = append(pages, p)
			for _, f := range t.host.now().FramesOf(p.Target) {
				if f.IsOOPIF || f.Parent == "" {
					frames[f.Target] = f
				}
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range pages {
		if c.sessionOn(p.Target) == "" && !c.w.detached[p.Target] {
			list = append(list, fmt.Sprintf("has no session on %s", c.w.trace.name("p", string(p.Target))))
		}
	}
	for _, s := range c.sessions {
		if _, ok := frames[s.target]; !ok {
			list = append(list, fmt.Sprintf("has a session on %s, which is not there", s.target))
		}
	}
	for id, o := range c.pending {
		// What stands still replies when it continues.
		if f, ok := frames[o.target]; !o.isExcused && (!ok || !f.IsHanging && !f.IsPaused && !f.IsLoading) {
			list = append(list, fmt.Sprintf("%s %d on %s has no outcome", o.method, id, o.target))
		}
	}
	slices.Sort(list)
	return list
}

// leftByClients says what is on the task's link of clients that are gone: each has a browser session
// there, and what they have in common has one, which stays for contexts that outlive their client.
func (t *task) leftByClients() string {
	primary, _, _ := t.host.links(t.index)
	if primary == nil || !t.w.plan.HasClients {
		return ""
	}
	want, isShared := 0, false
	there := t.host.now().Contexts()
	for _, c := range t.w.clients {
		c.mu.Lock()
		if c.t == t && !c.isOver {
			want, isShared = want+1, true
		}
		for id, isOwn := range c.contexts {
			isShared = isShared || c.t == t && c.lives == t.lives && !isOwn && slices.Contains(there, id)
		}
		c.mu.Unlock()
	}
	if isShared {
		want++
	}
	if got := primary.BrowserSessions(); got != want {
		return fmt.Sprintf("%s has %d sessions of the browser for its clients, want %d", t.id, got, want)
	}
	return ""
}

// contextsLeft are the browser contexts of clients that were to end with these, or with their task.
// A page that two tasks have is not closed under a dialog, and keeps its context.
func (t *task) contextsLeft() (list []string) {
	isShared := slices.ContainsFunc(t.w.tasks, func(o *task) bool { return o.host == t.host && o.plan.Scope == messages.ScopeBrowser })
	if !t.w.plan.HasClients || isShared {
		return nil
	}
	there := t.host.now().Contexts()
	for _, c := range t.w.clients {
		c.mu.Lock()
		for id, isOwn := range c.contexts {
			if c.t == t && c.isOver && (isOwn || c.lives != t.lives) && slices.Contains(there, id) {
				list = append(list, fmt.Sprintf("%s has the context %s of client %s still", t.id, id, c.name))
			}
		}
		c.mu.Unlock()
	}
	slices.Sort(list)
	return list
}

// excuseClients lets commands of a task's clients have no outcome: the browser loses a reply.
func (w *world) excuseClients(t *task, method string) {
	for _, c := range t.clients() {
		c.mu.Lock()
		for _, o := range c.pending {
			o.isExcused = o.isExcused || o.method == method
		}
		c.mu.Unlock()
	}
}

// endClients ends every client that is there still.
func (w *world) endClients() {
	for _, c := range w.clients {
		if c.line != nil {
			c.mu.Lock()
			if c.gone == "" {
				c.gone = "the end"
			}
			c.mu.Unlock()
			_ = c.line.Close()
		}
	}
}

// isOfClient says whether a client of a task with that page gave the answer.
func (d *dialogs) isOfClient(o *dialog, r chaos.DialogResult) bool {
	return slices.ContainsFunc(d.byClients, func(a *clientAnswer) bool {
		return a.page == o.fake.Page() && (a.until.IsZero() || !a.until.Before(o.raised)) && a.got(o, r)
	})
}

// checkClients holds the gateway to one answer for each dialog: of clients and agents who were told
// that theirs counts there are no more than dialogs that were answered. Where an outcome was cut
// off this cannot be told, nor of what no step has raised.
func (d *dialogs) checkClients() {
	d.mu.Lock()
	defer d.mu.Unlock()
	confirmed := map[messages.TargetID]int{}
	for _, a := range d.byClients {
		if a.isConfirmed && !a.isUnnamed {
			confirmed[a.page]++
		}
	}
	for page, n := range confirmed {
		answered, isClear := 0, true
		for _, o := range d.in {
			if o.fake.Page() != page {
				continue
			}
			r, over := o.fake.Result()
			isClear = isClear && !o.cut && len(o.mayBeLost) == 0
			n += o.confirmed
			if over && r.By == chaos.ClosedByAnswer {
				answered++
			}
		}
		if isClear && n > answered {
			d.w.violate("%d were told that their answer to a dialog of %s counts, and %d dialogs were answered", n, page, answered)
		}
	}
}
