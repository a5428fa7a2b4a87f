package acceptance_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdfast/messages"
)

// full is the current page's whole frame tree.
func (k *task) full() *messages.FrameTree {
	k.Helper()
	s, err := k.node.Snapshot(k.id, messages.SnapshotOptions{Full: true})
	if err != nil {
		k.Fatalf("full snapshot: %v", err)
	}
	return s.FrameTree
}

// awaitTree waits for a whole frame tree that is as expected.
func (k *task) awaitTree(what string, ok func(*messages.FrameTree) bool) *messages.FrameTree {
	k.Helper()
	var found *messages.FrameTree
	k.await(what, func(*messages.Snapshot) bool {
		t := k.full()
		if t != nil && ok(t) {
			found = t
		}
		return found != nil
	})
	return found
}

// frameWhere waits for a frame of the whole tree.
func (k *task) frameWhere(what string, ok func(messages.FrameNode) bool) messages.FrameNode {
	k.Helper()
	var found messages.FrameNode
	k.awaitTree("a frame "+what, func(t *messages.FrameTree) bool {
		i := slices.IndexFunc(t.Children, func(n messages.FrameNode) bool { return (!n.IsOOPIF || n.SessionID != "") && ok(n) })
		if i >= 0 {
			found = t.Children[i]
		}
		return i >= 0
	})
	return found
}

// fullFrame is frame beyond the caps.
func (k *task) fullFrame(suffix string) messages.FrameNode {
	k.Helper()
	return k.frameWhere("at "+suffix, func(n messages.FrameNode) bool { return strings.HasSuffix(n.URL, suffix) })
}

func childFrame(t *messages.FrameTree, id messages.FrameID) (messages.FrameNode, bool) {
	i := slices.IndexFunc(t.Children, func(n messages.FrameNode) bool { return n.FrameID == id })
	if i < 0 {
		return messages.FrameNode{}, false
	}
	return t.Children[i], true
}

func keys(v any) []string {
	m, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

func TestF1_TheShapeOfTheTree(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f1")
	k.site.Set("/two-levels", `<title>/two-levels</title><iframe src="/mid"></iframe>`)
	k.site.Set("/mid", `<title>/mid</title><iframe src="http://b.test/plain"></iframe>`)
	k.goTo("http://a.test/two-levels")
	mid, low := k.frame("/mid"), k.frame("/plain")
	_, snapshot := k.door().call("GET", "/v1/tasks/f1/snapshot", "")
	tree, _ := snapshot["frame_tree"].(map[string]any)
	if got := keys(tree); !slices.Equal(got, []string{"children", "top", "truncated"}) {
		t.Errorf("tree has %v", got)
	}
	s := k.snapshot()
	origin := k.site.URL("http://a.test")
	want := map[string]any{"frame_id": string(s.PageTargetID), "url": origin + "/two-levels", "origin": origin}
	if diff := cmp.Diff(want, tree["top"]); diff != "" {
		t.Errorf("top: %s", diff)
	}
	other := k.site.URL("http://b.test")
	children := []any{
		map[string]any{"frame_id": string(mid.FrameID), "parent_frame_id": string(s.PageTargetID), "url": origin + "/mid", "origin": origin, "is_oopif": false},
		map[string]any{"frame_id": string(low.FrameID), "parent_frame_id": string(mid.FrameID), "url": other + "/plain", "origin": other, "is_oopif": true, "session_id": string(low.SessionID)},
	}
	if diff := cmp.Diff(any(children), tree["children"]); diff != "" {
		t.Errorf("children: %s", diff)
	}
	if tree["truncated"] != false || low.SessionID == "" {
		t.Errorf("tree %v", tree)
	}
}

func TestF2_TheEntryCap(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]struct {
		shown     int
		truncated bool
	}{60: {30, true}, 31: {30, true}, 30: {30, false}} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("f2")
			k.goTo("http://a.test/many?n=" + strconv.Itoa(n))
			full := k.awaitTree("all frames", func(f *messages.FrameTree) bool {
				return len(f.Children) == n && !slices.ContainsFunc(f.Children, func(c messages.FrameNode) bool { return c.SessionID == "" })
			})
			if full.Truncated {
				t.Error("the whole tree says that it is truncated")
			}
			shown := k.snapshot().FrameTree
			if len(shown.Children) != want.shown || shown.Truncated != want.truncated {
				t.Errorf("%d shown, truncated %v", len(shown.Children), shown.Truncated)
			}
			if !slices.Equal(shown.Children, full.Children[:want.shown]) {
				t.Error("shown are not the first ones")
			}
			_, body := k.door().call("GET", "/v1/tasks/f2/snapshot?full=true", "")
			if got := len(body["frame_tree"].(map[string]any)["children"].([]any)); got != n {
				t.Errorf("full=true over HTTP: %d", got)
			}
		})
	}
}

