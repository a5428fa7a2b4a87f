package gateway

import (
	"context"
	"time"

	"github.com/coder/websocket"

	"holdfast/messages"
)

// write writes what waits. Once the queue is closed and empty it closes the connection.
func (c *client) write() {
	var spare [][]byte
	for {
		frames, isLast := c.out.take(spare)
		if len(frames) == 0 {
			if isLast {
				c.closeConn()
				close(c.written)
			}
			return
		}
		for i, f := range frames {
			began := time.Now()
			c.isWriting.Store(true)
			err := c.conn.Write(context.Background(), websocket.MessageText, f)
			c.isWriting.Store(false)
			if took := time.Since(began); took > stallAfter {
				c.stalled.Add(int64(took))
				c.hub.g.cfg.Observer.ClientStalled(took)
			}
			c.out.wrote(f)
			frames[i] = nil
			if err != nil {
				c.out.close(true) // it stays busy
				_ = c.conn.CloseNow()
				close(c.written)
				return
			}
		}
		spare = frames
	}
}

// maxDirect bounds a reply that the link's reader writes itself.
const maxDirect = 4 << 10

// pushDirectly writes a reply at once, which saves waking a goroutine for it, where that cannot
// wait: nothing else is being written, and the kernel holds nothing that the client is yet to take.
func (c *client) pushDirectly(frame []byte) {
	if c.tcp == nil || len(frame) > maxDirect || !c.out.isMine() {
		c.push(frame)
		return
	}
	if !hasNothingUnsent(c.tcp) {
		c.push(frame)
		go c.write()
		return
	}
	c.hub.g.cfg.Observer.ClientReply(len(frame))
	err := c.conn.Write(context.Background(), websocket.MessageText, frame)
	if err != nil {
		_ = c.conn.CloseNow() // the reader ends
	}
	if !c.out.isDone() {
		go c.write()
	}
}

// stallAfter is from when on a write that takes time counts as a stall.
const stallAfter = 10 * time.Millisecond

// closeConn ends the connection as the client can take it.
func (c *client) closeConn() {
	why := c.closing()
	if c.opts.IsFragile || c.isSilent.Load() {
		_ = c.conn.CloseNow()
		return
	}
	_ = c.conn.Close(why.code, why.reason)
}

// push queues a reply for the client.
func (c *client) push(frame []byte) {
	c.hub.g.cfg.Observer.ClientReply(len(frame))
	c.queue(frame)
}

// pushEvent queues an event for the client.
func (c *client) pushEvent(frame []byte) {
	c.events.Add(1)
	c.hub.g.cfg.Observer.ClientEvent(len(frame))
	c.queue(frame)
}

// queue queues a frame. A client that does not read is cut off.
func (c *client) queue(frame []byte) {
	p := c.out.push(frame)
	if p == isFirst {
		go c.write()
	}
	if p != hasNoRoom || c.ending.Load() {
		return
	}
	c.dropped.Add(1)
	c.hub.g.cfg.Observer.ClientDropped(1)
	c.hub.g.cfg.Observer.ClientRejected(messages.ClientRejectedSlow)
	c.end(CloseSlow, "the client does not read what it is told")
}
