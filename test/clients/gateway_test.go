package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// patience is how long what must happen may take on a loaded machine.
const patience = 30 * time.Second

var built = sync.OnceValues(func() (string, error) { return Build(context.Background(), binaries) })

// startNode starts a node that ends with the test.
func startNode(t *testing.T) *Node {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	n, err := StartNode(ctx, binary, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if log := n.Stop(); t.Failed() {
			t.Logf("the node's log:\n%s", log)
		}
	})
	return n
}

// startTask starts a task on the browser at a CDP address.
func startTask(t *testing.T, n *Node, id, browser string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := n.StartTask(ctx, id, browser, nil); err != nil {
		t.Fatal(err)
	}
}

// port runs holdfast connect for a task, and returns the address of its port, which clients find that
// ask at the root and send no header.
func port(t *testing.T, n *Node, id string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := exec.CommandContext(ctx, n.binary, append([]string{"connect", id, "--json"}, args...)...)
	c.Env = append(os.Environ(), "HOLDFAST_NODE="+n.URL, "HOLDFAST_TOKEN="+n.Token)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = patience
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := c.Wait(); c.ProcessState.ExitCode() != 0 {
			t.Errorf("holdfast connect ends with %v: %s", err, said.String())
		}
	})
	var first struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&first); err != nil {
		t.Fatalf("holdfast connect says nothing of its port: %v", err)
	}
	return first.URL
}

// clientDialogs has the client's own handlers answer dialogs.
var clientDialogs = url.Values{"dialogs": {"client"}}

// TestThroughATask: what a client does with a browser it does with a task, each with one of
// its own on the same browser, at the same time. Each connects as docs/gateway.md says.
func TestThroughATask(t *testing.T) {
	site, chrome, node := serve(t), chromiumtest.Shared(t), startNode(t)
	for _, p := range Programs {
		t.Run(p.Client, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			startTask(t, node, p.Client, chrome.WS())
			place := Place{
				WS: node.Address("ws", p.Client, clientDialogs), HTTP: port(t, node, p.Client, "--dialogs", "client"),
				Page: site.URL("http://a.test/client"), Dir: t.TempDir(),
			}
			if p.hasHeaders {
				place.WS = node.bare("ws", p.Client, clientDialogs)
				place.Headers = map[string]string{"Authorization": "Bearer " + node.Token}
			}
			if p.hasPath {
				place.HTTP = node.bare("http", p.Client, clientDialogs)
			}
			check(t, p, place)
			t.Logf("%v", time.Since(begun).Round(time.Millisecond))
		})
	}
}

// TestTasksDoNotMeet: the clients of two tasks on one browser see no target of each other's.
func TestTasksDoNotMeet(t *testing.T) {
	site, chrome, node := serve(t), chromiumtest.Shared(t), startNode(t)
	var ids [2][]string
	for n := range ids {
		id := fmt.Sprintf("task-%d", n)
		startTask(t, node, id, chrome.WS())
		c := chromiumtest.Dial(t, node.Address("ws", id, nil))
		c.NewPage(site.URL("http://a.test/client"))
	}
	for n := range ids {
		c := chromiumtest.Dial(t, node.Address("ws", fmt.Sprintf("task-%d", n), nil))
		for _, info := range targets(t, c, "") {
			ids[n] = append(ids[n], info.TargetID)
		}
		if len(ids[n]) < 3 { // its own page, the client's, and the frame
			t.Errorf("task %d sees %d targets", n, len(ids[n]))
		}
	}
	for _, id := range ids[0] {
		if slices.Contains(ids[1], id) {
			t.Errorf("both see the target %s", id)
		}
	}
}

