package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"holdfast/messages"
)

// The pace of a live stream. What changes is looked at, not queued: a reader
// that is slow misses states in between, never the newest, and costs nothing.
const (
	lookEvery = 200 * time.Millisecond
	// slowEvery is how many looks pass between two at what no task's state tells
	// of: the node's own, and the actors of the followed task.
	slowEvery = 5
)

// live streams what the token covers as it changes: the node, every task in
// short, and the task that ?task_id= names in whole, with its actors. One stream
// is all that a page needs, since a browser grants an origin six connections. It
// only looks on: no lease is held or renewed by it.
func (h *Handler) live(w http.ResponseWriter, c *call) error {
	id, err := c.namedTask(h)
	if err != nil {
		return err
	}
	ctx, release, err := c.caller.OpenStream(c.Context())
	if err != nil {
		return err
	}
	defer release()
	out := &sse{w: w, c: c, timeout: h.cfg.WriteTimeout}
	if err := out.begin(); err != nil || c.Method == http.MethodHead {
		return nil //nolint:nilerr // the reader has gone
	}
	v := &view{h: h, c: c, out: out, follow: id}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for last := time.Now(); ; {
		if err = v.look(); err == nil {
			if out.buf.Len() == 0 && time.Since(last) >= h.cfg.Heartbeat {
				fmt.Fprint(&out.buf, ": still here\n\n")
			}
			if out.buf.Len() > 0 {
				last = time.Now()
				err = out.flush()
			}
		}
		if err != nil {
			return h.streamEnded(c, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// view is what one reader of a live stream has been told.
type view struct {
	h   *Handler
	c   *call
	out *sse

	looks    int
	node     []byte
	hasBegun bool
	tasks    map[messages.TaskID]*messages.Snapshot

	follow messages.TaskID
	shown  *messages.Snapshot // of the followed task
	after  uint64             // the version of its last event that was told
	tree   []byte

	clients []byte
}

// look writes what is new into the stream's buffer.
func (v *view) look() error {
	at := messages.SecondsOf(time.Now())
	slow := v.looks%slowEvery == 0
	v.looks++
	if slow {
		if err := v.lookAtNode(at); err != nil {
			return err
		}
	}
	if err := v.lookAtTasks(at); err != nil {
		return err
	}
	if v.follow == "" {
		return nil
	}
	changed, err := v.lookAtTask(at)
	if err != nil {
		return err
	}
	if slow {
		if err := v.lookAtClients(at); err != nil {
			return err
		}
	}
	if changed || slow {
		return v.lookAtTree()
	}
	return nil
}

// lookAtClients sends the CDP clients of the followed task where they have changed. A task
// that never had one is told nothing of.
func (v *view) lookAtClients(at messages.Seconds) error {
	list := v.h.clientsOf(v.follow)
	if v.clients == nil && len(list.Clients) == 0 {
		return nil
	}
	news, err := v.news(&v.clients, list)
	if err != nil || !news {
		return err
	}
	return v.out.event("clients", messages.LiveClients{At: at, TaskID: v.follow, ClientList: list})
}

func (v *view) lookAtNode(at messages.Seconds) error {
	s := v.h.status(v.c)
	news, err := v.news(&v.node, s)
	if err != nil || !news {
		return err
	}
	s.At = at
	return v.out.event("node", s)
}

// status is the node as the caller may know it, at no moment yet.
func (h *Handler) status(c *call) messages.NodeStatus {
	s := messages.NodeStatus{
		Version: h.cfg.Version, StartedAt: messages.SecondsOf(h.started), Ready: true, Scope: c.caller.Scope().String(),
	}
	for _, check := range h.cfg.Node.Checks() {
		if !check.OK {
			s.Ready = s.Ready && check.Advisory
			s.Checks = append(s.Checks, check)
		}
	}
	s.Pressure = h.cfg.Node.Pressure()
	for _, load := range []*messages.Load{&s.Pressure.Memory, &s.Pressure.CPU} {
		// What trembles all the time would be told all the time.
		load.Used, load.UsedBytes = math.Round(load.Used*100)/100, 0
	}
	return s
}

// news says whether what is shown differs from what was.
func (v *view) news(shown *[]byte, now any) (bool, error) {
	b, err := json.Marshal(now)
	if err != nil {
		return false, fmt.Errorf("encode: %w", err)
	}
	if bytes.Equal(b, *shown) {
		return false, nil
	}
	*shown = b
	return true, nil
}

// lookAtTasks tells snapshots apart by their address, since each is published
// once: a version would not tell a task from its successor under the same id.
func (v *view) lookAtTasks(at messages.Seconds) error {
	now := make(map[messages.TaskID]*messages.Snapshot, len(v.tasks))
	news := messages.LiveTasks{At: at, All: !v.hasBegun, Tasks: []messages.TaskSummary{}}
	for _, s := range v.h.cfg.Node.Tasks() {
		if !v.c.caller.Allows(s.TaskID) {
			continue
		}
		now[s.TaskID] = s
		if v.tasks[s.TaskID] != s {
			news.Tasks = append(news.Tasks, s.Summary())
		}
	}
	for id := range v.tasks {
		if now[id] == nil {
			news.Gone = append(news.Gone, id)
		}
	}
	v.tasks = now
	if v.hasBegun && len(news.Tasks)+len(news.Gone) == 0 {
		return nil
	}
	v.hasBegun = true
	return v.out.event("tasks", news)
}

func (v *view) lookAtTask(at messages.Seconds) (changed bool, err error) {
	s, err := v.h.cfg.Node.Snapshot(v.follow, messages.SnapshotOptions{})
	if messages.CodeOf(err) == messages.CodeTaskNotFound {
		s, err = nil, nil
	}
	if err != nil {
		return false, err
	}
	if v.looks > 1 && s == v.shown {
		return false, nil
	}
	news := messages.LiveTask{At: at, TaskID: v.follow, Snapshot: s}
	if s != nil {
		if v.shown != nil && s.Version < v.shown.Version {
			v.after = 0 // another task under the same id: all of it is new
		}
		// The events may be newer than the snapshot, which then follows.
		if news.Events, err = v.h.cfg.Node.Changes(v.follow, v.after); err != nil && messages.CodeOf(err) != messages.CodeTaskNotFound {
			return false, err
		}
		if n := len(news.Events); n > 0 {
			v.after = news.Events[n-1].Version
		}
	}
	v.shown = s
	return true, v.out.event("task", news)
}

// lookAtTree sends the actors of the followed task where they have changed.
func (v *view) lookAtTree() error {
	t := v.h.cfg.Node.Tree(treeOptions(v.c.caller, v.follow))
	at := t.At
	t.At = 0
	news, err := v.news(&v.tree, t)
	if err != nil || !news {
		return err
	}
	t.At = at
	return v.out.event("tree", t)
}
