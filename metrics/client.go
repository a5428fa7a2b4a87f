package metrics

import (
	"sync/atomic"
	"time"

	"holdfast/messages"
)

// downstream counts the messages of the gateway's clients, each with its payload.
type downstream struct{ commands, replies, events traffic }

type traffic struct{ messages, bytes atomic.Uint64 }

func (t *traffic) add(bytes int) {
	t.messages.Add(1)
	t.bytes.Add(uint64(bytes))
}

// ClientConnected counts a CDP client until ClientGone is called for it.
func (m *Metrics) ClientConnected() { m.clients.add(1) }

// ClientGone counts the end of a CDP client's connection.
func (m *Metrics) ClientGone() { m.clients.add(-1) }

// ClientRejected counts a CDP client that was refused or cut off.
func (m *Metrics) ClientRejected(why messages.ClientRejection) { m.clientRejected.inc(string(why)) }

// ClientStalled observes how long a client kept waiting what was written to it.
func (m *Metrics) ClientStalled(d time.Duration) { m.clientStalled.observe(d.Seconds()) }

// ClientDropped counts n messages that a client which was cut off had not been told.
func (m *Metrics) ClientDropped(n int) { m.clientDropped.add(n) }

// ClientEventDecoded counts an event for a client that the gateway has decoded.
func (m *Metrics) ClientEventDecoded() { m.clientDecoded.inc() }

// ClientCommand counts a command of a client, of so many bytes.
func (m *Metrics) ClientCommand(bytes int) { m.down.commands.add(bytes) }

// ClientReply counts a reply to a client, of so many bytes.
func (m *Metrics) ClientReply(bytes int) { m.down.replies.add(bytes) }

// ClientEvent counts an event that a client is told, of so many bytes.
func (m *Metrics) ClientEvent(bytes int) { m.down.events.add(bytes) }
