package acceptance_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

func TestA1_OneConnectionPerTask(t *testing.T) {
	t.Parallel()
	ownSockets := func(c *node.Config) { c.ShareLinks = node.ShareLinksOff } // else each link is a session of a shared one
	r, p := proxied(t, chromiumtest.Shared(t), ownSockets)
	for i := range 3 {
		k := r.task(messages.TaskID(fmt.Sprintf("a1-%d", i)), r.through(p), oneLink)
		k.goTo("http://a.test/oopif")
		k.frame("/plain")
		if got := k.eval("", "document.title"); got != `"/oopif"` {
			t.Fatalf("title %s", got)
		}
	}
	if p.Dials() != 3 || p.Open() != 3 {
		t.Fatalf("%d connections were made, %d are open, want 3", p.Dials(), p.Open())
	}
}

// starts starts one task many times at once.
func (r *rig) starts(n int, id messages.TaskID, spec func(i int) messages.TaskSpec) (started int, errs []error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			snap, fresh, err := r.node.GetOrStart(r.ctx, id, spec(i))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			if snap.TaskID != id {
				errs = append(errs, errors.New("another task: "+string(snap.TaskID)))
			}
			if fresh {
				started++
			}
		})
	}
	wg.Wait()
	return started, errs
}

func TestA2_StartingTwiceIsStartingOnce(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	spec := r.spec()
	r.through(p)(&spec)
	oneLink(&spec)
	same := func(int) messages.TaskSpec { return spec }
	started, errs := r.starts(50, "a2", same)
	if started != 1 || len(errs) != 0 {
		t.Fatalf("%d of 50 starts started it, errors %v", started, errs)
	}
	if started, errs = r.starts(50, "a2", same); started != 0 || len(errs) != 0 {
		t.Fatalf("%d of 50 starts started it again, errors %v", started, errs)
	}
	if p.Dials() != 1 || len(r.node.Tasks()) != 1 {
		t.Fatalf("%d connections, %d tasks, want one of each", p.Dials(), len(r.node.Tasks()))
	}
}

func TestA3_StartsThatRaceEndAtOneConnection(t *testing.T) {
	t.Parallel()
	const dialDelay = 200 * time.Millisecond
	t.Run("to one browser", func(t *testing.T) {
		t.Parallel()
		r, p := proxied(t, chromiumtest.Shared(t))
		spec := r.spec()
		r.through(p)(&spec)
		oneLink(&spec)
		p.Stall()
		time.AfterFunc(dialDelay, p.Resume)
		started, errs := r.starts(50, "a3", func(int) messages.TaskSpec { return spec })
		if started != 1 || len(errs) != 0 {
			t.Fatalf("%d of 50 starts started it, errors %v", started, errs)
		}
		if p.Dials() != 1 || p.Open() != 1 {
			t.Fatalf("%d connections were made, %d are open", p.Dials(), p.Open())
		}
	})
	t.Run("to two browsers", func(t *testing.T) {
		t.Parallel()
		r, p := proxied(t, chromiumtest.Shared(t))
		q := chromiumtest.Proxy(t, r.chrome.Addr())
		specs := [2]messages.TaskSpec{r.spec(), r.spec()}
		r.through(p)(&specs[0])
		r.through(q)(&specs[1])
		oneLink(&specs[0])
		oneLink(&specs[1])
		p.Stall()
		q.Stall()
		time.AfterFunc(dialDelay, func() { p.Resume(); q.Resume() })
		_, errs := r.starts(50, "a3", func(i int) messages.TaskSpec { return specs[i%2] })
		for _, err := range errs {
			// The losers are told, and told what a caller can act on.
			wantCode(t, err, messages.CodeUpstreamUnavailable)
		}
		// The last caller has it.
		k := r.task("a3", r.through(q), oneLink)
		k.eval("", "1")
		until(t, "one connection left", func() bool { return p.Open()+q.Open() == 1 })
		if got := k.snapshot().Connection.Endpoint; !strings.Contains(got, q.Addr()) {
			t.Fatalf("endpoint %s", got)
		}
		if n := len(r.node.Tasks()); n != 1 {
			t.Fatalf("%d tasks", n)
		}
	})
}

