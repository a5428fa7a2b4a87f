package remoting

import "github.com/anthdm/hollywood/remote"

// Receive takes an envelope as if a link had brought it.
func (r *Remoter) Receive(e *remote.Envelope, isDialled func(address string) bool) {
	r.receive(e, isDialled)
}
