package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// restream is the pause before a node is asked anew.
const restream = 500 * time.Millisecond

// stream is what is said to a node that has tasks which this one has standbys of.
type stream struct {
	node   string
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex // protects what follows
	queue []standbyLine
	wake  chan struct{} // has one place
}

func newStream(ctx context.Context, node string) *stream {
	s := &stream{node: node, wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// send says something, as soon as the node listens. It does not wait.
func (s *stream) send(l standbyLine) {
	s.mu.Lock()
	s.queue = append(s.queue, l)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stream) take() []standbyLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.queue
	s.queue = nil
	return lines
}

// runStream asks the node until there is nothing to ask.
func (c *Cluster) runStream(s *stream) {
	for s.ctx.Err() == nil {
		if err := c.attend(s); err != nil && s.ctx.Err() == nil {
			c.config.Log.Debug("a node does not say how its tasks are", "node", s.node, "err", err)
		}
		pause := time.NewTimer(restream)
		select {
		case <-pause.C:
		case <-s.ctx.Done():
			pause.Stop()
		}
	}
}

// attend makes one request, and returns once it has ended.
func (c *Cluster) attend(s *stream) error {
	address := c.address(s.node)
	if address == "" {
		return errors.New("its address is not known")
	}
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	body, lines := io.Pipe()
	u := url.URL{Scheme: "https", Host: address, Path: standbysPath, RawQuery: url.Values{"node": {c.config.Node}}.Encode()}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), body)
	if err != nil {
		return err
	}
	r.Header.Set(greetingHeader, c.greeting())
	var writer sync.WaitGroup
	writer.Go(func() { _ = lines.CloseWithError(c.say(ctx, s, json.NewEncoder(lines))) })
	defer func() {
		cancel()
		_ = body.Close() // a write that waits ends
		writer.Wait()
	}()
	res, err := c.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	c.hear(res.Header)
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers with status %d", res.StatusCode)
	}
	readLines(res.Body, func(l newsLine) bool {
		c.hearNews(s.node, l)
		return ctx.Err() == nil
	})
	return io.ErrUnexpectedEOF
}

// say writes what the node is asked for, and what becomes of it.
func (c *Cluster) say(ctx context.Context, s *stream, out *json.Encoder) error {
	s.take() // of an earlier request
	c.standbys.mu.Lock()
	var first []standbyLine
	for id, h := range c.standbys.of {
		if h.node == s.node {
			isUp := h.isUp.Load()
			first = append(first, standbyLine{Task: id, Epoch: h.epoch, IsUp: &isUp})
		}
	}
	c.standbys.mu.Unlock()
	for lines := first; ; lines = s.take() {
		for _, l := range lines {
			if err := out.Encode(l); err != nil {
				return err
			}
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
