package chaos

import (
	"slices"
	"time"

	"holdfast/messages"
)

// place says where Chrome handles a command, and so what can hold it up
// (C16 and the table of section 3).
type place int

const (
	// inBrowser always answers.
	inBrowser place = iota
	// inRenderer waits for the renderer's main thread: not under a dialog, in
	// a busy loop or after a crash.
	inRenderer
	// onAttach is Target.setAutoAttach on a target: like inRenderer, but a
	// crashed target answers.
	onAttach
	// inputEvent is dropped, and answered, under a dialog and after a crash;
	// only a busy loop holds it up. That is the classifier of C24.
	inputEvent
)

// proc is a renderer process. Frames of one site in one group of pages that
// opened each other share one.
type proc struct {
	site       string
	group      *group
	contexts   int // execution contexts made so far
	isBusy     bool
	isStarting bool // runs nothing yet
	isCrashed  bool
	dialogs    int // open dialogs that its frames raised
	work       []work
	hasInput   bool   // of work; may still say so once the last of it has run
	isUnbroken bool   // runs an expression that stops in no debugger
	pause      *pause // a script that waits in the debugger, and all others with it
	isolate    string // names it in call frames
}

// group is a browsing context group: a page and the popups that can reach it.
type group struct{ procs []*proc }

// work waits for a renderer: a client's command, or a script of the page.
type work struct {
	call       *call
	script     func()
	isUnpaused bool // also while a script waits in the debugger
}

// procFor returns the group's process for documents of url: one of the same
// site that is still in use, or a new one.
func (b *Browser) procFor(g *group, url string) *proc {
	return b.procOf(g, site(url))
}

// frameProcFor is procFor for a frame below the top: where frames are shared, any
// frame of the same site and browser context that has a process of its own shares it.
func (b *Browser) frameProcFor(f *frame, g *group, url string) *proc {
	key := site(url)
	if b.options.SharesFrames && key != "" {
		for _, t := range b.targets {
			if t.parent != nil && t.proc.site == key && !t.proc.isCrashed && t.page.context == f.page.context {
				return t.proc
			}
		}
	}
	return b.procOf(g, key)
}

func (b *Browser) procOf(g *group, key string) *proc {
	g.procs = slices.DeleteFunc(g.procs, func(p *proc) bool {
		return !slices.ContainsFunc(b.targets, func(t *target) bool { return t.proc == p })
	})
	for _, p := range g.procs {
		if p.site == key && key != "" && !p.isCrashed {
			return p
		}
	}
	return &proc{site: key, group: g}
}

// own makes the group remember p.
func (g *group) own(p *proc) {
	if !slices.Contains(g.procs, p) {
		g.procs = append(g.procs, p)
	}
}

func (p *proc) isBlocking(where place) bool {
	switch where {
	case inRenderer:
		return p.isBusy || p.isStarting || p.isCrashed || p.dialogs > 0
	case onAttach:
		return p.isBusy || p.isStarting || p.dialogs > 0
	case inputEvent:
		return p.isBusy
	default:
		return false
	}
}

// script runs act as a script of f's document: now, or when its process is
// free again, or never when the document has gone by then. A popup that is
// held, and one left frozen, hold their opener's scripts too, while commands
// are still answered (C29, C33).
func (b *Browser) script(f *frame, act func()) {
	loader := f.loader
	b.queue(f.target.proc, func() {
		if b.frame(f.id) == f && f.loader == loader {
			act()
		}
	})
}

// queue has act done when p's scripts can run.
func (b *Browser) queue(p *proc, act func()) {
	p.work = append(p.work, work{script: act})
	b.drain(p)
}

// queueAnyway is queue for what a script that waits in the debugger does not hold.
func (b *Browser) queueAnyway(p *proc, act func()) {
	p.work = append(p.work, work{script: act, isUnpaused: true})
	b.drain(p)
}

// drain runs what waits for p, once the browser is consistent again: a process is often
// freed while a page is being taken apart.
func (b *Browser) drain(p *proc) { b.ready = append(b.ready, p) }

// work does what waits for p, in order, as far as p is free for it. What one
// piece does may free or take the process, so each time it looks anew.
func (b *Browser) work(p *proc) {
	for {
		i := b.runnable(p)
		if i < 0 {
			return
		}
		w := p.take(i) // before it runs: it may end up here again
		if w.script != nil {
			w.script()
		} else if !w.call.s.isGone {
			w.call.m.run(w.call)
		}
	}
}

// take removes a piece of work. The first one leaves without moving the others, of which a
// client may have sent thousands.
func (p *proc) take(i int) work {
	w := p.work[i]
	if i > 0 {
		p.work = slices.Delete(p.work, i, i+1)
		return w
	}
	p.work[0] = work{}
	if p.work = p.work[1:]; len(p.work) == 0 {
		p.work = nil
	}
	return w
}

// await has a command wait for p, and says whether p may be free for it.
func (p *proc) await(c *call) bool {
	p.work = append(p.work, work{call: c})
	p.hasInput = p.hasInput || c.m.where == inputEvent
	return !p.isBlocking(c.m.where) || c.m.where == inputEvent
}

