package acceptance_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestC35_FramesThatGo(t *testing.T) {
	t.Parallel()
	t.Run("removed, with what is below", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c35")
		k.goTo("http://a.test/nested")
		k.fullFrame("/prompt")
		k.eval(k.frame("/nested-b").FrameID, "document.getElementById('f').remove(); 0")
		k.awaitTree("only the first", func(tree *messages.FrameTree) bool {
			return len(tree.Children) == 1 && strings.HasSuffix(tree.Children[0].URL, "/nested-b")
		})
		k.eval("", "document.getElementById('f').remove(); 0")
		k.awaitTree("none", func(tree *messages.FrameTree) bool { return len(tree.Children) == 0 })
	})
	t.Run("left behind by a cross-site navigation", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c35")
		k.goTo("http://a.test/nested")
		k.fullFrame("/prompt")
		top := k.snapshot().FrameTree.Top
		k.goTo("http://c.test/plain")
		tree := k.full()
		if len(tree.Children) != 0 || tree.Top.FrameID != top.FrameID || tree.Top.URL != k.site.URL("http://c.test/plain") || tree.Top.Origin != k.site.URL("http://c.test") {
			t.Errorf("tree %+v", tree)
		}
	})
	t.Run("restored from the back/forward cache", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c35")
		k.goTo("http://a.test/oopif-prompt")
		before := k.frame("/prompt")
		k.eval("", "window.kept = 'kept'; 0")
		k.eval(before.FrameID, "window.kept = 'kept too'; 0")
		k.goTo("http://c.test/oopif")
		k.frame("/plain")
		k.eval("", "setTimeout(() => history.back()); 0")
		k.awaitTree("the old page with its frame", func(tree *messages.FrameTree) bool {
			return strings.HasSuffix(tree.Top.URL, "/oopif-prompt") && len(tree.Children) == 1 && tree.Children[0].SessionID != ""
		})
		after := k.frame("/prompt")
		if after.FrameID != before.FrameID || after.SessionID == before.SessionID {
			t.Errorf("before %+v, after %+v", before, after)
		}
		if a, b := k.eval("", "window.kept"), k.eval(after.FrameID, "window.kept"); a != `"kept"` || b != `"kept too"` {
			t.Errorf("it was loaded anew: %s, %s", a, b)
		}
		k.later(after.FrameID, "ask()")
		if d := k.dialog(); d.FrameID != after.FrameID {
			t.Errorf("dialog %+v", d)
		}
		k.accept("restored")
		if got := k.eval(after.FrameID, "window.got"); got != `"restored"` {
			t.Errorf("the frame received %s", got)
		}
	})
}

// truth is the forest by the browser's own word: each session's tree, merged
// by frame id, that of a frame's own session laid over its parent's (C36).
func truth(t *testing.T, r *rig, page messages.TargetID) map[string]messages.FrameNode {
	t.Helper()
	c := chromiumtest.Dial(t, r.chrome.WS())
	defer c.Close()
	forest := map[string]messages.FrameNode{}
	type raw struct {
		Frame struct {
			ID, ParentID, URL, URLFragment, SecurityOrigin string
		}
		ChildFrames []json.RawMessage
	}
	var lay func(b json.RawMessage, oopif bool)
	lay = func(b json.RawMessage, oopif bool) {
		var f raw
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		origin := f.Frame.SecurityOrigin
		if origin == "" || origin == "://" {
			origin = "null"
		}
		n := messages.FrameNode{
			FrameID: messages.FrameID(f.Frame.ID), ParentFrameID: messages.FrameID(f.Frame.ParentID),
			URL: f.Frame.URL + f.Frame.URLFragment, Origin: origin, IsOOPIF: oopif,
		}
		if old, ok := forest[f.Frame.ID]; !ok || oopif || !old.IsOOPIF {
			forest[f.Frame.ID] = n
		}
		for _, child := range f.ChildFrames {
			lay(child, false)
		}
	}
	todo := []string{c.Attach(string(page))}
	for i := 0; i < len(todo); i++ {
		session := todo[i]
		// A frame may go while it is being asked; it is then not asked for.
		if _, err := c.Call(session, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}); err != nil {
			continue
		}
		for _, e := range c.Events(chromiumtest.On(session, "Target.attachedToTarget")) {
			todo = append(todo, e.Param("sessionId"))
		}
		b, err := c.Call(session, "Page.getFrameTree", nil)
		if err != nil {
			continue
		}
		lay(json.RawMessage(chromiumtest.Field(b, "frameTree")), i > 0)
	}
	return forest
}

