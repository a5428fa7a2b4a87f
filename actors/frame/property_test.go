package frame_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/actors/frame"
	"holdfast/messages"
	"holdfast/messages/mail"
)

const (
	thePage = messages.TargetID("MAIN")
	top     = messages.FrameID("MAIN")
	gen     = mail.Generation(1)
)

// world is a naive model of one page in a browser. What it does it tells as
// Chrome does (C35), each session's events in order, the sessions among each
// other in any.
type world struct {
	*rapid.T
	m      *frame.Machine
	seq    int
	frames map[messages.FrameID]*modelFrame
	queues map[messages.SessionID][]any
	known  map[messages.SessionID]bool // their attach has been delivered
	shown  *messages.FrameTree
	warned map[messages.FrameID]bool
	flush  bool
}

type modelFrame struct {
	id       messages.FrameID
	parent   *modelFrame
	children []*modelFrame
	url      string
	session  messages.SessionID // of its own: an OOPIF, or the page
}

// home is the session that has f's document.
func (f *modelFrame) home() messages.SessionID {
	for f.session == "" {
		f = f.parent
	}
	return f.session
}

func (w *world) tell(s messages.SessionID, event any) { w.queues[s] = append(w.queues[s], event) }

func (w *world) next(prefix string) string {
	w.seq++
	return fmt.Sprintf("%s%03d", prefix, w.seq)
}

func (w *world) step(in any) {
	for _, e := range slices.Clone(w.m.Step(time.Unix(0, 0), in)) {
		switch e := e.(type) {
		case frame.FlushSoon:
			w.flush = true
		case frame.ToSupervisor:
			if c, ok := e.Msg.(mail.FramesChanged); ok {
				w.shown = c.Tree
				w.check(c.Tree)
			}
		case frame.ToDialog:
			for _, id := range e.Msg.(mail.FramesRemoved).Frames {
				w.warned[id] = true
			}
		}
	}
}

// check holds for every published tree, however stale: parents stand before their children,
// and no frame stands twice.
func (w *world) check(t *messages.FrameTree) {
	seen := map[messages.FrameID]bool{t.Top.FrameID: true}
	for _, c := range t.Children {
		if seen[c.FrameID] || !seen[c.ParentFrameID] {
			w.Fatalf("frame %s under %s in %+v", c.FrameID, c.ParentFrameID, t)
		}
		seen[c.FrameID] = true
	}
}

// deliver hands over what a session that is known to exist says next, some of it
// together.
func (w *world) deliver(s messages.SessionID) {
	n := 1
	if rapid.Bool().Draw(w.T, "together") {
		n = rapid.IntRange(1, len(w.queues[s])).Draw(w.T, "facts")
	}
	events := mail.Facts(w.queues[s][:n:n])
	if w.queues[s] = w.queues[s][n:]; len(w.queues[s]) == 0 {
		delete(w.queues, s)
	}
	for _, event := range events {
		if a, ok := event.(mail.TargetAttached); ok {
			w.known[a.Session] = true
		}
	}
	if n == 1 {
		w.step(events[0])
	} else {
		w.step(events)
	}
	if w.flush && rapid.Bool().Draw(w.T, "flush") {
		w.flush = false
		w.step(frame.Flush{})
	}
}

