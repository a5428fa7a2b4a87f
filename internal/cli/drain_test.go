package cli_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/cli"
	"holdfast/messages"
)

// patience is for what happens on a machine that tests share.
const patience = 20 * time.Second

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("never: ", what)
		panic("unreachable")
	}
}

// told collects what a service manager is told.
type told struct {
	mu    sync.Mutex
	all   []string
	heard chan string
}

func (m *machine) manager() *told {
	l := &told{heard: make(chan string, 1024)}
	m.notify = func(s string) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, s)
		l.heard <- s
		return nil
	}
	return l
}

// await waits until the manager is told something that begins so.
func (l *told) await(t *testing.T, prefix string) string {
	t.Helper()
	for {
		if s := await(t, prefix, l.heard); strings.HasPrefix(s, prefix) {
			return s
		}
	}
}

// busy is a node with one call under way.
type busy struct {
	*served
	release chan struct{} // ends the call well
	stopped chan struct{} // closed when the node is told to stop
	aborted chan struct{} // closed when its browsers are killed
	call    chan int      // the exit code of the call
	errs    string        // what it said
	drained chan struct{} // closed when it is to take no new tasks
}

func (m *machine) busy(args ...string) *busy {
	m.Helper()
	b := &busy{
		release: make(chan struct{}), stopped: make(chan struct{}), aborted: make(chan struct{}),
		call: make(chan int, 1), drained: make(chan struct{}),
	}
	begun := make(chan struct{})
	m.node.CDPFunc = func(messages.CDPRequest) (messages.CDPResult, error) {
		close(begun)
		select {
		case <-b.release:
			return messages.CDPResult{Result: []byte(`{}`)}, nil
		case <-b.stopped:
			return messages.CDPResult{}, messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended").WithSent(messages.SentYes)
		}
	}
	m.started = func(n *cli.RunningNode) error {
		stop := n.Stop
		n.Stop = func(ctx context.Context) error { close(b.stopped); return stop(ctx) }
		n.BeginDrain = func() { close(b.drained) }
		n.Abort = func(context.Context) error { close(b.aborted); return nil }
		return nil
	}
	b.served = m.serve(args...)
	go func() {
		code, _, errs := m.run("cdp", "one", "Page.reload", "--timeout", "60")
		b.errs = errs
		b.call <- code
	}()
	await(m.T, "the call begins", begun)
	return b
}

