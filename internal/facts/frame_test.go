package facts_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
)

// frameTree is the reply of Page.getFrameTree.
type frameTree struct {
	Frame struct {
		ID       string `json:"id"`
		ParentID string `json:"parentId"`
		URL      string `json:"url"`
	} `json:"frame"`
	ChildFrames []frameTree `json:"childFrames"`
}

func getFrameTree(t *testing.T, c *chromiumtest.Raw, session string) frameTree {
	t.Helper()
	var reply struct {
		FrameTree frameTree `json:"frameTree"`
	}
	if err := json.Unmarshal(c.Must(session, "Page.getFrameTree", nil), &reply); err != nil {
		t.Fatal(err)
	}
	return reply.FrameTree
}

// Rule: the whole tree is ours to build; no one reply of Chromium has it.
func TestM12_TheTreeOfAPageOmitsItsFrames(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	p := c.NewPage("")
	p.AutoAttach(0)
	p.Navigate(site.URL("http://a.test/oopif"))
	e := p.NextWhere("attach", func(e chromiumtest.Event) bool { return on(p.Session, "Target.attachedToTarget")(e) })
	frame := info(e, "targetId")
	want(t, "parent frame", info(e, "parentFrameId"), p.Target)
	e = p.NextWhere("frameDetached", on(p.Session, "Page.frameDetached"))
	want(t, "detached frame", e.Param("frameId"), frame)
	want(t, "reason", e.Param("reason"), "swap")
	want(t, "children in the page's tree", len(getFrameTree(t, c, p.Session).ChildFrames), 0)
}

// lifecycle is a page with one frame and what happens to it, as a transcript:
// S0 is the page's session, S1 and so on are frames' sessions in the order of
// their attach, F1 and so on frames in the order they are first met.
type lifecycle struct {
	*chromiumtest.Page
	t        *testing.T
	site     *chromiumtest.Site
	sessions []string
	frames   []string
	from     int
}

func newLifecycle(t *testing.T, site *chromiumtest.Site, c *chromiumtest.Raw, path string, frames int) *lifecycle {
	t.Helper()
	p := c.NewPage("")
	l := &lifecycle{Page: p, t: t, site: site, sessions: []string{p.Session}, frames: []string{p.Target}}
	p.AutoAttach(0)
	p.Navigate(site.URL("http://a.test" + path))
	for range frames {
		e := l.NextWhere("attach", func(e chromiumtest.Event) bool {
			return e.Method == "Target.attachedToTarget" && slices.Contains(l.sessions, e.Session)
		})
		l.enable(e.Param("sessionId"))
	}
	return l
}

