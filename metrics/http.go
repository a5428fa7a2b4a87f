package metrics

import (
	"time"

	"holdfast/internal/shed"
	"holdfast/messages"
)

// Request counts a request of a class of routes, answered with status within
// took; cut says that the answer did not come to its end. [messages.StatusGone] stands
// for a caller that ended the connection before its answer.
func (m *Metrics) Request(class string, status int, cut bool, took time.Duration) {
	result := resultOK
	switch {
	case status == messages.StatusGone:
		result = "gone"
	case cut || status >= 500:
		result = resultFailed
	case status >= 400:
		result = "refused"
	}
	m.requests.inc(class, result)
	m.took.observe(took.Seconds(), class)
}

// AuthFailed counts a request of a class of routes that was refused for its
// token.
func (m *Metrics) AuthFailed(class string) { m.auth.inc(class) }

// StreamOpened counts an event stream until StreamClosed is called for it.
func (m *Metrics) StreamOpened() { m.streams.add(1) }

// StreamClosed counts the end of an event stream.
func (m *Metrics) StreamClosed() { m.streams.add(-1) }

// Cut counts what was refused because of a bound.
func (m *Metrics) Cut(b shed.Bound) { m.bounds.Hit(b) }