// end asks for the end and returns what will be the exit code.
func (s *served) end() <-chan int {
	code := make(chan int, 1)
	go func() { code <- s.stop() }()
	return code
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestX11 is the end of a node in good order.
func TestX11(t *testing.T) {
	t.Parallel()
	t.Run("a call under way finishes, and then the node ends", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		manager := m.manager()
		b := m.busy()
		manager.await(t, "READY=1\nSTATUS=serving http://127.0.0.1:")
		code := b.end()
		await(t, "the node drains", b.drained)
		manager.await(t, "STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=25000000")
		// As long as the drain runs, probes and reads are answered.
		if status, _ := get(t, b.url+"/livez"); status != http.StatusOK {
			t.Error("livez", status)
		}
		m.want(0, "task", "ls")
		if isClosed(b.stopped) {
			t.Error("the node stops under a call that can finish")
		}
		close(b.release)
		if got := await(t, "the call's outcome", b.call); got != 0 {
			t.Error(got, b.errs)
		}
		if got := await(t, "the end", code); got != 0 || isClosed(b.aborted) {
			t.Error(got, b.log)
		}
		if _, err := os.Stat(filepath.Join(m.state, "endpoint.json")); err == nil {
			t.Error("the endpoint file is left")
		}
	})
	t.Run("a call that does not finish gets its outcome from the end of its task", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		b := m.busy("--drain-timeout", "10s") // two fifths of it are left for the end
		begun := time.Now()
		if got := await(t, "the end", b.end()); got != 0 || time.Since(begun) > 10*time.Second {
			t.Error(got, time.Since(begun), b.log)
		}
		if got := await(t, "the call's outcome", b.call); got != 1 || !strings.HasPrefix(b.errs, "upstream_unavailable: the task has ended\n") {
			t.Error(got, b.errs)
		}
		if !strings.Contains(b.log.String(), "calls have not finished in time") {
			t.Error(b.log)
		}
	})
	t.Run("for a while calls are still taken, and asked to come by another connection", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		b := m.busy("--drain-delay", "10s", "--drain-timeout", "20s")
		code := b.end()
		await(t, "the node drains", b.drained)
		for closing := false; !closing; {
			res, err := http.Get(b.url + "/livez")
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			closing = res.Close
		}
		m.want(0, "task", "ls")
		close(b.release)
		close(m.hurry) // or it would be ten seconds
		if got := await(t, "the end", code); got != 1 {
			t.Error(got, b.log)
		}
		await(t, "the call's outcome", b.call)
	})
	t.Run("a second signal kills the browsers at once", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		b := m.busy()
		code := b.end()
		await(t, "the node drains", b.drained)
		close(m.hurry)
		if got := await(t, "the end", code); got != 1 || !isClosed(b.aborted) {
			t.Error(got, b.log)
		}
		if _, err := os.Stat(filepath.Join(m.state, "endpoint.json")); err == nil {
			t.Error("the endpoint file is left")
		}
		close(b.release)
		await(t, "the call", b.call)
		await(t, "the drain goes home", b.stopped)
	})
	t.Run("an end that panics, or fails, or hangs, kills what is left", func(t *testing.T) {
		t.Parallel()
		hung := make(chan struct{})
		for name, stop := range map[string]func(context.Context) error{
			"panics": func(context.Context) error { panic("planted-9c1e5f0a77") },
			"fails":  func(context.Context) error { return errors.New("a browser is left") },
			"hangs":  func(context.Context) error { <-hung; return nil },
		} {
			m := newMachine(t)
			aborted := make(chan struct{})
			m.started = func(n *cli.RunningNode) error {
				n.Stop = stop
				n.Abort = func(context.Context) error { close(aborted); return errors.New("it is slow") }
				return nil
			}
			s := m.serve("--drain-timeout", "1s")
			begun := time.Now()
			if got := await(t, "the end", s.end()); got != 1 || !isClosed(aborted) || time.Since(begun) > 10*time.Second {
				t.Error(name, got, s.log)
			}
			if strings.Contains(s.log.String(), "planted") {
				t.Error("what panicked is in the log")
			}
		}
		close(hung)
	})
	t.Run("a listener that fails is an end in good order, too", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		began := make(chan struct{})
		m.started = func(n *cli.RunningNode) error {
			n.BeginDrain = func() { close(began) }
			return messages.Errorf(messages.CodeUpstreamUnavailable, "no browser")
		}
		m.want(1, "serve", "--listen", "127.0.0.1:0")
		if isClosed(began) {
			t.Error("a node that never was is drained")
		}
	})
	t.Run("it can be asked for over HTTP, by the admin alone", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		s := m.serve()
		admin := m.env["HOLDFAST_TOKEN"]
		for _, scope := range [][]string{{"--task", "one"}, {"--tenant", "acme"}} {
			tok, _ := m.want(0, append([]string{"token"}, scope...)...)
			m.env["HOLDFAST_TOKEN"] = strings.TrimSpace(tok)
			if _, errs := m.want(1, "drain"); !strings.HasPrefix(errs, "forbidden: ") {
				t.Error(errs)
			}
			m.env["HOLDFAST_TOKEN"] = admin
		}
		if out, _ := m.want(0, "drain"); !strings.Contains(out, "drains") {
			t.Error(out)
		}
		if got := await(t, "the end", s.ended()); got != 0 || !strings.Contains(s.log.String(), "asked to over HTTP") {
			t.Error(got, s.log)
		}
	})
	t.Run("told to end before it has begun it ends well", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		ctx, cancel := context.WithCancel(t.Context())
		var out onWrite
		out.do = func() {}
		m.started = func(*cli.RunningNode) error { cancel(); return context.Canceled }
		if got := m.program(&out, &out).Run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}); got != 0 {
			t.Error(got, out.String())
		}
		m.started = func(*cli.RunningNode) error { cancel(); return nil }
		if got := m.program(&out, &out).Run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}); got != 0 || m.stopped != 1 {
			t.Error(got, m.stopped, out.String())
		}
	})
}
