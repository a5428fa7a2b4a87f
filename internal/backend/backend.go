package backend

import (
	"context"

	"holdfast/messages"
	"holdfast/transport"
)

// Backend opens the links to the browser of one task. Its methods are safe for
// concurrent use.
type Backend interface {
	// Open opens a link. It may wait, honours ctx, and calls onClose once when the link
	// has ended. Its errors hold no credential.
	Open(ctx context.Context, role messages.Role, onClose func(error)) (*transport.Mux, error)
	// Identity names the browser in snapshots and logs. It holds no credential.
	Identity() string
	// Caps says what is known of the browser before the first link. It does not change.
	Caps() Caps
}

// Process is a Backend whose browser belongs to the task and ends with it.
type Process interface {
	Backend
	// Downloads is the directory for what the pages download, "" before the first link.
	Downloads() string
	// Exited is closed when the browser has ended, by itself or by Close. It is nil
	// before the first link.
	Exited() <-chan struct{}
	// ExitReason says why the browser has ended, "" while it runs.
	ExitReason() string
	// Close ends the browser, if there is one, and waits for its end while ctx allows.
	Close(ctx context.Context) error
}

// Dial opens a link to the browser at an address, as [Backend.Open] does.
type Dial func(ctx context.Context, role messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error)
