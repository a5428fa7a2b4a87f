package recordings

import (
	"maps"
	"time"

	"holdfast/internal/chromiumtest"
)

// due says how many messages each connection has had before each command of a
// recording. A machine under load may be silent for long in the middle of a step:
// with a recording at hand the next step waits for what this one brings.
type due struct {
	commands []map[string]int // by command, then by connection
	missed   bool             // Chromium has changed: silence is all there is to go by
}

func dueBy(recorded []entry) *due {
	d, now := &due{}, map[string]int{}
	for _, e := range recorded {
		if e.Dir == "send" {
			d.commands = append(d.commands, maps.Clone(now))
			continue
		}
		now[e.Conn]++
	}
	d.commands = append(d.commands, now) // the end
	return d
}

// hasWhatIsDue waits for what the recording has on this connection before the next
// command, and says whether it came.
func (c *client) hasWhatIsDue() bool {
	d := c.stage.due
	if d == nil || d.missed {
		return false
	}
	limit := time.NewTimer(chromiumtest.Patience)
	defer limit.Stop()
	for {
		sent, got := c.progress()
		if sent >= len(d.commands) || got >= d.commands[sent][c.name] {
			return true
		}
		select {
		case <-c.heard:
		case <-c.done:
			return false
		case <-limit.C:
			d.missed = true
			return false
		}
	}
}

// progress is how many commands all clients have sent, and how many messages that
// count this one has had.
func (c *client) progress() (sent, got int) {
	c.stage.mu.Lock()
	defer c.stage.mu.Unlock()
	return c.stage.sent, c.stage.got[c.name]
}