// runnable returns the index of what p does next, or -1. Input comes first: it
// has a way of its own into the renderer.
func (b *Browser) runnable(p *proc) int {
	first, hadInput := -1, p.hasInput
	p.hasInput = false
	for i, w := range p.work {
		if first >= 0 && !hadInput {
			break
		}
		isInput := w.call != nil && w.call.m.where == inputEvent
		p.hasInput = p.hasInput || isInput
		if w.script != nil && (p.isBlocking(inRenderer) || b.areScriptsHeld(p) || p.pause != nil && !w.isUnpaused) ||
			w.call != nil && p.isBlocking(w.call.m.where) && !(isInput && w.call.s.target.page.isStranded) {
			continue
		}
		if isInput {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

func (b *Browser) areScriptsHeld(p *proc) bool {
	for _, t := range b.targets {
		if t.proc == p && t.isFrozen {
			return true
		}
		if t.start != nil && t.parent == nil {
			if o := b.target(t.page.opener); o != nil && o.proc == p {
				return true
			}
		}
	}
	return false
}

// Spin puts the renderer of a target into a busy loop until [Browser.Unspin]
// or a Runtime.terminateExecution of a session that was attached before.
func (b *Browser) Spin(id messages.TargetID) bool {
	return b.withTarget(id, func(t *target) {
		b.script(t.root, func() { t.proc.isBusy = true })
	})
}

// NewSlowPage opens a tab on url in the background whose renderer takes that long to
// start. Until then it has committed no document, and its keys are answered.
func (b *Browser) NewSlowPage(url string, takes time.Duration) (id messages.TargetID) {
	b.do(func() {
		t := b.addPage(url, pageOptions{title: url})
		id, t.proc.isStarting = t.id, true
		time.AfterFunc(takes, func() {
			b.do(func() {
				t.proc.isStarting = false
				if !b.isDead && b.target(t.id) == t {
					b.startIfFree(t)
					b.drain(t.proc)
				}
			})
		})
	})
	return id
}

// Unspin ends a busy loop.
func (b *Browser) Unspin(id messages.TargetID) bool {
	return b.withTarget(id, func(t *target) { b.unspin(t.proc) })
}

func (b *Browser) unspin(p *proc) {
	p.isBusy = false
	b.drain(p)
}

// Crash kills the renderer of a target, with all frames that live in it. The
// sessions stay; navigating or reloading a page revives it (M13).
func (b *Browser) Crash(id messages.TargetID) bool {
	return b.withTarget(id, func(t *target) { b.crash(t.proc) })
}

type crashedParams struct {
	TargetID  messages.TargetID `json:"targetId"`
	Status    string            `json:"status"`
	ErrorCode int               `json:"errorCode"`
}

func (b *Browser) crash(p *proc) {
	if p.isCrashed {
		return
	}
	for _, page := range b.pages {
		if page.target.proc == p {
			page.coming = nil
		}
		for _, d := range slices.Clone(page.dialogs) {
			if d.proc == p && !d.isPoisoned {
				b.closeDialog(d, DialogResult{By: ClosedByCrash})
				b.settle(d)
			}
		}
	}
	for _, t := range b.targets {
		if t.proc == p {
			b.endPause(t, ClosedByCrash)
		}
	}
	if b.orphan(p); b.isDead {
		return
	}
	p.isCrashed, p.isBusy = true, false
	p.work = slices.DeleteFunc(p.work, func(w work) bool { return w.script != nil })
	for _, t := range b.targets {
		if t.proc != p {
			continue
		}
		t.reports = nil
		if t.parent == nil {
			// Who held it was waiting for a process that is no more.
			t.start, t.waiting, t.isFrozen = nil, nil, false
		}
		t.each(isInspectorOn, "Inspector.targetCrashed", empty{})
		b.sessions(func(s *session) {
			if s.isDiscovering {
				s.send("Target.targetCrashed", crashedParams{t.id, "crashed", t.crashCode()})
			}
		})
	}
	b.drain(p) // what a dead renderer does not hold up
}

// orphan removes the frames of other processes whose parents lived in p. The browser does
// not survive it while one of them asks (C60).
func (b *Browser) orphan(p *proc) {
	for _, t := range slices.Clone(b.targets) {
		if t.proc != p || b.target(t.id) != t {
			continue
		}
		for _, f := range slices.Backward(t.root.remoteChildren()) { // the last comes first
			if slices.ContainsFunc(t.page.dialogs, func(d *Dialog) bool { return d.frame.isWithin(f) }) {
				b.die()
				return
			}
			b.forsakeWithin(f)
			b.dropSubtree(f)
			f.parent.children = slices.DeleteFunc(f.parent.children, func(x *frame) bool { return x == f })
		}
	}
}

// crashCode is the signal that ended the renderer, which Chrome tells of pages alone.
func (t *target) crashCode() int {
	if t.parent != nil {
		return 0
	}
	return 5
}

// bury answers what waited for a crashed process and gives the target a new
// one: the page lives again on the same sessions.
func (b *Browser) bury(t *target) {
	old := t.proc
	t.proc = &proc{site: old.site, group: old.group}
	old.group.procs = slices.DeleteFunc(old.group.procs, func(p *proc) bool { return p == old })
	old.group.own(t.proc)
	work := old.work
	old.work = nil
	for _, w := range work {
		if w.call != nil && !w.call.s.isGone {
			if w.call.method == "Page.addScriptToEvaluateOnNewDocument" {
				w.call.addScript() // it is the browser's, and takes effect though it fails
			}
			w.call.fail(codeServer, textCrashed)
		}
	}
	for _, other := range b.targets {
		if other.page == t.page && other.proc == old {
			other.proc = t.proc
		}
	}
	t.isRevived = true
	for _, s := range t.sessions {
		s.debugs.isNumb = s.debugs.isOn
	}
	t.each(isInspectorOn, "Inspector.targetReloadedAfterCrash", empty{})
}

func (b *Browser) withTarget(id messages.TargetID, f func(*target)) (found bool) {
	b.do(func() {
		if t := b.target(id); t != nil {
			found = true
			f(t)
		}
	})
	return found
}
