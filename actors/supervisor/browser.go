package supervisor

import (
	"context"
	"time"

	"holdfast/internal/backend"
	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/transport"
)

// process is the browser that ends with the task, nil for one that does not.
func (a *Actor) process() backend.Process {
	p, _ := a.cfg.Backend.(backend.Process)
	return p
}

// downloads is the directory for what the task downloads; "" where the browser is not
// the node's, whose directories are not known here.
func (a *Actor) downloads() string {
	if p := a.process(); p != nil {
		return p.Downloads()
	}
	return ""
}

// connect runs on the primary's dialling goroutine.
func (a *Actor) connect(ctx context.Context, onClose func(error)) (*transport.Mux, error) {
	return a.cfg.Backend.Open(ctx, messages.RolePrimary, onClose)
}

// connectAnchor runs on the anchor's dialling goroutine. It begins after the primary stands.
func (a *Actor) connectAnchor(ctx context.Context, onClose func(error)) (*transport.Mux, error) {
	return a.cfg.Backend.Open(ctx, messages.RoleAnchor, onClose)
}

type browserGone struct{ why string }

// watchBrowser reports the end of the task's own browser at once: a transport
// that is lost comes back, a browser that is dead does not.
func (a *Actor) watchBrowser(c *guard.Context, p backend.Process) {
	c.Go("browser", func(ctx context.Context) any {
		select {
		case <-p.Exited():
			return browserGone{p.ExitReason()}
		case <-ctx.Done():
			return nil
		}
	})
}

// closeBudget bounds the end of the task's own browser.
const closeBudget = 4 * time.Second
