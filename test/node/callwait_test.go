package node_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func float(f float64) *float64 { return &f }

// outage makes the task's links end, and lets none come back before a time has passed.
func (w *world) outage(d time.Duration) {
	w.Helper()
	w.b.RefuseConnections(true)
	w.b.DropConnections()
	time.AfterFunc(d, func() { w.b.RefuseConnections(false) })
	synctest.Wait()
}

func (w *world) wantWithin(o outcome, least, most time.Duration) {
	w.Helper()
	if o.after < least || o.after > most {
		w.Errorf("it took %s, want %s to %s", o.after, least, most)
	}
}

// A call that was not sent waits for the link (contract, "Calls during a reconnect").
func TestCallsWaitForTheLink(t *testing.T) {
	t.Parallel()
	evaluate := func(w *world, change func(*messages.CDPRequest)) <-chan outcome {
		r := messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"1+1"}`)}
		change(&r)
		return begin(w, func(ctx context.Context) (messages.CDPResult, error) { return w.node.CDP(ctx, "t", r) })
	}
	plain := func(*messages.CDPRequest) {}

	inWorld(t, "and runs once it stands", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		w.outage(time.Second)
		o := <-evaluate(w, plain)
		if o.err != nil || !strings.Contains(string(o.value.(messages.CDPResult).Result), "2") {
			w.Fatalf("%+v", o)
		}
		w.wantWithin(o, time.Second, 4*time.Second)
	})

	for name, tc := range map[string]struct {
		change func(*messages.CDPRequest)
		after  time.Duration
	}{
		"as long as it says":         {func(r *messages.CDPRequest) { r.WaitS = float(1) }, time.Second},
		"not at all with 0":          {func(r *messages.CDPRequest) { r.WaitS = float(0) }, 0},
		"no longer than its timeout": {func(r *messages.CDPRequest) { r.TimeoutS = 0.5 }, 500 * time.Millisecond},
		"a page that it names too":   {func(r *messages.CDPRequest) { r.TargetID, r.WaitS = "?", float(2) }, 2 * time.Second},
		"the browser too":            {func(r *messages.CDPRequest) { r.Method, r.Params, r.WaitS = "Browser.getVersion", nil, float(2) }, 2 * time.Second},
	} {
		inWorld(t, name, chaos.Options{Pages: 1}, func(w *world) {
			page := w.start("t", everything).PageTargetID
			w.outage(time.Hour)
			o := <-evaluate(w, func(r *messages.CDPRequest) {
				if tc.change(r); r.TargetID != "" {
					r.TargetID = page
				}
			})
			w.wantSent(o.err, false)
			w.wantWithin(o, tc.after, tc.after)
		})
	}

	inWorld(t, "and the time that it waited is gone from its own", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		w.outage(time.Second)
		o := <-evaluate(w, func(r *messages.CDPRequest) {
			r.Params, r.TimeoutS = json.RawMessage(`{"expression":"while(true)"}`), 4
		})
		if c := messages.CodeOf(o.err); c != messages.CodePageWedged && c != messages.CodeDeadline {
			w.Errorf("got %v", o.err)
		}
		w.wantWithin(o, time.Second, 4*time.Second)
	})

	inWorld(t, "a navigation too", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		w.outage(time.Second)
		o := <-begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
			return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://a.test/there"})
		})
		if o.err != nil || o.value.(messages.NavigateResult).URL != "http://a.test/there" {
			w.Errorf("%+v", o)
		}
	})

	inWorld(t, "a new tab too, and it is one", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		w.outage(time.Second)
		o := <-evaluate(w, func(r *messages.CDPRequest) {
			r.Method, r.Params = "Target.createTarget", json.RawMessage(`{"url":"http://a.test/new"}`)
		})
		if o.err != nil {
			w.Error(o.err)
		}
		if s := w.snapshot("t"); len(s.Pages) != 2 {
			w.Errorf("pages %+v", s.Pages)
		}
	})

	inWorld(t, "but not for a task that ends", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		w.outage(time.Hour)
		call := evaluate(w, plain)
		time.Sleep(time.Second)
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Fatal(err)
		}
		o := <-call
		w.want(messages.CodeTaskNotFound, o.err)
		w.wantWithin(o, time.Second, time.Second)
	})

	inWorld(t, "and one that was sent is never repeated", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		call := evaluate(w, func(r *messages.CDPRequest) { r.Params = json.RawMessage(`{"expression":"while(true)"}`) })
		w.outage(time.Second)
		o := <-call
		w.wantSent(o.err, true)
		w.wantWithin(o, 0, 0)
	})
}

// on_dialog: wait lets a call that opens a dialog have its result.
func TestOnDialogWait(t *testing.T) {
	t.Parallel()
	evaluate := func(w *world, frame messages.FrameID, expression string, timeout float64) <-chan outcome {
		params, _ := json.Marshal(map[string]string{"expression": expression})
		r := messages.CDPRequest{Method: "Runtime.evaluate", Params: params, FrameID: frame, TimeoutS: timeout, OnDialog: messages.OnDialogWait}
		return begin(w, func(ctx context.Context) (messages.CDPResult, error) { return w.node.CDP(ctx, "t", r) })
	}
	ask := func(name string, story func(w *world, frame messages.FrameID)) {
		for _, where := range []string{"the page", "a frame of another process"} {
			inWorld(t, name+", in "+where, chaos.Options{Pages: 1}, func(w *world) {
				page := w.start("t", everything).PageTargetID
				w.b.Navigate(page, "http://a.test/p")
				frame := messages.FrameID("")
				if where != "the page" {
					frame = w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
				}
				synctest.Wait()
				story(w, frame)
			})
		}
	}

	ask("its value comes with the answer", func(w *world, frame messages.FrameID) {
		call := evaluate(w, frame, "prompt('who?','')", 60)
		time.Sleep(20 * time.Second)
		if len(call) != 0 {
			w.Fatalf("it ended before the answer: %+v", <-call)
		}
		if _, err := w.answer("t", "", "ann"); err != nil {
			w.Fatal(err)
		}
		if o := <-call; o.err != nil || !strings.Contains(string(o.value.(messages.CDPResult).Result), `"ann"`) {
			w.Errorf("%+v %s", o, o.value.(messages.CDPResult).Result)
		}
	})

	ask("one that comes under a dialog waits for its answer", func(w *world, frame messages.FrameID) {
		first := evaluate(w, frame, "confirm('sure?')", 60)
		second := evaluate(w, frame, "1+1", 60)
		time.Sleep(20 * time.Second)
		if len(first)+len(second) != 0 {
			w.Fatal("one ended before the answer")
		}
		if _, err := w.answer("t", "", ""); err != nil {
			w.Fatal(err)
		}
		if o := <-first; o.err != nil {
			w.Error(o.err)
		}
		if o := <-second; o.err != nil {
			w.Error(o.err)
		}
	})

	ask("no longer than its timeout, and the dialog is named", func(w *world, frame messages.FrameID) {
		o := <-evaluate(w, frame, "confirm('sure?')", 3)
		w.want(messages.CodeBlockedByDialog, o.err)
		w.wantWithin(o, 3*time.Second, 3*time.Second)
		o = <-evaluate(w, frame, "1+1", 3)
		w.want(messages.CodeBlockedByDialog, o.err)
		w.wantWithin(o, 3*time.Second, 3*time.Second)
	})

	ask("a link that is lost under it ends it, sent", func(w *world, frame messages.FrameID) {
		call := evaluate(w, frame, "confirm('sure?')", 60)
		time.Sleep(2 * time.Second)
		primary, _ := w.links()
		primary.Drop()
		o := <-call
		w.wantSent(o.err, true)
		if s := w.snapshot("t"); len(s.PendingDialogs) != 1 || len(s.RecentDialogs) != 0 {
			w.Errorf("the call was repeated: pending %+v, recent %+v", s.PendingDialogs, s.RecentDialogs)
		}
	})

	inWorld(t, "by default it fails at once", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		o := <-begin(w, func(ctx context.Context) (messages.CDPResult, error) {
			return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"confirm('sure?')"}`)})
		})
		w.want(messages.CodeBlockedByDialog, o.err)
		w.wantWithin(o, 0, time.Second)
	})
}

// What a caller can get wrong says what is right.
func TestRawCallsThatAreRefused(t *testing.T) {
	t.Parallel()
	inWorld(t, "lifecycle events stay on", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		for params, refused := range map[string]bool{
			`{"enabled":false}`: true, `{}`: true, ``: true, `{"enabled":false,"enabled":true}`: true, `{"Enabled":true}`: true, ` { "enabled" : true } `: false,
		} {
			_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Page.setLifecycleEventsEnabled", Params: json.RawMessage(params)})
			if refused {
				w.want(messages.CodeForbidden, err)
			} else if err != nil {
				w.Error(err)
			}
		}
		if _, err := w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://a.test/p"}); err != nil {
			w.Error(err)
		}
	})
	inWorld(t, "parameters that are missing are named so", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate"})
		w.want(messages.CodeCDPError, err)
		if err == nil || !strings.Contains(err.Error(), "Runtime.evaluate wants parameters") || strings.Contains(err.Error(), "CBOR") {
			w.Errorf("got %v", err)
		}
	})
}
