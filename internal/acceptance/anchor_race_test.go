package acceptance_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// given is what a caller gave as an answer, and what it was told.
type given struct {
	text string
	err  error
}

// arrived says that the answer may have reached the page.
func (g given) arrived() bool {
	e, ok := g.err.(*messages.Error)
	return g.err == nil || ok && e.Code == messages.CodeUpstreamUnavailable && e.Sent == messages.SentYes
}

// answers lets n callers answer a dialog, each with a text of its own, while
// meanwhile happens.
func (k *task) answers(d messages.Dialog, n int, meanwhile func()) []given {
	k.Helper()
	list := make([]given, n)
	var all sync.WaitGroup
	for i := range list {
		list[i].text = string(d.ID) + " caller " + strconv.Itoa(i)
		all.Go(func() {
			_, list[i].err = k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &list[i].text, DialogID: d.ID})
		})
	}
	meanwhile()
	all.Wait()
	for _, g := range list {
		switch messages.CodeOf(g.err) {
		case "", messages.CodeDialogAlreadyAnswered, messages.CodeUpstreamUnavailable:
		default:
			k.Fatalf("%s: %v", g.text, g.err)
		}
	}
	return list
}

// headStart is a wait that is a little longer each round, by the browser's own
// time.
func headStart(w *chromiumtest.Raw, round int) {
	for range round % 5 {
		w.Must("", "Browser.getVersion", nil)
	}
}

func TestDemand6_OneAnswerCountsWhileThePrimaryDies(t *testing.T) {
	t.Parallel()
	const rounds = 20
	r, p := proxied(t, chromiumtest.Shared(t))
	askingPages(r)
	k := r.task("dies", r.through(p))
	l := places["the page"](k)
	w := chromiumtest.Dial(t, r.chrome.WS())
	outcomes := map[string]int{}
	for i := range rounds {
		primary, _ := k.links(p)
		k.later("", "ask('prompt')")
		d := k.dialog()
		list := k.answers(d, 8, func() {
			headStart(w, i)
			p.Kill(primary)
		})
		winners := slices.DeleteFunc(slices.Clone(list), func(g given) bool { return g.err != nil })
		if len(winners) > 1 {
			t.Fatalf("round %d: %d winners", i, len(winners))
		}
		k.wholeUnder(uint64(i) + 1)
		possible := winners
		if len(winners) == 1 {
			outcomes["answered"]++
			if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByAgent {
				t.Errorf("round %d: %+v", i, c)
			}
		} else {
			// A caller whose answer has an unknown outcome sees it in the snapshot, and may
			// answer again.
			again := k.answers(d, 1, func() {})[0]
			if again.err == nil {
				outcomes["answered again"]++
				possible = []given{again}
			} else {
				outcomes["arrived after all"]++
				possible = slices.DeleteFunc(list, func(g given) bool { return !g.arrived() })
			}
		}
		got := k.runs(l, "got")
		if !slices.ContainsFunc(possible, func(g given) bool { return strconv.Quote(g.text) == got }) {
			t.Fatalf("round %d: the page got %s; possible %+v of %+v", i, got, possible, list)
		}
	}
	t.Logf("%v", outcomes)
}

// wholeUnder waits until the task is as good as before its n-th loss, but for a
// dialog that may wait.
func (k *task) wholeUnder(n uint64) {
	k.Helper()
	k.await("both links again", func(s *messages.Snapshot) bool {
		return s.Connection.Reconnects == n && s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp && s.State == messages.StateActive
	})
}

