package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// frames keeps, by frame, what was evaluated in it.
type frames struct {
	mu  sync.Mutex
	ran map[messages.FrameID][]string
}

func (f *frames) evaluate(e chaos.Evaluation) (chaos.Value, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ran[e.Frame] = append(f.ran[e.Frame], e.Expression)
	return chaos.Value{JSON: string(e.Frame)}, true
}

func (f *frames) count(frame messages.FrameID, expression string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.ran[frame] {
		if e == expression {
			n++
		}
	}
	return n
}

func (w *world) evaluateIn(ctx context.Context, frame messages.FrameID, expression string) (messages.CDPResult, error) {
	params, err := json.Marshal(map[string]string{"expression": expression})
	if err != nil {
		return messages.CDPResult{}, err
	}
	return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: params, FrameID: frame, TimeoutS: 100})
}

func (w *world) wantSent(err error, sent bool) {
	w.Helper()
	w.want(messages.CodeUpstreamUnavailable, err)
	if got := messages.SentOf(err); got != messages.SentIf(sent) {
		w.Errorf("sent: %v, want %v (%v)", got, sent, err)
	}
}

// A command for a frame runs in that frame or nowhere, and its caller gets one outcome.
func TestACommandForAFrame(t *testing.T) {
	t.Parallel()

	story := func(name string, tell func(w *world, f *frames, top, child messages.FrameID)) {
		f := &frames{ran: map[messages.FrameID][]string{}}
		inWorld(t, name, chaos.Options{Pages: 1, Evaluate: f.evaluate}, func(w *world) {
			page := w.start("t", everything).PageTargetID
			w.b.Navigate(page, "http://a.test/p")
			child := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
			synctest.Wait()
			tell(w, f, w.b.MainFrame(page), child)
			w.snapshot("t")
			if n := f.count(top(page), "for the child"); n != 0 {
				w.Errorf("it ran %d times in the page", n)
			}
		})
	}

	story("while its link is down", func(w *world, f *frames, top, child messages.FrameID) {
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		synctest.Wait()
		_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{
			Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"for the child"}`), FrameID: child, WaitS: float(0),
		})
		w.wantSent(err, false)
		w.b.RefuseConnections(false)
		time.Sleep(10 * time.Second)
		if _, err := w.evaluateIn(w.ctx, child, "for the child"); err != nil {
			w.Error(err)
		}
		if n := f.count(child, "for the child"); n != 1 {
			w.Errorf("it ran %d times", n)
		}
	})

	story("that moved into its parent's process while the link was down", func(w *world, _ *frames, top, child messages.FrameID) {
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		w.b.NavigateFrame(child, "http://a.test/home")
		w.b.RefuseConnections(false)
		time.Sleep(10 * time.Second)
		_, err := w.evaluateIn(w.ctx, child, "for the child")
		w.want(messages.CodeFrameNotOOPIF, err)
	})

	story("that moved there a moment ago", func(w *world, _ *frames, top, child messages.FrameID) {
		w.b.NavigateFrame(child, "http://a.test/home")
		_, err := w.evaluateIn(w.ctx, child, "for the child") // the view may know of the session still
		if c := messages.CodeOf(err); c != messages.CodeFrameNotOOPIF && c != messages.CodeFrameNotFound && c != messages.CodeUpstreamUnavailable {
			w.Errorf("got %v", err)
		}
		synctest.Wait()
		_, err = w.evaluateIn(w.ctx, child, "for the child")
		w.want(messages.CodeFrameNotOOPIF, err)
	})

	story("that was removed while the link was down", func(w *world, _ *frames, top, child messages.FrameID) {
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		w.b.RemoveFrame(child)
		w.b.RefuseConnections(false)
		time.Sleep(10 * time.Second)
		_, err := w.evaluateIn(w.ctx, child, "for the child")
		w.want(messages.CodeFrameNotFound, err)
	})

	for name, end := range map[string]func(w *world, child messages.FrameID){
		"under way when its frame is removed":  func(w *world, child messages.FrameID) { w.b.RemoveFrame(child) },
		"under way when its frame goes home":   func(w *world, child messages.FrameID) { w.b.NavigateFrame(child, "http://a.test/home") },
		"under way when its link breaks":       func(w *world, _ messages.FrameID) { w.b.DropConnections() },
		"under way when the browser restarts":  func(w *world, _ messages.FrameID) { w.b.Restart() },
		"under way when its page is closed":    func(w *world, _ messages.FrameID) { w.b.ClosePage(w.b.Pages()[0].Target) },
		"under way when its task is stopped":   func(w *world, _ messages.FrameID) { _ = w.node.StopTask(w.ctx, "t") },
		"under way when the browser is killed": func(w *world, _ messages.FrameID) { w.b.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &frames{ran: map[messages.FrameID][]string{}}
			inWorld(t, "one outcome", chaos.Options{Pages: 1, Evaluate: f.evaluate}, func(w *world) {
				page := w.start("t", everything).PageTargetID
				w.b.Navigate(page, "http://a.test/p")
				child := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
				synctest.Wait()
				for _, c := range w.b.Connections() {
					c.SwallowNextReply("Runtime.evaluate")
				}
				call := begin(w, func(ctx context.Context) (messages.CDPResult, error) {
					return w.evaluateIn(ctx, child, "for the child")
				})
				end(w, child)
				got := <-call
				w.wantSent(got.err, true)
				if got.after > time.Second {
					w.Errorf("after %s", got.after)
				}
				time.Sleep(20 * time.Second)
				if n, astray := f.count(child, "for the child"), f.count(w.b.MainFrame(page), "for the child"); n != 1 || astray != 0 {
					w.Errorf("it ran %d times, and %d times in the page", n, astray)
				}
			})
		})
	}

	inWorldWith := func(name string, tell func(w *world, f *frames)) {
		f := &frames{ran: map[messages.FrameID][]string{}}
		inWorld(t, name, chaos.Options{Pages: 1, Evaluate: f.evaluate}, func(w *world) { tell(w, f) })
	}
	inWorldWith("in a storm of kills and swaps", func(w *world, f *frames) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		var children []messages.FrameID
		for n := range 4 {
			children = append(children, w.b.AddFrame(w.b.MainFrame(page), fmt.Sprintf("http://b%d.test/x", n)))
		}
		synctest.Wait()
		var callers sync.WaitGroup
		var mu sync.Mutex
		tally := map[messages.Code]int{}
		for n, child := range children {
			callers.Go(func() {
				for i := range 200 {
					expression := fmt.Sprintf("%s %d", child, i)
					res, err := w.evaluateIn(w.ctx, child, expression)
					code := messages.CodeOf(err)
					mu.Lock()
					tally[code]++
					mu.Unlock()
					ran := f.count(child, expression)
					switch {
					case err == nil && (ran != 1 || !strings.Contains(string(res.Result), string(child))):
						w.Errorf("%s ran %d times and gave %s", expression, ran, res.Result)
					case ran > 1:
						w.Errorf("%s ran %d times", expression, ran)
					case err != nil && code != messages.CodeUpstreamUnavailable && code != messages.CodeFrameNotOOPIF && code != messages.CodeFrameNotFound:
						w.Errorf("%s: %v", expression, err)
					}
					time.Sleep(time.Duration(n+1) * time.Millisecond)
				}
			})
		}
		for i := range 60 {
			time.Sleep(7 * time.Millisecond)
			switch i % 3 {
			case 0:
				w.b.DropConnections()
			case 1:
				w.b.NavigateFrame(children[i%4], "http://a.test/home")
			case 2:
				w.b.NavigateFrame(children[(i-1)%4], "http://c.test/away")
			}
		}
		callers.Wait()
		if tally[""] == 0 || tally[messages.CodeUpstreamUnavailable] == 0 || tally[messages.CodeFrameNotOOPIF] == 0 {
			w.Errorf("not a storm: %v", tally)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for frame, ran := range f.ran {
			for _, expression := range ran {
				if !strings.HasPrefix(expression, string(frame)+" ") {
					w.Errorf("frame %s was given %q", frame, expression)
				}
			}
		}
	})
}

func top(page messages.TargetID) messages.FrameID { return messages.FrameID(page) }

func TestPopupsAcrossLinks(t *testing.T) {
	t.Parallel()
	for name, scope := range map[string]func(*messages.TaskSpec){"scope own": own, "scope browser": everything} {
		inWorld(t, name, chaos.Options{Pages: 1}, func(w *world) {
			page := w.start("t", scope).PageTargetID
			w.b.Navigate(page, "http://a.test/p")
			synctest.Wait()
			closed := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/closed")
			synctest.Wait() // it runs, and its opener again
			stays := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/stays")
			synctest.Wait()
			before := w.snapshot("t")
			w.b.RefuseConnections(true)
			w.b.DropConnections()
			w.b.ClosePage(closed)
			opened := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/opened")
			grandchild := w.b.OpenPopup(w.b.MainFrame(stays), "http://a.test/grandchild")
			foreign := w.b.NewPage("http://a.test/foreign")
			fleeting := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/fleeting")
			w.b.ClosePage(fleeting)
			w.b.RefuseConnections(false)
			time.Sleep(10 * time.Second)

			s := w.snapshot("t")
			got := map[messages.TargetID]*messages.TargetID{}
			for _, p := range s.Pages {
				got[p.TargetID] = p.OpenerID
				if p.SessionID == "" || p.PageState != messages.PageOK {
					w.Errorf("page %+v", p)
				}
			}
			for target, opener := range map[messages.TargetID]messages.TargetID{stays: page, opened: page, grandchild: stays} {
				if o := got[target]; o == nil || *o != opener {
					w.Errorf("popup %s has opener %v, want %s", target, o, opener)
				}
			}
			for _, gone := range []messages.TargetID{closed, fleeting} {
				if _, there := got[gone]; there {
					w.Errorf("popup %s, which was closed, is there", gone)
				}
			}
			if _, there := got[foreign]; there != (name == "scope browser") {
				w.Errorf("the page that somebody else opened is ours: %v", there)
			}
			if s.Connection.BrowserRestarts != 0 || s.State != messages.StateActive || len(before.Pages) < 3 {
				w.Errorf("before %+v, after %+v", before.Pages, s)
			}
			for _, p := range w.b.Pages() {
				if p.IsHeld || p.IsFrozen {
					w.Errorf("page %+v", p)
				}
			}
		})
	}
}