func TestF3_TheOOPIFDepthCap(t *testing.T) {
	t.Parallel()
	t.Run("a chain of four origins", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("f3")
		k.goTo("http://a.test/nested")
		deepest := k.fullFrame("/prompt")
		full := k.full()
		if len(full.Children) != 3 || full.Truncated || full.Children[2].FrameID != deepest.FrameID {
			t.Fatalf("whole: %+v", full)
		}
		shown := k.snapshot().FrameTree
		if len(shown.Children) != 2 || !shown.Truncated || !slices.Equal(shown.Children, full.Children[:2]) {
			t.Errorf("shown: %+v", shown)
		}
		if got := k.eval(deepest.FrameID, "document.title"); got != `"/prompt"` {
			t.Errorf("what is not shown is still reached: %s", got)
		}
	})
	t.Run("in-process frames do not count", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("f3")
		k.site.Set("/l0", `<iframe src="/l1"></iframe>`)
		k.site.Set("/l1", `<iframe src="/l2"></iframe>`)
		k.site.Set("/l2", `<iframe src="/l3"></iframe>`)
		k.site.Set("/l3", `<iframe src="http://b.test/plain"></iframe>`)
		k.goTo("http://a.test/l0")
		k.frame("/plain")
		if shown := k.snapshot().FrameTree; len(shown.Children) != 4 || shown.Truncated {
			t.Errorf("shown: %+v", shown)
		}
	})
}

func TestF4_OOPIFsAreMarked(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f4")
	k.site.Set("/mixed", `<iframe src="/prompt"></iframe><iframe src="http://b.test/plain"></iframe><iframe sandbox="allow-scripts" src="/confirm"></iframe>`)
	k.goTo("http://a.test/mixed")
	if f := k.frame("/prompt"); f.IsOOPIF || f.SessionID != "" {
		t.Errorf("same origin: %+v", f)
	}
	for _, suffix := range []string{"/plain", "/confirm"} {
		if f := k.frame(suffix); !f.IsOOPIF || f.SessionID == "" {
			t.Errorf("%s: %+v", suffix, f)
		}
	}
	// M12: the page's own session knows nothing of it.
	if tree := string(k.cdp("", "Page.getFrameTree", "{}")); strings.Contains(tree, "/plain") || !strings.Contains(tree, "/prompt") {
		t.Errorf("Page.getFrameTree: %s", tree)
	}
}

func TestF13_TheFullTreeHasWhatPageGetFrameTreeLacks(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f13")
	k.goTo("http://a.test/nested")
	k.fullFrame("/prompt")
	if tree := string(k.cdp("", "Page.getFrameTree", "{}")); strings.Contains(tree, "nested-b") {
		t.Errorf("Page.getFrameTree: %s", tree)
	}
	_, body := k.door().call("GET", "/v1/tasks/f13/snapshot?full=true", "")
	tree := body["frame_tree"].(map[string]any)
	if got := fmt.Sprint(tree["children"]); tree["truncated"] != false || !strings.Contains(got, "/nested-b") || !strings.Contains(got, "/nested-c") || !strings.Contains(got, "/prompt") {
		t.Errorf("full=true: %v", tree)
	}
	t.Run("of a page that is not the current one", func(t *testing.T) {
		first := k.snapshot().PageTargetID
		k.openTab("http://a.test/plain")
		s, err := k.node.Snapshot(k.id, messages.SnapshotOptions{TargetID: first, Full: true})
		if err != nil || s.PageTargetID != first || len(s.FrameTree.Children) != 3 {
			t.Errorf("%+v, %v", s, err)
		}
		if current := k.full(); len(current.Children) != 0 {
			t.Errorf("of the current one: %+v", current)
		}
	})
}
