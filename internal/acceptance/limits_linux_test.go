package acceptance_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

// pressure asks as a load balancer does.
func (f *front) pressure() messages.Pressure {
	f.Helper()
	var p messages.Pressure
	status, body := f.ask("GET", "/v1/pressure", "")
	if err := json.Unmarshal([]byte(body), &p); err != nil || status != http.StatusOK {
		f.Fatalf("%d %s", status, body)
	}
	return p
}

// X4 with browsers of the node's own: two may run, one may wait.
func TestX4_BrowsersWaitForAPlace(t *testing.T) {
	t.Parallel()
	var state string
	r := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) {
		state = c.StateDir
		c.Limits = node.Limits{MaxBrowsers: 2, QueueLength: 1, QueueTimeout: messages.MaxQueueTimeout, MemoryHigh: -1}
	})
	f := r.front()
	launch := func(id string) <-chan int {
		done := make(chan int, 1)
		go func() {
			status, _ := f.ask("PUT", "/v1/tasks/"+id, `{"launch":true,"anchor":"off"}`)
			done <- status
		}()
		return done
	}
	first, second := launch("one"), launch("two")
	if a, b := <-first, <-second; a != http.StatusCreated || b != http.StatusCreated {
		t.Fatal(a, b)
	}
	third := launch("three")
	until(t, "one waits", func() bool { return f.pressure().Queued == 1 })

	q, err := http.NewRequestWithContext(r.ctx, http.MethodPut, f.url+"/v1/tasks/four", strings.NewReader(`{"launch":true}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+f.token.Reveal())
	q.Close = true
	res, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	after := res.Header.Get("Retry-After")
	if s, err := strconv.Atoi(after); res.StatusCode != http.StatusTooManyRequests || err != nil || s < 1 || s > 60 {
		t.Errorf("%d, Retry-After %q", res.StatusCode, after)
	}
	f.refused(http.StatusTooManyRequests, messages.CodeLimitReached, "PUT", "/v1/tasks/five", `{"queue_timeout_s":0}`)
	if status, body := f.ask("GET", "/readyz", ""); status != http.StatusOK {
		t.Errorf("a task that attaches can start: %d %s", status, body)
	}
	// One that attaches passes; its page hangs, without effect on others.
	k := r.task("attached", oneLink)
	k.goTo("http://a.test/")
	k.later("", "for (;;) {}")
	if status, body := f.ask("GET", "/livez", ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if p := f.pressure(); p.Running != 3 || p.Browsers != 2 || p.Available || p.Reason != messages.LimitBrowsers ||
		p.RejectedLastMinute[messages.LimitQueueFull] != 1 || p.RejectedLastMinute[messages.LimitBrowsers] != 1 {
		t.Errorf("%+v", p)
	}
	// A browser that dies gives its place away.
	group, err := syscall.Getpgid(browsers(state)[0])
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(-group, syscall.SIGKILL)
	if status := <-third; status != http.StatusCreated {
		t.Errorf("who waited: %d", status)
	}
	fourth := launch("four")
	until(t, "another waits", func() bool { return f.pressure().Queued == 1 })
	if status, body := f.ask("DELETE", "/v1/tasks/three", ""); status != http.StatusNoContent {
		t.Errorf("%d %s", status, body)
	}
	if status := <-fourth; status != http.StatusCreated {
		t.Errorf("who waited next: %d", status)
	}
	r.node.BeginDrain()
	f.refused(http.StatusServiceUnavailable, messages.CodeUpstreamUnavailable, "GET", "/readyz", "")
	f.refused(http.StatusTooManyRequests, messages.CodeLimitReached, "PUT", "/v1/tasks/six", "")
	if err := r.node.Stop(r.ctx); err != nil {
		t.Error(err)
	}
	if left := browsers(state); len(left) != 0 {
		t.Errorf("%d processes are left", len(left))
	}
}
