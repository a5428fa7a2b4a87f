package supervisor

import "holdfast/messages"

// Publish shows snap on b, as the supervisor does.
func (b *Board) Publish(snap *messages.Snapshot, events []messages.Event) {
	b.publish(&View{Snapshot: snap}, Publish{Events: events})
}

// End is what a supervisor says that ends without having decided to.
func (m *Machine) End() []Effect { return m.end(messages.StateStopped, nil) }
