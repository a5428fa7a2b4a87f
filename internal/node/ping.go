package node

import (
	"sync"

	"holdfast/internal/call"
	"holdfast/messages/mail"
)

// pulse is the ping under way, if there is one. A ping that is never answered is not
// repeated: an actor that hangs needs no more messages.
type pulse struct {
	mu   sync.Mutex
	beat *beat
}

// beat is one ping, for all its callers.
type beat struct {
	done chan struct{}
	err  error // once done
}

// ask joins the ping under way, or makes one. The answer may come before ping
// returns: a mailbox that is full refuses it at once.
func (p *pulse) ask(calls *call.Table, ping func(mail.Call)) *beat {
	p.mu.Lock()
	b, first := p.beat, false
	if b == nil {
		b, first = &beat{done: make(chan struct{})}, true
		p.beat = b
	}
	p.mu.Unlock()
	if first {
		ping(calls.Open(func(_ any, err error) {
			p.mu.Lock()
			p.beat = nil
			p.mu.Unlock()
			b.err = err
			close(b.done)
		}))
	}
	return b
}
