package remoting

import (
	"math/rand/v2"
	"time"
)

const (
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
	// restTime is how long a peer is kept to whom nothing is sent.
	restTime = time.Minute
	// pingEvery is the pause between two signs of life on a link.
	pingEvery = 2 * time.Second
	// silence is how long a peer that has answered one may answer none.
	silence = 3 * pingEvery

	maxBatch      = 1024
	maxBatchBytes = 1 << 20
)

// peer is another process that is written to: its queue and the goroutine that empties it.
type peer struct {
	remoter *Remoter
	address string
	wake    chan struct{} // room for one: there is something in the queue

	// Of the Remoter's lock.
	queue []item
	bytes int
}

// run dials when there is something to send, and writes.
func (p *peer) run() {
	var (
		link  *link
		pause = firstPause
		busy  = time.Now()
		pings = time.NewTicker(pingEvery)
	)
	defer pings.Stop()
	defer func() {
		if link != nil {
			link.close()
		}
		p.empty(Stopped)
	}()
	for p.remoter.ctx.Err() == nil {
		if !p.hasMessages() {
			if time.Since(busy) > restTime && p.isRemoved() {
				return
			}
			if link = p.rest(link, pings.C); link == nil {
				continue
			}
		}
		if !p.hasMessages() {
			continue
		}
		busy = time.Now()
		if link == nil {
			var err error
			if link, err = dial(p.remoter.ctx, p.address, p.remoter.options.TLS); err != nil {
				p.remoter.options.Log.Debug("a peer could not be dialled", "peer", p.address, "err", err)
				p.age(Unavailable)
				p.wait(pause/2 + rand.N(pause/2))
				pause = min(2*pause, maxPause)
				continue
			}
			pause = firstPause
		}
		batch, old := p.take(time.Now())
		p.remoter.drop(p.address, Stale, old)
		if len(batch) == 0 {
			continue
		}
		if err := link.write(envelope(batch)); err != nil {
			p.remoter.options.Log.Debug("a link to a peer was lost", "peer", p.address, "err", err)
			p.remoter.drop(p.address, LinkLost, len(batch))
			link.close()
			link = nil
			continue
		}
		p.remoter.counts.sent.Add(uint64(len(batch)))
	}
}

// rest waits until there is something to send, and keeps the link alive meanwhile. It returns
// the link, nil once that is lost.
func (p *peer) rest(l *link, pings <-chan time.Time) *link {
	var lost <-chan struct{}
	if l != nil {
		lost = l.lost
	}
	select {
	case <-p.wake:
		return l
	case <-p.remoter.ctx.Done():
		return l
	case <-lost:
	case <-pings:
		if l == nil || !l.isSilent(time.Now()) && l.write(ping()) == nil {
			return l
		}
	}
	l.close()
	return nil
}

// wait lets the pause before the next dial pass.
func (p *peer) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.remoter.ctx.Done():
	}
}

func (p *peer) hasMessages() bool {
	p.remoter.mu.Lock()
	defer p.remoter.mu.Unlock()
	return len(p.queue) > 0
}

// isRemoved takes the peer away if its queue is empty, and says so.
func (p *peer) isRemoved() bool {
	p.remoter.mu.Lock()
	defer p.remoter.mu.Unlock()
	if len(p.queue) > 0 {
		return false
	}
	delete(p.remoter.peers, p.address)
	return true
}

// take returns what goes into one envelope, and how many messages it has dropped for their age.
func (p *peer) take(now time.Time) (batch []item, old int) {
	p.remoter.mu.Lock()
	defer p.remoter.mu.Unlock()
	old = p.ageLocked(now)
	n, bytes := 0, 0
	for n < len(p.queue) && n < maxBatch && (n == 0 || bytes+p.queue[n].cost() <= maxBatchBytes) {
		bytes += p.queue[n].cost()
		n++
	}
	batch = p.queue[:n:n]
	p.popLocked(n)
	return batch, old
}

// age drops what has waited too long.
func (p *peer) age(why Reason) {
	p.remoter.mu.Lock()
	n := p.ageLocked(time.Now())
	p.remoter.mu.Unlock()
	p.remoter.drop(p.address, why, n)
}

func (p *peer) ageLocked(now time.Time) (old int) {
	for old < len(p.queue) && now.Sub(p.queue[old].since) > maxAge {
		old++
	}
	p.popLocked(old)
	return old
}

func (p *peer) popLocked(n int) {
	for _, i := range p.queue[:n] {
		p.bytes -= i.cost()
		p.remoter.queued -= i.cost()
	}
	if p.queue = p.queue[n:]; len(p.queue) == 0 {
		p.queue = nil // the array goes with the batch that is made of it
	}
}

func (p *peer) empty(why Reason) {
	p.remoter.mu.Lock()
	n := len(p.queue)
	p.popLocked(n)
	p.remoter.mu.Unlock()
	p.remoter.drop(p.address, why, n)
}
