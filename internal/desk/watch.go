package desk

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/anthdm/hollywood/actor"
	"google.golang.org/protobuf/proto"

	"holdfast/messages"
	"holdfast/transport/remoting"
)

// endTime is how long the end of a watch is tried to be told, endEvery the pause between.
const (
	endTime  = 30 * time.Second
	endEvery = 250 * time.Millisecond
)

type watchKey struct{ address, id, request string }

func keyOf(to *actor.PID, q request) watchKey {
	return watchKey{to.GetAddress(), to.GetID(), q.RequestID}
}

// watch is a stream of events to a program.
type watch struct {
	end context.CancelCauseFunc
}

var errUnwatched = errors.New("the watch was ended")

// watch starts one. A second of the same sender under the same id takes the place of the first.
func (d *Desk) watch(to *actor.PID, q request) {
	ctx, end := context.WithCancelCause(d.ctx)
	key, w := keyOf(to, q), &watch{end: end}
	d.mu.Lock()
	before := d.watches[key]
	isFull := before == nil && len(d.watches) >= maxWatches
	if !isFull {
		d.watches[key] = w
	}
	d.mu.Unlock()
	if isFull {
		end(nil)
		d.send(to, q.reply(nil, messages.Errorf(messages.CodeLimitReached, "%d watches are open already", maxWatches).With("retry_after_s", 1)))
		return
	}
	if before != nil {
		before.end(errUnwatched)
	}
	d.all.Go(func() {
		defer d.rescue(to, q)
		defer d.forget(key, w)
		d.told(to, q.reply(nil, d.stream(ctx, to, q)))
	})
}

func (d *Desk) forget(key watchKey, w *watch) {
	w.end(nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.watches[key] == w {
		delete(d.watches, key)
	}
}

// unwatch ends a watch; the watch's own reply answers.
func (d *Desk) unwatch(to *actor.PID, q request) {
	d.mu.Lock()
	w := d.watches[keyOf(to, q)]
	d.mu.Unlock()
	if w == nil {
		d.send(to, q.reply(nil, messages.Errorf(messages.CodeInvalidArgument, "there is no watch of this request_id")))
		return
	}
	w.end(errUnwatched)
}

// dropped ends the watches of a peer for whom messages were dropped, so that none of them has a
// gap that its reader does not know of.
func (d *Desk) dropped(x remoting.Dropped) {
	d.config.Log.Warn("messages to a program on actors were dropped", "peer", x.Peer, "reason", string(x.Reason), "messages", x.Messages)
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, w := range d.watches {
		if key.address == x.Peer {
			w.end(x.Reason)
		}
	}
}

// stream sends the events of a task until it ends: with nil at the end of the task.
func (d *Desk) stream(ctx context.Context, to *actor.PID, q request) error {
	res, err := d.do(ctx, q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 0, 16<<10), maxAnswer)
	var last uint64
	for err == nil && lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		m, version := q.event(bytes.Clone(data))
		if err = d.remoter.Offer(to, m, d.root.PID()); err == nil {
			last = max(last, version)
		}
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errUnwatched):
		return nil
	case d.ctx.Err() != nil:
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the node is ending").With("after", last)
	case cause != nil || err != nil:
		return messages.Errorf(messages.CodeLimitReached, "events were dropped: watch again").With("after", last)
	case lines.Err() != nil:
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the stream of events broke: watch again").With("after", last)
	}
	return nil
}

// told sends the end of a watch, again and again while there is no room for it.
func (d *Desk) told(to *actor.PID, m proto.Message) {
	ticker := time.NewTicker(endEvery)
	defer ticker.Stop()
	for end := time.Now().Add(endTime); ; {
		err := d.remoter.Offer(to, m, d.root.PID())
		if !errors.Is(err, remoting.QueueFull) || time.Now().After(end) {
			return
		}
		select {
		case <-ticker.C:
		case <-d.ctx.Done():
			return
		}
	}
}
