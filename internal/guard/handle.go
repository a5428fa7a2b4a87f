package guard

import (
	"context"
	"fmt"

	"github.com/anthdm/hollywood/actor"
)

// Handle is the outside's hold on a root actor. It is safe for concurrent use,
// but Stop must not be called by an actor: it waits.
type Handle struct {
	p      *proc
	exited chan struct{}
	reason Reason // written before exited is closed
}

// PID returns the actor's address.
func (h *Handle) PID() *actor.PID { return h.p.pid }

// Stop asks the actor to shut down and waits until it has exited, children
// and all, or ctx is done. It returns the reason of the exit, which is not
// Shutdown if the actor ended by itself before. It may be called repeatedly.
func (h *Handle) Stop(ctx context.Context) (Reason, error) {
	h.p.tell(shutdown{})
	select {
	case <-h.exited:
		return h.reason, nil
	default:
	}
	select {
	case <-h.exited:
		return h.reason, nil
	case <-ctx.Done():
		return Reason{}, fmt.Errorf("guard: stop %s: %w", h.p.spec.Kind, context.Cause(ctx))
	}
}

// Exited is closed when the actor has exited.
func (h *Handle) Exited() <-chan struct{} { return h.exited }

// Reason returns why the actor exited; before that, the zero Reason.
func (h *Handle) Reason() Reason {
	select {
	case <-h.exited:
		return h.reason
	default:
		return Reason{}
	}
}
