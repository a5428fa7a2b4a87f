package transport

import (
	"context"

	"holdfast/messages"
)

// Address says where a browser is: behind a pipe of the node's own, or else at a URL.
type Address struct {
	URL  messages.CDPURL
	Pipe *Shared // nil: URL holds
}

// String names the address without what could be a secret.
func (a Address) String() string {
	if a.Pipe != nil {
		return "pipe:"
	}
	return a.URL.String()
}

// Open opens a link to the browser at the address: see [Dial] and [Shared.Open].
func Open(ctx context.Context, at Address, o DialOptions) (*Mux, error) {
	if at.Pipe != nil {
		return at.Pipe.Open(ctx, o)
	}
	return Dial(ctx, at.URL, o)
}
