package chromiumtest

import (
	"net"
	"slices"
	"time"
)

// Connections are the numbers of the open connections, oldest first.
func (p *FaultProxy) Connections() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	numbers := make([]int, 0, len(p.open))
	for c := range p.open {
		numbers = append(numbers, c.number)
	}
	slices.Sort(numbers)
	return numbers
}

// First is the first message that the client of an open connection sent, nil
// when it has sent none: what tells apart who dialled.
func (p *FaultProxy) First(number int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.find(number); c != nil {
		return c.first
	}
	return nil
}

// Finish ends a connection with FIN on both sides and without a close frame,
// as a process does that exits.
func (p *FaultProxy) Finish(number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	if c == nil {
		return false
	}
	delete(p.open, c)
	_ = c.client.Close()
	if c.upstream != nil {
		_ = c.upstream.Close()
	}
	c.release()
	return true
}

// Hold makes one connection half-open: it stays, and nothing passes it any
// more, the end of either side included, until Release or its end.
func (p *FaultProxy) Hold(number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	if c == nil {
		return false
	}
	if c.held == nil {
		c.held = make(chan struct{})
	}
	return true
}

// CutClient resets the client's half of a connection and holds the browser's, until
// Release: behind a proxy or a NAT the browser hears late that its client is gone.
func (p *FaultProxy) CutClient(number int) bool {
	if !p.Hold(number) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	if c == nil {
		return false
	}
	if tcp, ok := c.client.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.client.Close()
	return true
}

// HoldReplies lets nothing of the browser's pass one connection any more, from the
// client's next message on that contains until, until Release or its end.
func (p *FaultProxy) HoldReplies(number int, until string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	if c != nil {
		c.until, c.isWaiting = []byte(until), false
	}
	return c != nil
}

// IsWaiting says whether the browser has said something that HoldReplies holds.
func (p *FaultProxy) IsWaiting(number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	return c != nil && c.isWaiting
}

// Release ends Hold and HoldReplies and passes on what was held.
func (p *FaultProxy) Release(number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	if c != nil {
		c.release()
	}
	return c != nil
}

// HoldDials holds every connection from its beginning, so that a dial neither
// fails nor ends: who dials is away for as long as a test takes, however slow the
// machine, where after [FaultProxy.Refuse] it would give up in the end.
func (p *FaultProxy) HoldDials() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isHolding = true
}

// ReleaseDials ends HoldDials and lets the held dials through.
func (p *FaultProxy) ReleaseDials() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isHolding = false
	for c := range p.open {
		c.release()
	}
}

// Slow makes every chunk of one connection take d longer, in both directions.
// Zero ends it.
func (p *FaultProxy) Slow(number int, d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	if c != nil {
		c.delay = d
	}
	return c != nil
}

// find returns the open connection of that number, or nil; the proxy's lock is
// held.
func (p *FaultProxy) find(number int) *proxied {
	for c := range p.open {
		if c.number == number {
			return c
		}
	}
	return nil
}

// release passes on what waits; the proxy's lock is held.
func (c *proxied) release() {
	for _, hold := range []*chan struct{}{&c.held, &c.mute} {
		if *hold != nil {
			close(*hold)
			*hold = nil
		}
	}
	c.until = nil
}

// awaitRelease waits while the connection is held.
func (p *FaultProxy) awaitRelease(c *proxied) {
	p.mu.Lock()
	held := c.held
	p.mu.Unlock()
	if held != nil {
		<-held
	}
}