// published is the product's forest in the same form.
func (k *task) published() map[string]messages.FrameNode {
	k.Helper()
	tree := k.full()
	forest := map[string]messages.FrameNode{
		string(tree.Top.FrameID): {FrameID: tree.Top.FrameID, URL: tree.Top.URL, Origin: tree.Top.Origin},
	}
	for _, n := range tree.Children {
		if n.IsOOPIF != (n.SessionID != "") {
			k.Logf("out of process without a session: %+v", n)
		}
		n.SessionID = ""
		forest[string(n.FrameID)] = n
	}
	return forest
}

func TestC36_AfterAStormTheForestIsTheBrowsers(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2, 3} {
		t.Run("seed "+strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("c36")
			k.goTo("http://a.test/plain")
			page := k.snapshot().PageTargetID
			roll := rand.New(rand.NewPCG(seed, 0))
			paths := []string{"/plain", "/oopif", "/same-origin", "/a-b-a", "/sandbox", "/nested-c", "/two-oopifs"}
			somewhere := func() string {
				return k.site.URL(fmt.Sprintf("http://%c.test%s", 'a'+rune(roll.IntN(4)), paths[roll.IntN(len(paths))]))
			}
			counts := map[string]int{}
			for range 120 {
				// In the page, or in one of the frames with a session of its own.
				where := []messages.FrameID{""}
				for _, n := range k.full().Children {
					if n.SessionID != "" {
						where = append(where, n.FrameID)
					}
				}
				in, nth := where[roll.IntN(len(where))], roll.IntN(5)
				var op, script string
				switch d := roll.IntN(10); {
				case d < 3 && len(where) < 25:
					op = "add"
					script = fmt.Sprintf("const f = document.createElement('iframe'); f.src = %q; document.documentElement.append(f)", somewhere())
				case d < 4:
					op = "add without a source"
					script = "document.documentElement.append(document.createElement('iframe'))"
				case d < 6:
					op = "remove"
					script = fmt.Sprintf("document.querySelectorAll('iframe')[%d]?.remove()", nth)
				case d < 9:
					op = "navigate"
					script = fmt.Sprintf("const f = document.querySelectorAll('iframe')[%d]; if (f) f.src = %q", nth, somewhere())
				default:
					op = "move the document"
					script = fmt.Sprintf("if (top !== window) location.href = %q", somewhere())
				}
				_, err := k.tryEval(in, "(() => { "+script+" })(); 0")
				switch messages.CodeOf(err) {
				case "":
					counts[op]++
				case messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF, messages.CodeUpstreamUnavailable, messages.CodeCDPError, messages.CodeInternal:
					counts["too late"]++ // the frame went meanwhile
				default:
					t.Fatalf("%s in %q: %v", op, in, err)
				}
			}
			t.Logf("did %v", counts)
			if counts["add"] < 10 || counts["too late"] > 60 {
				t.Errorf("that is no storm: %v", counts)
			}
			k.settles(page)
		})
	}
}

// settles waits until the browser's forest stands still and is the published one.
func (k *task) settles(page messages.TargetID) {
	k.Helper()
	deadline := time.Now().Add(patience)
	last := truth(k.T, k.rig, page)
	for {
		now := truth(k.T, k.rig, page)
		still := cmp.Equal(last, now)
		diff := cmp.Diff(now, k.published())
		if still && diff == "" {
			k.Logf("%d frames", len(now))
			return
		}
		if time.Now().After(deadline) {
			k.Fatalf("the forests differ (-browser +published):\n%s", diff)
		}
		last = now
	}
}
