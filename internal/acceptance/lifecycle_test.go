package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"holdfast"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestA1_OneConnectionPerTask(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	for i := range 3 {
		k := r.task(messages.TaskID(fmt.Sprintf("a1-%d", i)), r.through(p))
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
		p.Stall()
		q.Stall()
		time.AfterFunc(dialDelay, func() { p.Resume(); q.Resume() })
		_, errs := r.starts(50, "a3", func(i int) messages.TaskSpec { return specs[i%2] })
		for _, err := range errs {
			// The losers are told, and told what a caller can act on.
			wantCode(t, err, messages.CodeUpstreamUnavailable)
		}
		// Whoever asks last has it.
		k := r.task("a3", r.through(q))
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
	until(t, "the old connection closed", func() bool { return p.Open() == 0 })
	if q.Open() != 1 {
		t.Fatalf("%d connections to the other browser", q.Open())
	}
	for _, target := range targets(t, witness) {
		if target.ID == string(tab) {
			t.Fatal("the tab in the first browser is still there")
		}
	}
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

// endings notes how the connections of a node ended.
type endings struct {
	mu    sync.Mutex
	notes []string
	alive func() bool // whether the browser runs
}

type watchedConn struct {
	net.Conn
	ends *endings
	gone atomic.Bool // the other side ended first
	once sync.Once
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.gone.Store(true)
	}
	return n, err
}

func (c *watchedConn) Close() error {
	c.once.Do(func() {
		c.ends.mu.Lock()
		defer c.ends.mu.Unlock()
		c.ends.notes = append(c.ends.notes, fmt.Sprintf("by the browser: %v, browser runs: %v", c.gone.Load(), c.ends.alive()))
	})
	return c.Conn.Close()
}

// browsers lists the processes whose command line names the state directory.
func browsers(state string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(b), "--user-data-dir="+state) {
			var pid int
			_, _ = fmt.Sscanf(f, "/proc/%d/", &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestA6_ABusyTaskStopsInOrder(t *testing.T) {
	t.Parallel()
	ends := &endings{}
	var state string
	r := setupOn(t, chromiumtest.Shared(t), func(c *holdfast.Config) {
		state = c.StateDir
		ends.alive = func() bool { return len(browsers(state)) > 0 }
		dialer := &net.Dialer{}
		c.HTTPClient = &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dialer.DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &watchedConn{Conn: conn, ends: ends}, nil
			},
		}}
	})
	// Attached once, launched once: in both the page is busy for good.
	for name, spec := range map[messages.TaskID]messages.TaskSpec{"a6-attached": r.spec(), "a6-launched": {Launch: &messages.LaunchSpec{}}} {
		if _, _, err := r.node.GetOrStart(r.ctx, name, spec); err != nil {
			t.Fatal(err)
		}
		k := &task{r, name}
		k.goTo("data:text/html,<script>function spin(){ for (;;); }</script>")
		k.later("", "spin()")
		ends.mu.Lock()
		ends.notes = nil
		ends.mu.Unlock()
		begin := time.Now()
		if err := r.node.StopTask(r.ctx, name); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: the stop took %v", name, took)
		}
		if name != "a6-launched" {
			continue
		}
		ends.mu.Lock()
		if want := []string{"by the browser: false, browser runs: true"}; !slices.Equal(ends.notes, want) {
			t.Errorf("the connection ended %q, want %q", ends.notes, want)
		}
		ends.mu.Unlock()
		if left := browsers(state); len(left) != 0 {
			t.Errorf("browser processes are left: %v", left)
		}
	}
	for _, level := range []string{"level=WARN", "level=ERROR"} {
		if r.log.lines(level) != 0 {
			t.Errorf("the stop was logged as trouble:\n%s", r.log)
		}
	}
}