func TestA4_AnotherURLKeepsNothing(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	witness := chromiumtest.Dial(t, r.chrome.WS())
	other := chromiumtest.Launch(t)
	q := chromiumtest.Proxy(t, other.Addr())

	k := r.task("a4", r.through(p))
	k.links(p)
	k.goTo("http://a.test/console-error")
	k.goTo("http://a.test/confirm")
	k.later("", "ask()")
	k.dialog()
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
		t.Fatal(err)
	}
	k.closed("d-1")
	k.later("", "ask()")
	k.dialog()
	tab := k.snapshot().PageTargetID

	k = r.task("a4", at(t, q.URL(other.WS())))
	s := k.snapshot()
	if s.State != messages.StateActive || len(s.RecentDialogs)+len(s.PendingDialogs)+len(s.ConsoleErrors) != 0 || s.Connection.Reconnects != 0 {
		t.Fatalf("something was kept: %+v", s)
	}
	if len(s.Pages) != 1 || s.Pages[0].TargetID == tab {
		t.Fatalf("pages %+v", s.Pages)
	}
	until(t, "the old connections closed", func() bool { return p.Open() == 0 })
	k.links(q) // one of each kind to the other browser, and no more
	until(t, "the tab in the first browser closed", func() bool {
		return !slices.ContainsFunc(targets(t, witness), func(g target) bool { return g.ID == string(tab) })
	})
	// Dialogs are counted anew.
	k.goTo("data:text/html,<body>")
	k.later("", "confirm('again')")
	if d := k.dialog(); d.ID != "d-1" {
		t.Fatalf("the first dialog on the new browser is %s", d.ID)
	}
}

func TestA5_TheFirstSnapshotIsWhole(t *testing.T) {
	t.Parallel()
	r := setup(t)
	user := chromiumtest.Dial(t, r.chrome.WS()).NewPage(r.site.URL("http://a.test/nested"))
	user.AutoAttach(3)
	spec := r.spec()
	scoped(messages.ScopeTarget, user.Target)(&spec)
	s, started, err := r.node.GetOrStart(r.ctx, "a5", spec)
	if err != nil || !started {
		t.Fatalf("started %v: %v", started, err)
	}
	if s.State != messages.StateActive || s.Connection.Primary != messages.LinkUp || s.FrameTree == nil {
		t.Fatalf("the first snapshot is not complete: %+v", s)
	}
	if got := r.site.Written(s.FrameTree.Top.URL); got != "http://a.test/nested" {
		t.Fatalf("top is at %s", got)
	}
	// F3 caps what is shown at OOPIF depth 2; all three are there.
	full, err := r.node.Snapshot("a5", messages.SnapshotOptions{Full: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(full.FrameTree.Children); n != 3 {
		t.Fatalf("%d frames below the top, want 3: %+v", n, full.FrameTree)
	}
	for _, c := range full.FrameTree.Children {
		if !c.IsOOPIF || c.SessionID == "" {
			t.Errorf("frame %s is not attached", c.URL)
		}
	}
}

func TestA15_AFirstAttachThatFailsIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	p.Refuse()
	u := strings.Replace(p.URL(r.chrome.WS()), "ws://", "ws://user:planted-secret@", 1) + "?token=planted-secret"
	spec := r.spec()
	at(t, u)(&spec)
	begin := time.Now()
	_, _, err := r.node.GetOrStart(r.ctx, "a15", spec)
	e := wantCode(t, err, messages.CodeUpstreamUnavailable)
	if took := time.Since(begin); took > atOnce {
		t.Errorf("it took %v", took)
	}
	if !strings.Contains(e.Message, "connection refused") || !strings.Contains(e.Message, p.Addr()) {
		t.Errorf("the error does not say what failed where: %v", err)
	}
	_, id, _ := strings.Cut(r.chrome.WS(), "/devtools/browser/")
	for _, secret := range []string{"planted-secret", id} {
		if strings.Contains(err.Error(), secret) || strings.Contains(r.log.String(), secret) {
			t.Errorf("%q shows: %v\n%s", secret, err, r.log)
		}
	}
	_, err = r.node.Snapshot("a15", messages.SnapshotOptions{})
	wantCode(t, err, messages.CodeTaskNotFound)
	if n := len(r.node.Tasks()); n != 0 {
		t.Errorf("%d tasks are left", n)
	}
}