func (w *world) deliverable() []messages.SessionID {
	var list []messages.SessionID
	for s := range w.queues {
		if w.known[s] {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}

func (w *world) info(f *modelFrame) mail.FrameInfo {
	i := mail.FrameInfo{ID: f.id, URL: f.url, Origin: "o", Loader: f.url}
	if f.parent != nil {
		i.Parent = f.parent.id
	}
	return i
}

// drop takes f's children away, as the end of its document does.
func (w *world) drop(f *modelFrame) {
	for _, c := range slices.Clone(f.children) {
		w.remove(c)
	}
}

func (w *world) remove(f *modelFrame) {
	w.tell(f.parent.home(), mail.FrameSubtreeWillBeDetached{Gen: gen, Session: f.parent.home(), Frame: f.id})
	w.drop(f)
	w.tell(f.parent.home(), mail.FrameDetached{Gen: gen, Session: f.parent.home(), Frame: f.id})
	if f.session != "" {
		w.tell(f.parent.home(), mail.TargetDetached{Gen: gen, Session: f.session, Via: f.parent.home()})
	}
	f.parent.children = slices.DeleteFunc(f.parent.children, func(c *modelFrame) bool { return c == f })
	delete(w.frames, f.id)
}

func (w *world) add(parent *modelFrame) {
	f := &modelFrame{id: messages.FrameID(w.next("F")), parent: parent, url: w.next("u")}
	w.frames[f.id] = f
	parent.children = append(parent.children, f)
	s := parent.home()
	w.tell(s, mail.FrameAttached{Gen: gen, Session: s, Page: thePage, Frame: f.id, Parent: parent.id})
	w.tell(s, mail.FrameNavigated{Gen: gen, Session: s, Page: thePage, Frame: w.info(f)})
}

// promote navigates f to another site: it gets a process of its own.
func (w *world) promote(f *modelFrame) {
	old := f.home()
	w.drop(f)
	f.session, f.url = messages.SessionID(w.next("S")), w.next("u")
	w.tell(old, mail.TargetAttached{
		Gen: gen, Session: f.session, Via: old, Page: thePage,
		Info: mail.TargetInfo{ID: messages.TargetID(f.id), Type: "iframe", ParentFrame: f.parent.id}, IsWaiting: true,
	})
	w.tell(f.session, mail.FrameTreeLoaded{Gen: gen, Session: f.session, Page: thePage, Frames: []mail.FrameInfo{
		{ID: f.id, Parent: f.parent.id, URL: "", Origin: "null"}, // the initial empty document
	}})
	w.tell(f.session, mail.FrameNavigated{Gen: gen, Session: f.session, Page: thePage, Frame: w.info(f)})
	w.tell(old, mail.FrameDetached{Gen: gen, Session: old, Frame: f.id, IsSwap: true})
}

// demote navigates an OOPIF to its parent's site. What was attached through it
// ends without a word (C35: there is no frameDetached).
func (w *world) demote(f *modelFrame) {
	s, parent := f.session, f.parent.home()
	var forget func(g *modelFrame)
	forget = func(g *modelFrame) {
		for _, c := range g.children {
			forget(c)
			delete(w.frames, c.id)
		}
		g.children = nil
	}
	forget(f)
	f.session, f.url = "", w.next("u")
	w.tell(parent, mail.TargetDetached{Gen: gen, Session: s, Via: parent})
	w.tell(parent, mail.FrameAttached{Gen: gen, Session: parent, Page: thePage, Frame: f.id, Parent: f.parent.id})
	w.tell(parent, mail.FrameNavigated{Gen: gen, Session: parent, Page: thePage, Frame: w.info(f)})
}

func (w *world) navigate(f *modelFrame) {
	w.drop(f)
	f.url = w.next("u")
	w.tell(f.home(), mail.FrameNavigated{Gen: gen, Session: f.home(), Page: thePage, Frame: w.info(f)})
}

// truth is the tree as the browser has it.
func (w *world) truth() []messages.FrameNode {
	var list []messages.FrameNode
	var walk func(f *modelFrame)
	walk = func(f *modelFrame) {
		for _, c := range f.children {
			list = append(list, messages.FrameNode{
				FrameID: c.id, ParentFrameID: f.id, URL: c.url, Origin: "o", IsOOPIF: c.session != "", SessionID: c.session,
			})
			walk(c)
		}
	}
	walk(w.frames[top])
	return list
}

func TestForestEqualsTheBrowser(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			T: t, m: frame.NewMachine(gen), frames: map[messages.FrameID]*modelFrame{},
			queues: map[messages.SessionID][]any{}, known: map[messages.SessionID]bool{"S0": true}, warned: map[messages.FrameID]bool{},
		}
		w.frames[top] = &modelFrame{id: top, url: "u", session: "S0"}
		w.step(mail.TargetAttached{Gen: gen, Session: "S0", Page: thePage, Info: mail.TargetInfo{ID: thePage, Type: "page"}})
		w.tell("S0", mail.FrameTreeLoaded{Gen: gen, Session: "S0", Page: thePage, Frames: []mail.FrameInfo{w.info(w.frames[top])}})

		pick := func(ok func(*modelFrame) bool) *modelFrame {
			var ids []messages.FrameID
			for id, f := range w.frames {
				if ok(f) {
					ids = append(ids, id)
				}
			}
			if len(ids) == 0 {
				return nil
			}
			slices.Sort(ids)
			return w.frames[rapid.SampledFrom(ids).Draw(t, "frame")]
		}
		act := func(ok func(*modelFrame) bool, do func(*modelFrame)) func(*rapid.T) {
			return func(*rapid.T) {
				if f := pick(ok); f != nil {
					do(f)
				}
			}
		}
		below := func(f *modelFrame) bool { return f.parent != nil }
		t.Repeat(map[string]func(*rapid.T){
			"add":      act(func(*modelFrame) bool { return len(w.frames) < 12 }, w.add),
			"remove":   act(below, w.remove),
			"promote":  act(func(f *modelFrame) bool { return below(f) && f.session == "" }, w.promote),
			"demote":   act(func(f *modelFrame) bool { return below(f) && f.session != "" }, w.demote),
			"navigate": act(func(*modelFrame) bool { return true }, w.navigate),
			"go on within the document": act(func(*modelFrame) bool { return true }, func(f *modelFrame) {
				f.url = w.next("u")
				w.tell(f.home(), mail.FrameURLChanged{Gen: gen, Session: f.home(), Frame: f.id, URL: f.url})
			}),
			"deliver": func(t *rapid.T) {
				if list := w.deliverable(); len(list) > 0 {
					w.deliver(rapid.SampledFrom(list).Draw(t, "session"))
				}
			},
		})
		for list := w.deliverable(); len(list) > 0; list = w.deliverable() {
			w.deliver(rapid.SampledFrom(list).Draw(t, "session"))
		}
		w.step(frame.Flush{})
		want, got := w.truth(), slices.Clone(w.shown.Children)
		byID := func(a, b messages.FrameNode) int { return cmp.Compare(a.FrameID, b.FrameID) }
		slices.SortFunc(want, byID)
		slices.SortFunc(got, byID)
		if !slices.Equal(got, want) || w.shown.Top.URL != w.frames[top].url {
			w.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}