func TestA7_TheOverrideWins(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	override := chromiumtest.Proxy(t, b.Addr())
	for name, c := range map[string]struct {
		change   func(*holdfast.Config)
		override int // connections through it
	}{
		"override": {func(c *holdfast.Config) {
			var s messages.TaskSpec
			at(t, override.URL(b.WS()))(&s)
			c.CDPURLOverride = s.CDPURL
		}, 1},
		"no override": {func(*holdfast.Config) {}, 0},
	} {
		r, p := proxied(t, b, c.change)
		before := override.Dials()
		k := r.task("a7", r.through(p))
		k.eval("", "1")
		if got := override.Dials() - before; got != c.override || p.Dials() != 1-c.override {
			t.Errorf("%s: %d connections there, %d to the spec's URL", name, got, p.Dials())
		}
		// A launch is overridden likewise, and asking again is no rebind.
		if c.override == 1 {
			if _, started, err := r.node.GetOrStart(r.ctx, "a7", messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil || started {
				t.Errorf("launch under an override: started %v, %v", started, err)
			}
		}
	}
}

func TestA8_TheAttachSequence(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("a8", r.through(p))
	k.goTo("http://a.test/nested")
	sessions := []string{string(k.snapshot().Pages[0].SessionID)}
	k.await("two attached frames", func(s *messages.Snapshot) bool {
		sessions = sessions[:1]
		for _, c := range s.FrameTree.Children {
			if c.SessionID != "" {
				sessions = append(sessions, string(c.SessionID))
			}
		}
		return len(sessions) == 3
	})
	want := []string{"Page.enable", "Runtime.enable", "Target.setAutoAttach"}
	for i, session := range sessions {
		var got []string
		for _, m := range p.Messages() {
			method := chromiumtest.Field(m.Payload, "method")
			if !m.FromClient || chromiumtest.Field(m.Payload, "sessionId") != session {
				continue
			}
			if slices.Contains(want, method) {
				got = append(got, method)
			}
			if method != "Target.setAutoAttach" {
				continue
			}
			params := json.RawMessage(chromiumtest.Field(m.Payload, "params"))
			if chromiumtest.Field(params, "autoAttach") != "true" || chromiumtest.Field(params, "flatten") != "true" {
				t.Errorf("session %d auto-attaches with %s", i, params)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("session %d of %d: %v, want %v", i, len(sessions), got, want)
		}
	}
}

func TestA9_ABrowserWithoutPagesGetsOne(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	witness := chromiumtest.Dial(t, b.WS())
	closeAll := func() {
		for _, target := range targets(t, witness) {
			if target.Type == "page" {
				witness.Must("", "Target.closeTarget", map[string]any{"targetId": target.ID})
			}
		}
		until(t, "no page left", func() bool {
			return !slices.ContainsFunc(targets(t, witness), func(i target) bool { return i.Type == "page" })
		})
	}
	r := setupOn(t, b)
	for _, scope := range []messages.Scope{messages.ScopeBrowser, messages.ScopeOwn} {
		closeAll()
		id := messages.TaskID("a9-" + scope)
		k := r.task(id, scoped(scope))
		s := k.snapshot()
		if len(s.Pages) != 1 || s.Pages[0].URL != "about:blank" || s.PageTargetID != s.Pages[0].TargetID {
			t.Fatalf("scope %s: pages %+v", scope, s.Pages)
		}
		if got := k.eval("", "location.href"); got != `"about:blank"` {
			t.Fatalf("scope %s: at %s", scope, got)
		}
		if err := r.node.StopTask(r.ctx, id); err != nil {
			t.Fatal(err)
		}
	}
}

func TestA10_Budgets(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	r, p := proxied(t, b, silent)
	stalled := chromiumtest.Proxy(t, b.Addr())
	stalled.Stall()
	mute := peer(t, func(ctx context.Context, c *wsConn) { c.drain(ctx) })
	asks := r.task("a10-answer", r.through(p))
	asks.goTo("http://a.test/confirm")
	asks.later("", "ask()")
	asks.dialog()
	calls := r.task("a10-call")
	calls.goTo("http://a.test/plain")
	spins := chromiumtest.Dial(t, b.WS()).NewPage(r.site.URL("http://a.test/busy"))
	spins.Start(spins.Session, "spin()")
	if !spins.Hangs(spins.Session, "Runtime.evaluate", map[string]any{"expression": "1"}, 100*time.Millisecond) {
		t.Fatal("the page is not busy")
	}
	p.Stall()

	start := func(id messages.TaskID, change func(*messages.TaskSpec)) func() error {
		spec := r.spec()
		change(&spec)
		return func() error {
			_, _, err := r.node.GetOrStart(r.ctx, id, spec)
			return err
		}
	}
	// What a budget may be overrun by on a machine that is shared.
	const slack = 4 * time.Second
	var all sync.WaitGroup
	for name, c := range map[string]struct {
		do       func() error
		code     messages.Code
		min, max time.Duration
	}{
		"dial":   {start("a10-dial", r.through(stalled)), messages.CodeDeadline, 9 * time.Second, 10 * time.Second},
		"attach": {start("a10-attach", at(t, mute)), messages.CodeDeadline, 14 * time.Second, 15 * time.Second},
		"call": {func() error {
			_, err := r.node.CDP(r.ctx, calls.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"new Promise(() => {})","awaitPromise":true}`)})
			return err
		}, messages.CodeDeadline, 9 * time.Second, 10 * time.Second},
		"child enable": {start("a10-busy", func(s *messages.TaskSpec) { scoped(messages.ScopeTarget, spins.Target)(s) }), "", 0, 3 * time.Second},
		"dialog answer, then stop": {func() error {
			_, err := r.node.Respond(r.ctx, asks.id, messages.DialogAnswer{Action: "accept"})
			begin := time.Now()
			if err := r.node.StopTask(r.ctx, asks.id); err != nil {
				t.Errorf("stop: %v", err)
			}
			if took := time.Since(begin); took > 5*time.Second+slack {
				t.Errorf("the stop took %v", took)
			}
			return err
		}, messages.CodeDeadline, 4 * time.Second, 5*time.Second + 5*time.Second},
	} {
		all.Go(func() {
			begin := time.Now()
			err := c.do()
			took := time.Since(begin)
			if got := messages.CodeOf(err); got != c.code {
				t.Errorf("%s: %v, want code %q", name, err, c.code)
			}
			if took < c.min || took > c.max+slack {
				t.Errorf("%s: after %v, want %v to %v", name, took, c.min, c.max)
			}
		})
	}
	all.Wait()
	if s, err := r.node.Snapshot("a10-busy", messages.SnapshotOptions{}); err != nil || s.PageState != messages.PageHung {
		t.Errorf("the busy page: %+v, %v", s, err)
	}
	for _, id := range []messages.TaskID{"a10-dial", "a10-attach"} {
		_, err := r.node.Snapshot(id, messages.SnapshotOptions{})
		wantCode(t, err, messages.CodeTaskNotFound)
	}
}

func TestA11_ADialogStormTimesNothingOut(t *testing.T) {
	t.Parallel()
	const storm = 300 // at 100 a second
	k := setup(t).task("a11", policy(messages.PolicyAutoDismiss))
	k.goTo("http://a.test/plain")
	k.later("", fmt.Sprintf(`window.n = 0; const id = setInterval(() => { if (window.n >= %d) return clearInterval(id); if (confirm('storm')) window.bad = true; window.n++ }, 10)`, storm))
	calls := 0
	until(t, "the end of the storm", func() bool {
		calls++
		// A fixed time of its own, since the default is what must not be used up.
		res, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TimeoutS: 10}, "window.n")
		if err != nil {
			t.Fatalf("call %d in the storm: %v", calls, err)
		}
		return res == fmt.Sprint(storm)
	})
	if got := k.eval("", "window.bad"); got != "undefined" {
		t.Errorf("a confirm returned %s", got)
	}
	s := k.await("the last dialog", func(s *messages.Snapshot) bool {
		n := len(s.RecentDialogs)
		return n > 0 && s.RecentDialogs[n-1].ID == messages.NewDialogID(storm)
	})
	if len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != messages.MaxRecentDialogs || s.Connection.Reconnects != 0 {
		t.Errorf("afterwards: %d pending, %d recent, %d reconnects", len(s.PendingDialogs), len(s.RecentDialogs), s.Connection.Reconnects)
	}
	if calls < 10 {
		t.Errorf("only %d calls fell into the storm", calls)
	}
}

func TestA12_ASnapshotNeverWaitsForTheBrowser(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	k := setupOn(t, b, silent).task("a12")
	k.goTo("http://a.test/oopif")
	k.frame("/plain")
	k.later("", "window.got = prompt('name?', 'x')")
	k.dialog()
	if err := syscall.Kill(b.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(b.PID(), syscall.SIGCONT) })
	// A call that waits must not make the reading wait.
	waiting := make(chan error, 1)
	go func() {
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Browser.getVersion", TimeoutS: 2})
		waiting <- err
	}()
	slow, reads := 0, 0
	for begin := time.Now(); time.Since(begin) < time.Second; reads++ {
		before := time.Now()
		s := k.snapshot()
		if time.Since(before) > 50*time.Millisecond {
			slow++
		}
		if len(s.PendingDialogs) != 1 || s.FrameTree == nil || len(s.FrameTree.Children) != 1 || s.PageState != messages.PageDialog {
			t.Fatalf("the snapshot lost something: %+v", s)
		}
	}
	// The processor is shared: a reader may be put aside now and then.
	if slow*100 > reads {
		t.Errorf("%d of %d reads took longer than 50 ms", slow, reads)
	}
	wantCode(t, <-waiting, messages.CodeDeadline) // the browser really stood still
	if err := syscall.Kill(b.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
		t.Fatal(err)
	}
	if got := k.eval("", "window.got"); got != `"x"` {
		t.Errorf("the page got %s", got)
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

// fields are the names in a snapshot's JSON.
func fields(t *testing.T, s *messages.Snapshot) map[string]json.RawMessage {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestA16_D27_AStoppedTaskSaysSoAndOmitsWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	k := setup(t).task("a16")
	k.goTo("http://a.test/confirm")
	k.later("", "ask()")
	k.dialog()
	living := []string{"pending_dialogs", "recent_dialogs", "frame_tree"}
	before := fields(t, k.snapshot())
	for _, name := range living {
		if _, there := before[name]; !there {
			t.Errorf("%s is missing while the task runs", name)
		}
	}
	if err := k.node.StopTask(k.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	s := k.snapshot()
	if s.Active || s.State != messages.StateStopped || s.Connection.Primary != messages.LinkDown {
		t.Errorf("after the stop: %+v", s)
	}
	after := fields(t, s)
	for _, name := range append(living, "pages", "page_state") {
		if v, there := after[name]; there {
			t.Errorf("%s is there after the stop: %s", name, v)
		}
	}
	if string(after["active"]) != "false" {
		t.Errorf("active is %s", after["active"])
	}
}

func TestD26_WithoutASupervisorTheErrorNamesTheRemedy(t *testing.T) {
	t.Parallel()
	r := setup(t)
	stopped := r.task("d26-stopped")
	if err := r.node.StopTask(r.ctx, stopped.id); err != nil {
		t.Fatal(err)
	}
	for _, id := range []messages.TaskID{"d26-never", stopped.id} {
		for name, do := range map[string]func() error{
			"dialog": func() error {
				_, err := r.node.Respond(r.ctx, id, messages.DialogAnswer{Action: "accept"})
				return err
			},
			"cdp": func() error {
				_, err := r.node.CDP(r.ctx, id, messages.CDPRequest{Method: "Browser.getVersion"})
				return err
			},
			"navigate": func() error {
				_, err := r.node.Navigate(r.ctx, id, messages.NavigateRequest{URL: "about:blank"})
				return err
			},
		} {
			e := wantCode(t, do(), messages.CodeTaskNotFound)
			if !strings.Contains(e.Message, "PUT") {
				t.Errorf("%s of %s: no remedy in %q", name, id, e.Message)
			}
		}
	}
}

// TestA17_HistoryIsBounded is not parallel: it looks at the memory of the
// whole process.
func TestA17_HistoryIsBounded(t *testing.T) {
	// The row speaks of 10,000; Chromium itself takes some 5 ms for each, and
	// what is not bounded shows with fewer.
	const alerts, full = 1_500, 400
	k := setup(t).task("a17", policy(messages.PolicyAutoDismiss))
	k.goTo("http://a.test/plain")
	k.later("", `for (let i = 0; i < 80; i++) console.error('error ' + i)`)
	memory := func() int64 {
		runtime.GC()
		runtime.GC() // what the first one finalised
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	// Every message is a thousand characters, so that keeping them would show.
	k.later("", fmt.Sprintf(`for (let i = 1; i <= %d; i++) alert('alert ' + i + '.'.repeat(1000))`, alerts))
	reached := func(n uint64) *messages.Snapshot {
		return k.await(fmt.Sprintf("dialog %d", n), func(s *messages.Snapshot) bool {
			i := len(s.RecentDialogs) - 1
			return i >= 0 && number(t, s.RecentDialogs[i].ID) >= n
		})
	}
	// By now every ring is full, the one of missed events too.
	for n := uint64(50); n <= full; n += 50 {
		reached(n)
	}
	early := memory()
	for n := uint64(full + 50); n < alerts; n += 50 {
		reached(n) // patience is for each of these
	}
	s := reached(alerts)
	late := memory()
	// Messages alone, kept, would be more than this.
	if grown := late - early; grown > (alerts-full)*1000 {
		t.Errorf("%d more dialogs cost %d KiB", alerts-full, grown>>10)
	}
	if len(s.RecentDialogs) != messages.MaxRecentDialogs || len(s.ConsoleErrors) != messages.MaxConsoleErrors {
		t.Errorf("%d dialogs and %d console errors are kept", len(s.RecentDialogs), len(s.ConsoleErrors))
	}
	for i, c := range s.RecentDialogs {
		if want := messages.NewDialogID(alerts - messages.MaxRecentDialogs + 1 + uint64(i)); c.ID != want || c.ClosedBy != messages.ClosedByAutoPolicy {
			t.Errorf("entry %d is %s closed by %s, want %s", i, c.ID, c.ClosedBy, want)
		}
	}
	if got := s.ConsoleErrors[messages.MaxConsoleErrors-1].Text; !strings.Contains(got, "error 79") {
		t.Errorf("the newest console error is %q", got)
	}
}

// number is the number in a dialog's id.
func number(t *testing.T, id messages.DialogID) (n uint64) {
	t.Helper()
	if _, err := fmt.Sscanf(string(id), "d-%d", &n); err != nil {
		t.Fatalf("dialog id %q", id)
	}
	return n
}

func TestA18_ATooLargeReplyEndsOneCallOnly(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("a18", r.through(p))
	k.goTo("http://a.test/plain")
	big := func(n int) error {
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{
			Method: "Runtime.evaluate", Params: json.RawMessage(fmt.Sprintf(`{"expression":"'x'.repeat(%d)","returnByValue":true}`, n)), TimeoutS: 60,
		})
		return err
	}
	wantCode(t, big(60_000_000), messages.CodeMessageTooLarge)
	// While it wrote so much the renderer may have been slow enough to be
	// called hung; that is over with the reply.
	k.await("a page that answers", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
	if got := k.eval("", "document.title"); got != `"/plain"` {
		t.Fatalf("after it: %s", got)
	}
	if err := big(40_000_000); err != nil {
		t.Fatalf("a reply below the limit: %v", err)
	}
	if s := k.snapshot(); s.Connection.Reconnects != 0 || p.Dials() != 1 || p.Open() != 1 {
		t.Fatalf("the connection did not survive: %+v, %d dials", s.Connection, p.Dials())
	}
}
