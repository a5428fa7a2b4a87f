package supervisor

import "holdfast/messages"

// Publish shows snap on b, as the supervisor does.
func (b *Board) Publish(snap *messages.Snapshot, events []messages.Event) {
	b.publish(&View{Snapshot: snap}, events)
}
