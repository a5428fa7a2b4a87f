package supervisor

import "holdfast/messages"

// End is what a supervisor says that ends without having decided to.
func (m *Machine) End() []Effect { return m.end(messages.StateStopped, nil) }
