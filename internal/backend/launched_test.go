package backend_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"holdfast/internal/backend"
	"holdfast/messages"
	"holdfast/transport"
)

// process is a browser process that only says where it is and that it was ended.
type process struct {
	url      messages.CDPURL
	from, to *os.File // nil: it listens on url
	exited   chan struct{}
	closed   int
}

func (p *process) Pipe() (from, to *os.File, ok bool)             { return p.from, p.to, p.from != nil }
func (p *process) Endpoint() messages.CDPURL                      { return p.url }
func (p *process) Downloads() string                              { return "/downloads" }
func (p *process) Exited() <-chan struct{}                        { return p.exited }
func (p *process) ExitReason() string                             { return "crash" }
func (p *process) Close(context.Context) error                    { p.closed++; return nil }
func (p *process) start(context.Context) (backend.Browser, error) { return p, nil }

func parse(t *testing.T, url string) messages.CDPURL {
	t.Helper()
	u, err := messages.ParseCDPURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var errDialled = errors.New("dialled")

// dials notes what is dialled, and gives no link.
type dials []transport.Address

func (d *dials) dial(_ context.Context, _ messages.Role, at transport.Address, _ func(error)) (*transport.Mux, error) {
	*d = append(*d, at)
	return nil, errDialled
}

func TestABrowserIsLaunchedOnceForAllLinks(t *testing.T) {
	t.Parallel()
	var (
		d      dials
		p      = &process{url: parse(t, "http://127.0.0.1:9222"), exited: make(chan struct{})}
		starts int
		errNo  = errors.New("no memory")
	)
	l := backend.NewLaunched(func(context.Context) (backend.Browser, error) {
		if starts++; starts == 1 {
			return nil, errNo
		}
		return p, nil
	}, d.dial)
	if _, err := l.Open(t.Context(), messages.RolePrimary, nil); !errors.Is(err, errNo) || len(d) > 0 {
		t.Fatalf("a launch that fails: %v, dialled %v", err, d)
	}
	for _, role := range []messages.Role{messages.RolePrimary, messages.RoleAnchor, messages.RolePrimary} {
		if _, err := l.Open(t.Context(), role, nil); !errors.Is(err, errDialled) {
			t.Fatal(err)
		}
	}
	if starts != 2 || len(d) != 3 || !d[2].URL.Equal(p.url) || l.Identity() != p.url.String() {
		t.Errorf("%d launches, dialled %v, is %s", starts, d, l.Identity())
	}
	if l.Downloads() != "/downloads" || l.Exited() != (<-chan struct{})(p.exited) || l.ExitReason() != "crash" {
		t.Errorf("it does not say what its browser says")
	}
	if err := l.Close(t.Context()); err != nil || p.closed != 1 {
		t.Errorf("ended %d times: %v", p.closed, err)
	}
}

func TestALaunchedBrowserWithoutAPortHasOnePipe(t *testing.T) {
	t.Parallel()
	from, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = theirs.Close() }()
	ours, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ours.Close() }()
	var d dials
	l := backend.NewLaunched((&process{from: from, to: to}).start, d.dial)
	for range 2 {
		_, _ = l.Open(t.Context(), messages.RolePrimary, nil)
	}
	if len(d) != 2 || d[0].Pipe == nil || d[0].Pipe != d[1].Pipe || l.Identity() != "pipe:" {
		t.Fatalf("dialled %v, is %q", d, l.Identity())
	}
	d[0].Pipe.Close()
}

func TestABackendWithoutABrowserYetHasNothingToEnd(t *testing.T) {
	t.Parallel()
	l := backend.NewLaunched((&process{}).start, new(dials).dial)
	if l.Identity() != "" || l.Downloads() != "" || l.Exited() != nil || l.ExitReason() != "" {
		t.Error("it says something of a browser that it does not have")
	}
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheIdentityOfAnAttachedBrowserIsNoKeyToIt(t *testing.T) {
	t.Parallel()
	var d dials
	url := parse(t, "wss://host.example/devtools/browser/s3cr3t?token=s3cr3t")
	a := backend.NewAttached(url, d.dial)
	if _, err := a.Open(t.Context(), messages.RoleAnchor, nil); !errors.Is(err, errDialled) || len(d) != 1 || !d[0].URL.Equal(url) {
		t.Errorf("%v, dialled %v", err, d)
	}
	if a.Identity() != url.String() {
		t.Errorf("%q is not the masked URL", a.Identity())
	}
	if _, ok := backend.Backend(a).(backend.Process); ok {
		t.Error("a task would end a browser that is not its own")
	}
}
