package shed

import "sync/atomic"

// Bound names one bound of a node.
type Bound uint8

// The bounds that can cut something off, drop it or refuse it.
const (
	ConsoleErrors   Bound = iota // errors of a page's console, dropped in a storm
	ConsoleText                  // texts of console errors, cut
	DialogText                   // messages of dialogs, cut
	DialogMemory                 // dialogs of the past forgotten before every link had told of them
	Pages                        // pages of a task beyond those it may have
	Frames                       // frames of a page beyond those that are followed
	EventRing                    // watchers that fell too far behind, and were given the whole state
	Wanted                       // tasks whose agents have set more than is remembered
	EndedTasks                   // tasks forgotten that were kept only to say how they ended
	CDPMessages                  // messages of a browser that were too large, discarded
	CDPCommands                  // commands refused: too many or too large for their link
	SessionEvents                // events dropped of sessions without an owner yet
	Sessions                     // sessions a browser announced beyond those that are kept
	EventStreams                 // event streams refused
	SlowReaders                  // event streams ended whose reader took nothing
	HTTPConnections              // connections closed at the door
	HTTPBodies                   // requests refused for the size of their body
	LogLines                     // lines of the log held back by a rate
	Spans                        // spans of traces that were dropped
	count
)

var names = [count]string{
	"console_errors", "console_text", "dialog_text", "dialog_memory", "pages", "frames", "event_ring", "wanted", "ended_tasks",
	"cdp_messages", "cdp_commands", "session_events", "sessions",
	"event_streams", "slow_readers", "http_connections", "http_bodies", "log_lines", "spans",
}

// String is the bound's name, fit for a metric's label.
func (b Bound) String() string { return names[b] }

// All lists every bound.
func All() []Bound {
	all := make([]Bound, count)
	for i := range all {
		all[i] = Bound(i)
	}
	return all
}

// Counts are how often each bound has been hit. The zero value is ready and nil
// counts nothing. Safe for concurrent use; counting neither locks nor allocates.
type Counts struct{ hits [count]atomic.Uint64 }

// Hit notes that b has cut something off.
func (c *Counts) Hit(b Bound) {
	if c != nil {
		c.hits[b].Add(1)
	}
}

// Load is how often b was hit.
func (c *Counts) Load(b Bound) uint64 {
	if c == nil {
		return 0
	}
	return c.hits[b].Load()
}
