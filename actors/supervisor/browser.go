package supervisor

import (
	"context"
	"sync"
	"time"

	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/transport"
)

// Browser is a browser that the node launched for one task.
type Browser interface {
	// Address is where links are opened.
	Address() transport.Address
	// Downloads is the directory for what the task's pages download.
	Downloads() string
	// Exited is closed when the browser has ended, by itself or by Close.
	Exited() <-chan struct{}
	ExitReason() string
	// Close ends the browser and waits for it, as long as ctx allows.
	Close(ctx context.Context) error
}

// launched is the browser of the task, shared with the dialling goroutine.
type launched struct {
	mu      sync.Mutex
	browser Browser
}

func (l *launched) get() Browser {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.browser
}

// address is where the task's browser is, as far as it is known.
func (a *Actor) address() transport.Address {
	if b := a.browser.get(); b != nil {
		return b.Address()
	}
	return transport.Address{URL: a.cfg.Spec.CDPURL}
}

// downloads is the directory for what the task downloads; "" where its browser is not
// the node's, whose directories are not known here.
func (a *Actor) downloads() string {
	if b := a.browser.get(); b != nil {
		return b.Downloads()
	}
	return ""
}

// connect runs on the primary's dialling goroutine.
func (a *Actor) connect(ctx context.Context, onClose func(error)) (*transport.Mux, error) {
	if a.cfg.Spec.Launch != nil {
		if _, err := a.launch(ctx); err != nil {
			return nil, err
		}
	}
	return a.cfg.Dial(ctx, messages.RolePrimary, a.address(), onClose)
}

// connectAnchor runs on the anchor's, with a browser that is known: it begins
// after the primary stands.
func (a *Actor) connectAnchor(ctx context.Context, onClose func(error)) (*transport.Mux, error) {
	return a.cfg.Dial(ctx, messages.RoleAnchor, a.address(), onClose)
}

type browserGone struct{ why string }

func (a *Actor) launch(ctx context.Context) (Browser, error) {
	a.browser.mu.Lock()
	defer a.browser.mu.Unlock()
	if a.browser.browser != nil {
		return a.browser.browser, nil
	}
	b, err := a.cfg.Launch(ctx, a.cfg.Spec.IsHeadless())
	if err != nil {
		return nil, err
	}
	a.browser.browser = b
	return b, nil
}

// watchBrowser hears of the end of the launched browser at once: a transport
// that is lost comes back, a browser that is dead does not.
func (a *Actor) watchBrowser(c *guard.Context, b Browser) {
	c.Go("browser", func(ctx context.Context) any {
		select {
		case <-b.Exited():
			return browserGone{b.ExitReason()}
		case <-ctx.Done():
			return nil
		}
	})
}

// closeBudget bounds the end of a launched browser.
const closeBudget = 4 * time.Second
