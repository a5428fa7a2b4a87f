package session

import (
	"sync/atomic"

	"holdfast/messages"
	"holdfast/transport"
)

// Renew sets again what agents had set on the page and the end of another session has
// taken back. It returns whether there was anything. Again is called, on any goroutine,
// where an agent has set something else meanwhile: the newest has to come last. It waits
// for nothing.
func (p *Port) Renew(again func()) bool {
	commands, changes := p.wanted.Renew(p.place)
	var left atomic.Int64
	left.Store(int64(len(commands)))
	for _, e := range commands {
		p.mux.Start(transport.Call{SessionID: p.Session, Method: e.Method, Params: e.Params, Done: func(r transport.Reply) {
			p.wanted.Established(p.place, e.ID, r.Result, r.Err)
			if left.Add(-1) == 0 && p.wanted.IsOvertaken(p.place, changes) {
				again()
			}
		}})
	}
	return len(commands) > 0
}

// IsOf says whether the session is that of the page itself.
func (p *Port) IsOf(page messages.TargetID) bool { return p.IsPage && p.place.Target == page }
