package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

// drill is one task, its links and what is known of it.
type drill struct {
	testing.TB
	id      messages.TaskID
	node    *node.Node
	browser *chaos.Browser
	proxy   *chromiumtest.FaultProxy
	ledger  *ledger
	trace   *trace
	clock   clock
	scope   messages.Scope
	page    messages.TargetID

	// still is held by code that needs the page to stand still.
	still sync.Mutex

	mu     sync.Mutex
	calls  []called
	errs   []error
	popups []messages.TargetID
	added  messages.FrameID // the last iframe that came
	asked  int              // dialogs opened
	lost   int              // of those, with both links dead
}

// wrong notes a violation and lets the drill go on.
func (d *drill) wrong(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.errs = append(d.errs, fmt.Errorf(format, args...))
}

func (d *drill) violations() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return errors.Join(d.errs...)
}

func (d *drill) snapshot() *messages.Snapshot {
	s, err := d.node.Snapshot(d.id, messages.SnapshotOptions{})
	if err != nil {
		panic(err) // a task is never forgotten
	}
	return s
}

// await waits for a snapshot that shows what is expected, by watching.
func (d *drill) await(what string, ok func(*messages.Snapshot) bool) (*messages.Snapshot, error) {
	ctx, cancel := context.WithTimeout(context.Background(), chromiumtest.Patience)
	defer cancel()
	w, err := d.node.Watch(ctx, d.id, 0, false)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for {
		s := d.snapshot()
		if ok(s) {
			return s, nil
		}
		if _, err := w.Next(ctx); err != nil {
			b, _ := json.Marshal(s)
			return nil, fmt.Errorf("%s: did not come (%w); now %s", what, err, b)
		}
	}
}

// whole waits until the task is as good as new.
func (d *drill) whole() (*messages.Snapshot, error) {
	return d.await("both links up and the page well", func(s *messages.Snapshot) bool {
		return s.State == messages.StateActive && s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp &&
			s.PageState == messages.PageOK
	})
}

// watch notes what the task tells, and that its versions only grow.
func (d *drill) watch(ctx context.Context) {
	w, err := d.node.Watch(ctx, d.id, 0, false)
	if err != nil {
		d.wrong("watch: %v", err)
		return
	}
	defer w.Close()
	last := uint64(0)
	for {
		events, err := w.Next(ctx)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				d.wrong("the task's events ended: %v (%v)", err, errors.Is(err, io.EOF))
			}
			return
		}
		for _, e := range events {
			if e.Version <= last && last != 0 || e.TaskID != d.id {
				d.wrong("version %d of %s after %d", e.Version, e.TaskID, last)
			}
			last = e.Version
			d.note(e)
		}
		if v := d.snapshot().Version; v < last {
			d.wrong("the snapshot is at version %d after event %d", v, last)
		}
	}
}

func (d *drill) note(e messages.Event) {
	switch e.Type {
	case messages.EventTaskState:
		d.trace.add("%d task is %s %s", e.Version, e.State, e.Reason)
	case messages.EventConnection:
		d.trace.add("%d primary %s, anchor %s, %d reconnects", e.Version, e.Connection.Primary, e.Connection.Anchor, e.Connection.Reconnects)
	case messages.EventDialogOpened:
		d.trace.add("%d %s opens: %s", e.Version, e.Dialog.ID, e.Dialog.Message)
	case messages.EventDialogClosed:
		d.trace.add("%d %s closed by %s", e.Version, e.Closed.ID, e.Closed.ClosedBy)
	case messages.EventPageOpened, messages.EventPageClosed, messages.EventPageChanged:
		d.trace.add("%d %s %s is %s at %s", e.Version, e.Type, e.Page.TargetID, e.Page.PageState, e.Page.URL)
	}
}

// links are the numbers of the task's connections at the proxy. The primary is
// known by its first command: the anchor discovers nothing.
func (d *drill) links() (primary, anchor int) {
	for _, n := range d.proxy.Connections() {
		switch first := string(d.proxy.First(n)); {
		case strings.Contains(first, "Target.setDiscoverTargets"):
			primary = n
		case first != "":
			anchor = n
		}
	}
	return primary, anchor
}

// iframe is the page's out-of-process iframe, as the browser has it.
func (d *drill) iframe() messages.FrameID {
	for _, f := range d.browser.FramesOf(d.page) {
		if f.IsOOPIF {
			return f.ID
		}
	}
	return "none"
}

// truth is what the browser has of the task, one line a frame; the order of siblings is not
// defined.
func (d *drill) truth() string {
	var lines []string
	for _, page := range append([]messages.TargetID{d.page}, d.popups...) {
		for _, f := range d.browser.FramesOf(page) {
			lines = append(lines, fmt.Sprintln(page, f.ID, f.Parent, f.URL, f.IsOOPIF))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// seen is what the node says of the task, in the form of truth.
func (d *drill) seen(s *messages.Snapshot) string {
	var lines []string
	for _, p := range s.Pages {
		full, err := d.node.Snapshot(d.id, messages.SnapshotOptions{TargetID: p.TargetID, Full: true})
		if err != nil || full.FrameTree == nil || p.SessionID == "" {
			lines = append(lines, fmt.Sprintln(p.TargetID, "is not attached", err))
			continue
		}
		lines = append(lines, fmt.Sprintln(p.TargetID, full.FrameTree.Top.FrameID, "", full.FrameTree.Top.URL, false))
		for _, f := range full.FrameTree.Children {
			line := fmt.Sprintln(p.TargetID, f.FrameID, f.ParentFrameID, f.URL, f.IsOOPIF)
			if f.IsOOPIF && f.SessionID == "" {
				line = "without a session: " + line
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// eventually waits for what no event tells of.
func eventually(ok func() bool) error {
	deadline := time.After(chromiumtest.Patience)
	pace := time.NewTicker(2 * time.Millisecond)
	defer pace.Stop()
	for !ok() {
		select {
		case <-pace.C:
		case <-deadline:
			return errors.New("did not come")
		}
	}
	return nil
}

// matches waits until the node shows the browser's pages and frames.
func (d *drill) matches() error {
	_, err := d.await("pages and frames as the browser has them", func(s *messages.Snapshot) bool { return d.seen(s) == d.truth() })
	if err != nil {
		return fmt.Errorf("%w\nthe browser has:\n%sthe node shows:\n%s", err, d.truth(), d.seen(d.snapshot()))
	}
	return nil
}
