package gateway

import (
	"strconv"
	"time"

	"holdfast/internal/gateway/view"
	"holdfast/messages"
)

// maxWaiting bounds the commands of one client that wait for the next link, in bytes.
const maxWaiting = 16 << 20

// waiting is a command that waits until its session is there again.
type waiting struct {
	session messages.SessionID // as the client knows it
	size    int
	until   time.Time
	start   func()
	fail    func(*view.Error)
}

// lostError is what a client is told of a command that a lost link has taken along, or kept
// waiting for too long.
func lostError(sent messages.Sent) *view.Error {
	return &view.Error{
		Code: view.CodeServer, Message: "upstream connection lost; the command was not repeated",
		Data: data(messages.CodeUpstreamUnavailable, sent),
	}
}

// isUpLocked says whether commands on a session can be sent at once.
func (c *client) isUpLocked(s *session) bool { return s.isUp && c.link.Err() == nil }

// waitLocked has a command wait for its session. It returns why it cannot.
func (c *client) waitLocked(w waiting) *view.Error {
	if c.waitingBytes+w.size > maxWaiting {
		return &view.Error{
			Code: view.CodeServer, Message: "more than " + strconv.Itoa(maxWaiting>>20) + " MiB of commands wait for the connection to the browser",
			Data: data(messages.CodeLimitReached, messages.SentNo),
		}
	}
	w.until = time.Now().Add(linkPatience)
	c.waiting = append(c.waiting, w)
	c.waitingBytes += w.size
	if len(c.waiting) == 1 {
		c.expireBy(w.until)
	}
	return nil
}

// takeLocked takes the commands that wait and that which accepts, in order.
func (c *client) takeLocked(which func(waiting) bool) (taken []waiting) {
	var left []waiting
	for _, w := range c.waiting {
		if which(w) {
			taken = append(taken, w)
			c.waitingBytes -= w.size
		} else {
			left = append(left, w)
		}
	}
	c.waiting = left
	return taken
}

// flush lets the commands that wait for a session follow what it was given. It is up once
// none waits: a command that comes meanwhile waits behind them.
func (c *client) flush(s *session, gen int) {
	for isFirst := true; ; isFirst = false {
		c.mu.Lock()
		if !c.isNowLocked(s, gen) || s.link == "" || s.isUp || isFirst && s.isFlushing {
			c.mu.Unlock()
			return
		}
		due := c.takeLocked(func(w waiting) bool { return w.session == s.id })
		s.isUp, s.isFlushing = len(due) == 0, len(due) > 0
		c.mu.Unlock()
		if len(due) == 0 {
			return
		}
		for _, w := range due {
			w.start()
		}
	}
}

// expireBy has the commands that have waited for too long fail. The lock is held.
func (c *client) expireBy(t time.Time) {
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.expiry = time.AfterFunc(time.Until(t), c.expire)
}

func (c *client) expire() {
	now := time.Now()
	c.mu.Lock()
	due := c.takeLocked(func(w waiting) bool { return !now.Before(w.until) })
	if len(c.waiting) > 0 && !c.isOver {
		c.expireBy(c.waiting[0].until)
	}
	c.mu.Unlock()
	for _, w := range due {
		w.fail(lostError(messages.SentNo))
	}
}
