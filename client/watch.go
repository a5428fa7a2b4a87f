package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"holdfast/messages"
)

// Position is where a watch takes up: after the version, or, for the zero
// value, with a reset that holds the whole snapshot.
type Position struct {
	Version uint64
	Resume  bool
}

// silence is how long a node may say nothing before it counts as gone: three
// of its heartbeats.
const silence = 45 * time.Second

// maxEvent bounds one event, in bytes; the largest is a reset with the whole
// frame tree.
const maxEvent = 64 << 20

// Watch yields a task's state changes, oldest first, until the task ends, ctx ends or the
// caller breaks. An error is the last thing it yields. To continue after a broken
// connection, resume at the last event's version; events of that version may then come
// again.
func (c *Client) Watch(ctx context.Context, id messages.TaskID, from Position) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		alarm := time.AfterFunc(silence, func() { cancel(errors.New("the node fell silent")) })
		defer alarm.Stop()

		body, err := c.openStream(ctx, id, from)
		if err != nil {
			yield(messages.Event{}, err)
			return
		}
		defer body.Close()
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, 16<<10), maxEvent)
		ended := true // whether the last event was whole
		for lines.Scan() {
			alarm.Reset(silence)
			ended = len(lines.Bytes()) == 0
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
			if !ok {
				continue // id, name, comment: the data says it all
			}
			var e messages.Event
			if err := json.Unmarshal(data, &e); err != nil {
				yield(e, c.stranger(http.StatusOK))
				return
			}
			if c.copy != nil {
				c.copy(data)
			}
			if !yield(e, nil) {
				return
			}
		}
		err = lines.Err()
		if err == nil && !ended {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			yield(messages.Event{}, c.unreachable(ctx, err))
		}
	}
}

func (c *Client) openStream(ctx context.Context, id messages.TaskID, from Position) (io.ReadCloser, error) {
	r, err := c.request(ctx, http.MethodGet, taskPath(id, "events"), nil, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	if from.Resume {
		r.Header.Set("Last-Event-ID", strconv.FormatUint(from.Version, 10))
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return nil, c.unreachable(ctx, fmt.Errorf("status %d: %w", res.StatusCode, err))
	}
	return nil, c.errorOf(res.StatusCode, b)
}
