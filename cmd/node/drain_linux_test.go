package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"holdfast/chaos"
)

// fake serves a fake browser and returns what to attach to.
func fake(t *testing.T, o chaos.Options) (*chaos.Browser, string) {
	t.Helper()
	b := chaos.New(o)
	server := httptest.NewServer(b)
	t.Cleanup(func() { b.Close(); server.Close() })
	return b, server.URL
}

// token is the node's admin token.
func (s *shell) token() string {
	s.Helper()
	b, err := os.ReadFile(filepath.Join(s.state, "token"))
	if err != nil {
		s.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// caller makes calls one after another, by a connection of its own.
type caller struct {
	client *http.Client
	token  string
}

func (s *shell) caller() *caller {
	c := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	s.Cleanup(c.CloseIdleConnections)
	return &caller{client: c, token: s.token()}
}

// call returns the status; 0 without an error means that the connection was refused.
func (c *caller) call(method, url, body string) (status int, answer string, err error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.client.Do(req)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// TestX11DrainUnderLoad: a node that is told to end while callers call gives every call its
// outcome, reports its end to every watcher, leaves what is not its own, and ends well and
// in time.
func TestX11DrainUnderLoad(t *testing.T) {
	t.Parallel()
	browser, url := fake(t, chaos.Options{Pages: 1, Load: func(url string) chaos.Document {
		d := chaos.DefaultDocument(url)
		if strings.Contains(url, "slow.test") {
			d.Delay = 300 * time.Millisecond
		}
		return d
	}})
	s := &shell{T: t, state: t.TempDir()}
	file := filepath.Join(s.state, "holdfast.yaml")
	if err := os.WriteFile(file, []byte("drain: {timeout: 20s, delay: 3s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := s.serve("--config", file)
	const tasks = 4
	for i := range tasks {
		if status, body, err := s.caller().call("PUT", fmt.Sprintf("%s/v1/tasks/t%d", p.url, i), fmt.Sprintf(`{"cdp_url":%q}`, url)); status != 201 {
			t.Fatal(status, body, err)
		}
	}
	// One page opens a dialog that is not answered.
	s.run(0, "cdp", "t0", "Runtime.evaluate", `{"expression":"setTimeout(()=>{alert('m')},0)"}`)

	var wg sync.WaitGroup
	defer wg.Wait()
	last := make(chan string, 1)
	watch := s.command("watch", "t1", "--json")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = watch.Process.Kill() })
	watching := make(chan struct{})
	wg.Go(func() {
		line := ""
		for lines := bufio.NewScanner(out); lines.Scan(); line = lines.Text() {
			if line == "" {
				close(watching)
			}
		}
		_ = watch.Wait()
		last <- line
	})
	<-watching

	var calls, slow, refused, ended atomic.Int64
	work := func(method, path, body string, done *atomic.Int64) {
		c := s.caller()
		wg.Go(func() {
			for {
				status, answer, err := c.call(method, p.url+path, body)
				switch {
				case err != nil:
					t.Errorf("a call without an outcome: %v", err)
					return
				case status == 0:
					ended.Add(1)
					return // the node is gone, and says so by not being there
				case status == 200 || status == 201:
					done.Add(1)
				case status == 503 || status == 429:
					refused.Add(1)
				case status == 404 && strings.Contains(answer, "there is no task"):
					refused.Add(1) // it never was
				default:
					t.Errorf("%s %s: %d %s", method, path, status, answer)
					return
				}
			}
		})
	}
	for i := range tasks - 2 {
		work("POST", fmt.Sprintf("/v1/tasks/t%d/cdp", i+2), `{"method":"Runtime.evaluate","params":{"expression":"1+1"}}`, &calls)
		work("POST", fmt.Sprintf("/v1/tasks/t%d/cdp", i+2), `{"method":"Runtime.evaluate","params":{"expression":"1+1"}}`, &calls)
	}
	work("POST", "/v1/tasks/t1/navigate", `{"url":"http://slow.test/"}`, &slow)
	eventually(t, "the callers are at work", func() bool { return calls.Load() >= 200 && slow.Load() >= 2 })

	begun := time.Now()
	p.signal(t, syscall.SIGTERM)
	p.log.await(t, "msg=stopping")
	probe := s.caller()
	eventually(t, "it is not ready", func() bool {
		status, _, err := probe.call("GET", p.url+"/readyz", "")
		if err != nil || status == 0 {
			t.Fatal("nobody could see that it is not ready:", err)
		}
		return status == 503
	})
	if status, answer, _ := s.caller().call("PUT", p.url+"/v1/tasks/new", fmt.Sprintf(`{"cdp_url":%q}`, url)); status != 429 && status != 503 {
		t.Error("it takes a new task:", status, answer)
	}
	p.wait(t)
	took := time.Since(begun)
	if code := p.ProcessState.ExitCode(); code != 0 || took > 20*time.Second {
		t.Errorf("exit %d after %v: %s", code, took, p.log)
	}
	wg.Wait()
	t.Logf("%d calls and %d navigations done, %d refused, the end took %v", calls.Load(), slow.Load(), refused.Load(), took)
	if end := <-last; !strings.Contains(end, `"state":"stopped"`) || !strings.Contains(end, `"reason":"the node is stopping"`) {
		t.Error("the last event does not say why it is the last:", end)
	}
	if pages, dialogs := browser.Pages(), browser.OpenDialogs(); len(pages) != 1 || len(dialogs) != 0 || len(browser.Connections()) != 0 {
		t.Errorf("in a browser that is not the node's are left: %v, %v, %d connections", pages, dialogs, len(browser.Connections()))
	}
	s.wantNothingLeft()
}

// TestDrainCommand: the end can be asked for from elsewhere, and a signal that
// follows, as Kubernetes sends one after its preStop hook, is not the second.
func TestDrainCommand(t *testing.T) {
	t.Parallel()
	_, url := fake(t, chaos.Options{Pages: 1})
	s := &shell{T: t, state: t.TempDir()}
	p := s.serve("--drain-delay", "500ms")
	s.run(0, "task", "start", "one", "--cdp-url", url)
	s.run(0, "drain")
	p.log.await(t, "msg=stopping")
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	if code := p.ProcessState.ExitCode(); code != 0 || !strings.Contains(p.log.String(), "state=stopped") {
		t.Errorf("exit %d: %s", code, p.log)
	}
	s.wantNothingLeft()
}
