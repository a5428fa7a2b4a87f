package acceptance_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"holdfast/messages"
)

func TestF5_ASwapIsNoRemoval(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f5")
	k.goTo("http://a.test/same-origin")
	f := k.frame("/prompt")
	stream := k.watch()
	for _, c := range []struct {
		url   string
		oopif bool
	}{{"http://b.test/plain", true}, {"http://c.test/confirm", true}, {"http://a.test/alert", false}} {
		to := k.site.URL(c.url)
		k.sends("f", to)
		k.awaitTree("the frame at "+c.url, func(tree *messages.FrameTree) bool {
			n, ok := childFrame(tree, f.FrameID)
			return ok && n.URL == to && n.IsOOPIF == c.oopif && (n.SessionID != "") == c.oopif && n.Origin == to[:strings.LastIndexByte(to, '/')]
		})
	}
	k.later("", "confirm('mark')")
	stream.until("the mark", func(e messages.Event) bool { return e.Dialog != nil })
	neverAbsent(t, stream.seen, f.FrameID)
}

// neverAbsent checks every published tree.
func neverAbsent(t *testing.T, events []messages.Event, id messages.FrameID) {
	t.Helper()
	trees := 0
	for _, e := range events {
		tree := e.FrameTree
		if e.Snapshot != nil {
			tree = e.Snapshot.FrameTree
		}
		if tree == nil {
			continue
		}
		trees++
		if n, ok := childFrame(tree, id); !ok || n.ParentFrameID != tree.Top.FrameID {
			t.Errorf("version %d: the frame is not there: %+v", e.Version, tree)
		}
	}
	t.Logf("%d trees published", trees)
	if trees < 3 {
		t.Errorf("only %d trees published", trees)
	}
}

func TestF6_BackAndForthFiftyTimes(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f6")
	k.goTo("http://a.test/same-origin")
	f := k.frame("/prompt")
	stream := k.watch()
	ways := []string{k.site.URL("http://b.test/plain"), k.site.URL("http://a.test/plain")}
	there := func(to string, oopif bool) {
		t.Helper()
		k.awaitTree("the frame at "+to, func(tree *messages.FrameTree) bool {
			n, ok := childFrame(tree, f.FrameID)
			return ok && len(tree.Children) == 1 && n.URL == to && n.IsOOPIF == oopif && (n.SessionID != "") == oopif
		})
	}
	for i := range 50 {
		to := ways[i%2] + "?" + strconv.Itoa(i)
		k.sends("f", to)
		there(to, i%2 == 0)
	}
	k.later("", "confirm('mark')")
	stream.until("the mark", func(e messages.Event) bool { return e.Dialog != nil })
	neverAbsent(t, stream.seen, f.FrameID)
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})

	// Without waiting for anything in between.
	k.evalPromise("", fmt.Sprintf(`new Promise(done => {
		const f = document.getElementById('f'), ways = [%q, %q]; let i = 50;
		const go = () => { if (i === 101) return done(0); f.src = ways[i %% 2] + '?' + i; i++; setTimeout(go, i %% 7) };
		go();
	})`, ways[0], ways[1]))
	// Where it ended only the browser knows: a navigation that meets the end
	// of another one is dropped.
	k.settles(k.snapshot().PageTargetID)
	if n, ok := childFrame(k.full(), f.FrameID); !ok || !strings.Contains(n.URL, "/plain?") {
		t.Errorf("the frame is %+v", n)
	}
}

// sends sends an iframe of the page somewhere and waits for its load event: a
// navigation begun before the parent's process knows that the frame has moved
// on is dropped by Chrome.
func (k *task) sends(element, url string) {
	k.Helper()
	k.evalPromise("", fmt.Sprintf("new Promise(r => { const f = document.getElementById(%q); f.onload = () => r(0); f.src = %q })", element, url))
}

func TestF7_ALostSessionLeavesItsFrame(t *testing.T) {
	t.Parallel()
	r := setup(t)
	wire := tap(t, r.chrome)
	k := wire.task(r, "f7", oneLink)
	k.goTo("http://a.test/nested")
	f, below := k.frame("/nested-b"), k.fullFrame("/prompt")
	wire.inject(`{"id":2000000000,"method":"Target.detachFromTarget","sessionId":"` + string(k.snapshot().Pages[0].SessionID) + `","params":{"sessionId":"` + string(f.SessionID) + `"}}`)
	k.awaitTree("the frame without a session", func(tree *messages.FrameTree) bool {
		n, ok := childFrame(tree, f.FrameID)
		return ok && n.SessionID == "" && n.IsOOPIF && n.URL == f.URL
	})
	// Those attached through it went with it; their frames stay as well.
	k.awaitTree("the frames below without sessions", func(tree *messages.FrameTree) bool {
		n, ok := childFrame(tree, below.FrameID)
		return ok && n.SessionID == "" && len(tree.Children) == 3
	})
	_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{FrameID: f.FrameID, WaitS: new(float64)}, "1")
	wantCode(t, err, messages.CodeUpstreamUnavailable)
	if got := k.eval("", "document.title"); got != `"/nested"` {
		t.Errorf("the page says %s", got)
	}
	k.eval("", "document.getElementById('f').remove(); 0")
	k.awaitTree("no frame any more", func(tree *messages.FrameTree) bool { return len(tree.Children) == 0 })
}
