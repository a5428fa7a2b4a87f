package backend

import (
	"context"
	"os"
	"sync"

	"holdfast/messages"
	"holdfast/transport"
)

// Browser is a browser process that the node has started.
type Browser interface {
	// Pipe returns the node's ends of the browser's pipes; ok is false for a browser
	// that listens on a port.
	Pipe() (from, to *os.File, ok bool)
	// Endpoint is the URL of a browser that listens on a port.
	Endpoint() messages.CDPURL
	Downloads() string
	Exited() <-chan struct{}
	ExitReason() string
	Close(ctx context.Context) error
}

// Launched is the Backend of a browser that is started for the task, with the first link.
type Launched struct {
	start func(ctx context.Context) (Browser, error)
	dial  Dial

	mu      sync.Mutex // held while the browser starts
	browser Browser    // nil before
	at      transport.Address
}

var _ Process = (*Launched)(nil)

// NewLaunched returns the Backend of the browser that start starts. Start is called until
// it returns one, and not at the same time as itself.
func NewLaunched(start func(ctx context.Context) (Browser, error), dial Dial) *Launched {
	return &Launched{start: start, dial: dial}
}

// Open implements [Backend].
func (l *Launched) Open(ctx context.Context, role messages.Role, onClose func(error)) (*transport.Mux, error) {
	at, err := l.launch(ctx)
	if err != nil {
		return nil, err
	}
	return l.dial(ctx, role, at, onClose)
}

func (l *Launched) launch(ctx context.Context) (transport.Address, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.browser != nil {
		return l.at, nil
	}
	b, err := l.start(ctx)
	if err != nil {
		return transport.Address{}, err
	}
	l.browser = b
	if from, to, ok := b.Pipe(); ok {
		l.at.Pipe = transport.NewPipe(from, to)
	} else {
		l.at.URL = b.Endpoint()
	}
	return l.at, nil
}

// Identity implements [Backend]: "pipe:", the URL without its credentials, or "" before
// the first link.
func (l *Launched) Identity() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at.String()
}

// Caps implements [Backend]. A Chromium takes several links (C57), be they over one pipe;
// whether it gives its debugger depends on its policies.
func (l *Launched) Caps() Caps { return Caps{SecondLink: Yes} }

// Downloads implements [Process].
func (l *Launched) Downloads() string {
	if b := l.get(); b != nil {
		return b.Downloads()
	}
	return ""
}

// Exited implements [Process].
func (l *Launched) Exited() <-chan struct{} {
	if b := l.get(); b != nil {
		return b.Exited()
	}
	return nil
}

// ExitReason implements [Process].
func (l *Launched) ExitReason() string {
	if b := l.get(); b != nil {
		return b.ExitReason()
	}
	return ""
}

// Close implements [Process].
func (l *Launched) Close(ctx context.Context) error {
	if b := l.get(); b != nil {
		return b.Close(ctx)
	}
	return nil
}

func (l *Launched) get() Browser {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.browser
}