// There only the callers answer. Here every client does.
func TestDemand6_EverybodyAnswersWhileThePrimaryDies(t *testing.T) {
	t.Parallel()
	const rounds = 10
	start := func(t *testing.T, change ...func(*messages.TaskSpec)) (*task, *chromiumtest.FaultProxy, *chromiumtest.Raw) {
		r, p := proxied(t, chromiumtest.Shared(t))
		askingPages(r)
		k := r.task("all", append(change, r.through(p))...)
		places["the page"](k)
		return k, p, chromiumtest.Dial(t, r.chrome.WS())
	}
	for _, by := range []messages.DialogPolicy{messages.PolicyAutoAccept, messages.PolicyAutoDismiss} {
		t.Run(string(by), func(t *testing.T) {
			t.Parallel()
			k, p, w := start(t, policy(by))
			for i := range rounds {
				primary, _ := k.links(p)
				k.later("", "ask('prompt')")
				headStart(w, i)
				p.Kill(primary)
				id := messages.NewDialogID(uint64(i) + 1)
				if c := k.closed(id); c.ClosedBy != messages.ClosedByAutoPolicy {
					t.Fatalf("round %d: %+v", i, c)
				}
				k.wholeUnder(uint64(i) + 1)
				want := map[messages.DialogPolicy]string{messages.PolicyAutoAccept: `"dflt"`, messages.PolicyAutoDismiss: "null"}[by]
				if got := k.eval("", "got"); got != want {
					t.Fatalf("round %d: the page got %s", i, got)
				}
			}
		})
	}
	t.Run("the watchdog", func(t *testing.T) {
		t.Parallel()
		k, p, _ := start(t, func(s *messages.TaskSpec) { s.DialogTimeoutS = 0.2 })
		ends := map[messages.ClosedBy]int{}
		for i := range rounds {
			primary, _ := k.links(p)
			k.later("", "ask('prompt')")
			d := k.dialog()
			// Answer and kill about when the watchdog barks.
			soon := time.NewTimer(time.Duration(190+2*i) * time.Millisecond)
			<-soon.C
			list := k.answers(d, 1, func() { p.Kill(primary) })
			k.wholeUnder(uint64(i) + 1)
			c := k.closed(d.ID)
			ends[c.ClosedBy]++
			got := k.eval("", "got")
			switch want := strconv.Quote(list[0].text); c.ClosedBy {
			case messages.ClosedByAgent:
				if got != want || list[0].err != nil {
					t.Fatalf("round %d: %+v, %+v, the page got %s", i, c, list, got)
				}
			case messages.ClosedByWatchdog:
				if got != "null" || list[0].err == nil {
					t.Fatalf("round %d: %+v, %+v, the page got %s", i, c, list, got)
				}
			default:
				if got != want || !list[0].arrived() {
					t.Fatalf("round %d: %+v, %+v, the page got %s", i, c, list, got)
				}
			}
		}
		t.Logf("ended by %v", ends)
	})
	t.Run("a second client", func(t *testing.T) {
		t.Parallel()
		k, p, w := start(t)
		session := w.Attach(string(k.snapshot().PageTargetID))
		w.Must(session, "Page.enable", nil)
		ends := map[messages.ClosedBy]int{}
		for i := range 2 * rounds {
			primary, _ := k.links(p)
			k.later("", "ask('prompt')")
			d := k.dialog()
			w.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
			var theirs *chromiumtest.Pending
			list := k.answers(d, 2, func() {
				headStart(w, i)
				theirs = w.Send(session, "Page.handleJavaScriptDialog", map[string]any{"accept": true, "promptText": "theirs"})
				p.Kill(primary)
			})
			_, refused := theirs.Wait(patience)
			k.wholeUnder(uint64(i) + 1)
			c := k.closed(d.ID)
			ends[c.ClosedBy]++
			got := k.eval("", "got")
			won := slices.DeleteFunc(slices.Clone(list), func(g given) bool { return g.err != nil })
			switch {
			case len(won) > 1:
				t.Fatalf("round %d: %d winners", i, len(won))
			case len(won) == 1 && (c.ClosedBy != messages.ClosedByAgent || got != strconv.Quote(won[0].text) || refused == nil):
				t.Fatalf("round %d: %+v, %+v, the page got %s, the other client %v", i, c, list, got, refused)
			case len(won) == 0 && c.ClosedBy != messages.ClosedByRemote:
				t.Fatalf("round %d: %+v, %+v, the page got %s", i, c, list, got)
			case refused == nil && (got != `"theirs"` || c.ClosedBy != messages.ClosedByRemote):
				t.Fatalf("round %d: the other client won: %+v, the page got %s", i, c, got)
			}
		}
		t.Logf("ended by %v", ends)
	})
}

// TestM2_WhatTheAnchorSawIsNotLostForItsSlowness: the primary has told of a dialog and
// fallen, while the anchor has not heard yet that its Page.enable took effect.
func TestM2_WhatTheAnchorSawIsNotLostForItsSlowness(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	askingPages(r)
	k := r.task("m2-slow", r.through(p), func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
	primary, anchor := k.links(p)
	p.HoldReplies(anchor, `"Page.enable"`)
	page := k.openTab("http://a.test/asker")
	until(t, "the reply to Page.enable", func() bool { return p.IsWaiting(anchor) })
	k.laterOn(page, "ask('prompt')")
	d := k.dialog()
	p.HoldDials()
	k.fells(p, primary)
	k.answers(d, 1, func() { p.Release(anchor) })
	if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByAgent || !c.Promoted {
		t.Errorf("closed %+v", c)
	}
	p.ReleaseDials()
	k.reconnected(1)
	if got := k.evalOn(page, "window.got"); got != `"d-1 caller 0"` {
		t.Errorf("the page got %s", got)
	}
}