func (l *lifecycle) enable(session string) {
	l.Must(session, "Page.enable", nil)
	l.Must(session, "Inspector.enable", nil)
	l.Must(session, "Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true})
	l.sessions = append(l.sessions, session)
}

// mark forgets what happened so far.
func (l *lifecycle) mark() { l.from = len(l.Events(nil)) }

func (l *lifecycle) name(prefix string, list *[]string, id string) string {
	i := slices.Index(*list, id)
	if i < 0 {
		i = len(*list)
		*list = append(*list, id)
	}
	return fmt.Sprintf("%s%d", prefix, i)
}

// transcript returns what happened to the frames since mark.
func (l *lifecycle) transcript() []string {
	var lines []string
	for _, e := range l.Events(nil)[l.from:] {
		if !slices.Contains(l.sessions, e.Session) {
			continue
		}
		on := "[" + l.name("S", &l.sessions, e.Session) + "] "
		frame := func(id string) string { return l.name("F", &l.frames, id) }
		switch e.Method {
		case "Target.attachedToTarget":
			session := e.Param("sessionId")
			lines = append(lines, on+"attached "+l.name("S", &l.sessions, session)+" "+frame(info(e, "targetId"))+
				" in "+frame(info(e, "parentFrameId")))
		case "Target.detachedFromTarget":
			lines = append(lines, on+"detached "+l.name("S", &l.sessions, e.Param("sessionId")))
		case "Page.frameAttached", "Page.frameSubtreeWillBeDetached":
			lines = append(lines, on+strings.TrimPrefix(e.Method, "Page.")+" "+frame(e.Param("frameId")))
		case "Page.frameDetached":
			lines = append(lines, on+"frameDetached "+frame(e.Param("frameId"))+" "+e.Param("reason"))
		case "Page.frameNavigated":
			lines = append(lines, on+"frameNavigated "+frame(chromiumtest.Field(json.RawMessage(e.Param("frame")), "id")))
		case "Inspector.targetCrashed":
			lines = append(lines, on+"crashed")
		}
	}
	return lines
}

func (l *lifecycle) want(lines ...string) {
	l.t.Helper()
	got := l.transcript()
	if !slices.Equal(got, lines) {
		l.t.Errorf("transcript:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

// Rule: nodes are keyed by frame id; swap means another owner, only remove
// and a navigation of a parent delete.
func TestC35_FrameLifecycle(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	src := func(l *lifecycle, url string) {
		l.Must(l.Session, "Runtime.evaluate", params{"expression": "document.getElementById('f').src = '" + site.URL(url) + "'"})
	}
	t.Run("same to cross", func(t *testing.T) {
		l := newLifecycle(t, site, c, "/same-origin", 0)
		frame := getFrameTree(t, c, l.Session).ChildFrames[0].Frame.ID
		l.frames = append(l.frames, frame)
		l.mark()
		src(l, "http://b.test/plain")
		e := l.NextWhere("attach", on(l.Session, "Target.attachedToTarget"))
		want(t, "target id is the frame id", info(e, "targetId"), frame)
		l.NextWhere("swap", on(l.Session, "Page.frameDetached"))
		l.want("[S0] attached S1 F1 in F0", "[S0] frameDetached F1 swap")
		tree := getFrameTree(t, c, e.Param("sessionId"))
		want(t, "parent of the child's root", tree.Frame.ParentID, l.Target)
		want(t, "children in the page's tree", len(getFrameTree(t, c, l.Session).ChildFrames), 0)
	})
	t.Run("cross to cross", func(t *testing.T) {
		l := newLifecycle(t, site, c, "/oopif", 1)
		l.NextWhere("swap", on(l.Session, "Page.frameDetached"))
		l.frames = append(l.frames, getFrameTree(t, c, l.sessions[1]).Frame.ID)
		l.mark()
		src(l, "http://c.test/plain")
		l.NextWhere("navigated", on(l.sessions[1], "Page.frameNavigated"))
		l.Must(l.Session, "Page.getFrameTree", nil)
		l.want("[S1] frameNavigated F1")
	})
	t.Run("cross to same", func(t *testing.T) {
		l := newLifecycle(t, site, c, "/oopif", 1)
		l.NextWhere("swap", on(l.Session, "Page.frameDetached"))
		l.frames = append(l.frames, getFrameTree(t, c, l.sessions[1]).Frame.ID)
		l.mark()
		src(l, "http://a.test/plain")
		l.NextWhere("navigated", func(e chromiumtest.Event) bool {
			return on(l.Session, "Page.frameNavigated")(e) && chromiumtest.Field(json.RawMessage(e.Param("frame")), "id") == l.frames[1]
		})
		l.Must(l.Session, "Page.getFrameTree", nil)
		l.want("[S0] detached S1", "[S0] frameAttached F1", "[S0] frameNavigated F1")
	})
	t.Run("remove, with a nested frame", func(t *testing.T) {
		site.Set("/deep", `<title>/deep</title><iframe id=f src="http://b.test/deeper"></iframe>`)
		site.Set("/deeper", `<iframe src="http://c.test/plain"></iframe>`)
		l := newLifecycle(t, site, c, "/deep", 2)
		for len(getFrameTree(t, c, l.sessions[1]).ChildFrames) > 0 { // not swapped out yet
			l.Must(l.Session, "Page.getFrameTree", nil)
		}
		l.NextWhere("swap", on(l.Session, "Page.frameDetached"))
		l.frames = append(l.frames, getFrameTree(t, c, l.sessions[1]).Frame.ID, getFrameTree(t, c, l.sessions[2]).Frame.ID)
		l.mark()
		l.Must(l.Session, "Runtime.evaluate", params{"expression": "document.getElementById('f').remove()"})
		l.NextWhere("detach", func(e chromiumtest.Event) bool {
			return on(l.Session, "Target.detachedFromTarget")(e)
		})
		l.want("[S0] frameSubtreeWillBeDetached F1", "[S1] frameDetached F2 remove", "[S1] detached S2",
			"[S0] frameDetached F1 remove", "[S0] detached S1")
	})
	t.Run("the page navigates away", func(t *testing.T) {
		l := newLifecycle(t, site, c, "/oopif", 1)
		l.NextWhere("swap", on(l.Session, "Page.frameDetached"))
		l.mark()
		l.Navigate(site.URL("http://d.test/plain"))
		l.want("[S0] detached S1", "[S0] frameNavigated F0")
	})
	t.Run("a sandboxed frame of the same site is out of process", func(t *testing.T) {
		newLifecycle(t, site, c, "/sandbox", 1)
	})
	t.Run("srcdoc and data frames are in process", func(t *testing.T) {
		site.Set("/inner", `<title>/inner</title><iframe srcdoc="<p>x"></iframe><iframe src="data:text/html,x"></iframe>`)
		l := newLifecycle(t, site, c, "/inner", 0)
		want(t, "children in the page's tree", len(getFrameTree(t, c, l.Session).ChildFrames), 2)
		want(t, "attached", len(l.Events(on(l.Session, "Target.attachedToTarget"))), 0)
	})
	t.Run("a frame's crash is told to it and detaches nothing", func(t *testing.T) {
		l := newLifecycle(t, site, c, "/oopif", 1)
		l.NextWhere("swap", on(l.Session, "Page.frameDetached"))
		l.mark()
		l.Send(l.sessions[1], "Page.crash", nil)
		l.NextWhere("crash", on(l.sessions[1], "Inspector.targetCrashed"))
		l.Must(l.Session, "Page.getFrameTree", nil)
		l.want("[S1] crashed")
	})
}

// Rule: rebuild is: attach all, ask each session for its tree, merge on the
// frame id; a child's own root overrides any other node of that id.
func TestC36_TheForestIsTheMergeOfAllTrees(t *testing.T) {
	t.Parallel()
	site, c := stage(t)
	site.Set("/mixed", `<title>/mixed</title><iframe src="/same-origin"></iframe><iframe src="http://b.test/mixed-b"></iframe>
		<iframe sandbox src="/plain"></iframe>`)
	site.Set("/mixed-b", `<iframe src="http://b.test/plain"></iframe><iframe src="http://a.test/oopif"></iframe>`)
	p := c.NewPage(site.URL("http://a.test/mixed"))
	sessions := p.AutoAttach(4) // b, the sandboxed a, a within b, b within that
	type node struct{ url, parent, owner string }
	forest := map[string]node{}
	var merge func(owner string, tree frameTree, root bool)
	merge = func(owner string, tree frameTree, root bool) {
		if _, known := forest[tree.Frame.ID]; !known || root {
			forest[tree.Frame.ID] = node{site.Written(tree.Frame.URL), tree.Frame.ParentID, owner}
		}
		for _, child := range tree.ChildFrames {
			merge(owner, child, false)
		}
	}
	merge(p.Target, getFrameTree(t, c, p.Session), true)
	for target, session := range sessions {
		tree := getFrameTree(t, c, session)
		want(t, "root of the frame's tree", tree.Frame.ID, target)
		merge(target, tree, true)
	}
	var path func(id string) string
	path = func(id string) string {
		n := forest[id]
		if n.parent == "" {
			return n.url
		}
		return path(n.parent) + " > " + n.url
	}
	var got []string
	for id := range forest {
		got = append(got, path(id))
	}
	slices.Sort(got)
	wanted := []string{
		"http://a.test/mixed",
		"http://a.test/mixed > http://a.test/plain",
		"http://a.test/mixed > http://a.test/same-origin",
		"http://a.test/mixed > http://a.test/same-origin > http://a.test/prompt",
		"http://a.test/mixed > http://b.test/mixed-b",
		"http://a.test/mixed > http://b.test/mixed-b > http://a.test/oopif",
		"http://a.test/mixed > http://b.test/mixed-b > http://a.test/oopif > http://b.test/plain",
		"http://a.test/mixed > http://b.test/mixed-b > http://b.test/plain",
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("forest:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(wanted, "\n  "))
	}
}