// TestTasksInOneContextDoNotMeet: where the pages of two tasks share the browser's own context,
// a client that looks at tabs, as Puppeteer does, sees those of its task and no other.
func TestTasksInOneContextDoNotMeet(t *testing.T) {
	site, chrome, node := serve(t), chromiumtest.Shared(t), startNode(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sees := func(c *chromiumtest.Raw) (tabs []string) {
		for _, info := range targets(t, c, "tab") {
			tabs = append(tabs, info.TargetID)
		}
		return tabs
	}
	var all []string
	for n := range 2 {
		id := fmt.Sprintf("beside-%d", n)
		if err := node.StartTask(ctx, id, chrome.WS(), map[string]any{"isolation": "shared"}); err != nil {
			t.Fatal(err)
		}
		first := chromiumtest.Dial(t, node.Address("ws", id, nil))
		page := first.NewPage(site.URL("http://a.test/client"))
		c := chromiumtest.Dial(t, node.Address("ws", id, nil)) // which finds both pages there
		c.Must("", "Target.setDiscoverTargets", map[string]any{"discover": true, "filter": []any{map[string]any{}}})
		tabs := sees(c)
		if len(tabs) != 2 {
			t.Errorf("%s has two pages, and its client sees the tabs %v", id, tabs)
		}
		// A popup's tab is told when it opens, and that it has closed.
		if _, err := first.Call(page.Session, "Runtime.evaluate", map[string]any{"expression": "window.popup = window.open('/client-popup'); 0", "userGesture": true}); err != nil {
			t.Fatal(err)
		}
		popup := c.NextWhere("the popup's tab", func(e chromiumtest.Event) bool {
			return e.Method == "Target.targetCreated" && infoOf(t, e).Type == "tab" && !slices.Contains(tabs, infoOf(t, e).TargetID)
		})
		c.Must("", "Target.closeTarget", map[string]any{"targetId": infoOf(t, popup).TargetID})
		c.NextWhere("the end of the popup's tab", func(e chromiumtest.Event) bool {
			return e.Method == "Target.targetDestroyed" && e.Param("targetId") == infoOf(t, popup).TargetID
		})
		for _, tab := range tabs {
			if slices.Contains(all, tab) {
				t.Errorf("both see the tab %s", tab)
			}
		}
		all = append(all, tabs...)
	}
}

// TestANewPageIsDrawnInTheBackground: the page in front stays there, and a client that clicks in
// the new one does not wait for frames.
func TestANewPageIsDrawnInTheBackground(t *testing.T) {
	site, chrome, node := serve(t), chromiumtest.Shared(t), startNode(t)
	startTask(t, node, "background", chrome.WS())
	c := chromiumtest.Dial(t, node.Address("ws", "background", nil))
	open := func() (target, session string) {
		target = chromiumtest.Field(c.Must("", "Target.createTarget", map[string]any{"url": site.URL("http://a.test/client")}), "targetId")
		return target, c.Attach(target)
	}
	first, front := open()
	c.Must("", "Target.activateTarget", map[string]any{"targetId": first})
	_, background := open()
	for what, session := range map[string]string{"front": front, "background": background} {
		var got string
		drawn := c.Eval(session, "new Promise(r => requestAnimationFrame(() => r(document.visibilityState)))")
		if err := json.Unmarshal(drawn, &got); err != nil || got != "visible" {
			t.Errorf("the page in the %s is %s (%v)", what, drawn, err)
		}
	}
}

// seen is what a client is told of one.
type seen struct {
	TargetID string `json:"targetId"`
	Type     string `json:"type"`
	URL      string `json:"url"`
}

// infoOf is the target that an event tells of.
func infoOf(t *testing.T, e chromiumtest.Event) seen {
	t.Helper()
	var p struct {
		TargetInfo seen `json:"targetInfo"`
	}
	e.Decode(t, &p)
	return p.TargetInfo
}

// targets are what a client sees, of one type where kind is not "".
func targets(t *testing.T, c *chromiumtest.Raw, kind string) []seen {
	t.Helper()
	var answer struct {
		TargetInfos []seen `json:"targetInfos"`
	}
	params := map[string]any{}
	if kind != "" {
		params["filter"] = []any{map[string]any{"type": kind}}
	}
	if err := json.Unmarshal(c.Must("", "Target.getTargets", params), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.TargetInfos
}
