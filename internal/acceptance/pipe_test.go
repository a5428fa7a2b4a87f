package acceptance_test

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/node"
	"holdfast/messages"
)

// piped is a task whose browser the node has launched and drives over a pipe.
func piped(t *testing.T, id messages.TaskID) (k *task, stateDir string) {
	t.Helper()
	r := setupOn(t, nil, func(c *node.Config) {
		c.AllowChaos = true
		c.ChromeArgs = []string{"--site-per-process", "--host-resolver-rules=MAP *.test 127.0.0.1"}
		stateDir = c.StateDir
	})
	if _, _, err := r.node.GetOrStart(r.ctx, id, messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil {
		t.Fatal(err)
	}
	k = &task{r, id}
	k.bothLinks()
	return k, stateDir
}

func (k *task) bothLinks() *messages.Snapshot {
	k.Helper()
	return k.await("both links", func(s *messages.Snapshot) bool {
		return s.State == messages.StateActive && s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp
	})
}

// kills breaks links by order, and waits until that is known and both stand again.
func (k *task) kills(which messages.Links) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, patience)
	defer cancel()
	w, err := k.node.Watch(ctx, k.id, k.snapshot().Version, true)
	if err != nil {
		k.Fatal(err)
	}
	defer w.Close()
	if _, err := k.node.Kill(ctx, k.id, which); err != nil {
		k.Fatalf("kill %s: %v", which, err)
	}
	for known := false; !known; {
		events, err := w.Next(ctx)
		if err != nil {
			k.Fatalf("the loss of %s: %v", which, err)
		}
		for _, e := range events {
			known = known || e.Connection != nil && (e.Connection.Primary != messages.LinkUp || e.Connection.Anchor != messages.LinkUp)
		}
	}
	k.bothLinks()
}

func TestAPipedBrowserHasNoPort(t *testing.T) {
	t.Parallel()
	k, state := piped(t, "pipe-port")
	if got := k.snapshot().Connection.Endpoint; got != "pipe:" {
		t.Errorf("endpoint %q", got)
	}
	if ports, err := filepath.Glob(filepath.Join(state, "profiles", "*", "DevToolsActivePort")); err != nil || len(ports) > 0 {
		t.Errorf("profiles name ports: %v %v", ports, err)
	}
	if got := string(k.cdp("", "Browser.getVersion", "{}")); !strings.Contains(got, "Chrome/") {
		t.Errorf("version %s", got)
	}
}

func TestDialogsOutliveTheLinksOfAPipe(t *testing.T) {
	t.Parallel()
	k, _ := piped(t, "pipe-dialog")
	k.goTo("http://a.test/popup")
	top := k.snapshot().PageTargetID
	for i, which := range []messages.Links{messages.LinksPrimary, messages.LinksAnchor, messages.LinksPrimary} {
		k.later("", "window.got = prompt('who?', 'dflt')")
		d := k.dialog()
		k.kills(which)
		if still := k.dialog(); still.ID != d.ID {
			t.Fatalf("%s: dialog %s has become %s", which, d.ID, still.ID)
		}
		answer := "round " + strconv.Itoa(i)
		if c := k.accept(answer); c.ClosedBy != messages.ClosedByAgent {
			t.Errorf("%s: closed by %s", which, c.ClosedBy)
		}
		if got := k.evalOn(top, "window.got"); got != strconv.Quote(answer) {
			t.Errorf("%s: the page received %s", which, got)
		}
	}
	// Both at once, without a dialog: nothing is lost either.
	k.eval("", "window.kept = 7")
	k.kills(messages.LinksBoth)
	if got := k.eval("", "window.kept"); got != "7" {
		t.Errorf("kept %s", got)
	}
	if n := k.snapshot().Connection.Reconnects; n < 3 {
		t.Errorf("%d reconnects", n)
	}
}

func TestFramesAndPopupsOverAPipe(t *testing.T) {
	t.Parallel()
	k, _ := piped(t, "pipe-frames")
	_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/oopif-prompt-on-load")})
	wantCode(t, err, messages.CodeBlockedByDialog)
	d := k.dialog()
	if top := k.snapshot().FrameTree.Top.FrameID; d.FrameID == top {
		t.Errorf("the dialog is said to be of the page: %+v", d)
	}
	k.kills(messages.LinksPrimary)
	k.accept("found")
	if got := k.evalOnFrame(d, "window.got"); got != `"found"` {
		t.Errorf("the frame received %s", got)
	}
	k.goTo("http://a.test/popup")
	opener := k.snapshot().PageTargetID
	k.laterOn(opener, k.site.URL("openChild('http://b.test/prompt-on-load')"))
	asked := k.dialog()
	p := k.popup(opener)
	if asked.TargetID != p.TargetID {
		t.Errorf("the dialog is on %s, the popup %s", asked.TargetID, p.TargetID)
	}
	k.accept("popup")
	if got := k.evalOnFrame(asked, "window.got"); got != `"popup"` {
		t.Errorf("the popup received %s", got)
	}
}
