package backend

import (
	"context"

	"holdfast/messages"
	"holdfast/transport"
)

// Attached is the Backend of a browser that runs already. It outlives the task.
type Attached struct {
	at   transport.Address
	dial Dial
}

// NewAttached returns the Backend of the browser at url.
func NewAttached(url messages.CDPURL, dial Dial) *Attached {
	return &Attached{at: transport.Address{URL: url}, dial: dial}
}

// Open implements [Backend].
func (a *Attached) Open(ctx context.Context, role messages.Role, onClose func(error)) (*transport.Mux, error) {
	return a.dial(ctx, role, a.at, onClose)
}

// Identity implements [Backend]: it is the URL without its credentials.
func (a *Attached) Identity() string { return a.at.String() }

// Caps implements [Backend]: nothing is known of a browser behind a URL.
func (a *Attached) Caps() Caps { return Caps{} }
