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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

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
	r := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) {
		state = c.StateDir
		ends.alive = func() bool { return len(browsers(state)) > 0 }
		c.BrowserTransport = node.BrowserPort // the ends of sockets are looked at
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
		if want := "by the browser: false, browser runs: true"; !slices.Equal(ends.notes, []string{want, want}) {
			t.Errorf("the connections ended %q, want two times %q", ends.notes, want)
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
