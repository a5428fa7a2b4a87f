package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/api/apitest"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// slowNode is a node whose page takes its time for a capture, and is found in a state meanwhile.
type slowNode struct {
	*apitest.Node
	takes time.Duration
	state messages.PageState
	isIn  atomic.Bool
	began chan struct{}
}

func (n *slowNode) CDP(ctx context.Context, _ messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	if r.Method != "DOMSnapshot.captureSnapshot" {
		return messages.CDPResult{Result: json.RawMessage(`{"frameTree":{"frame":{"id":"A","loaderId":"L"}}}`)}, nil
	}
	n.isIn.Store(true)
	close(n.began)
	select {
	case <-time.After(n.takes):
		return messages.CDPResult{Result: json.RawMessage(`{"documents":[{"frameId":0,"nodes":{"parentIndex":[-1,0,1],"nodeType":[9,1,3],"nodeName":[1,2,1],"nodeValue":[-1,-1,3],"backendNodeId":[1,2,3]},"layout":{"nodeIndex":[1,2]}}],"strings":["A","","P","words"]}`)}, nil
	case <-ctx.Done():
		return messages.CDPResult{}, ctx.Err()
	}
}

func (n *slowNode) Snapshot(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
	snap := pages(id, "A")
	if n.isIn.Load() {
		snap.Pages[0].PageState = n.state
	}
	return snap, nil
}

func (n *slowNode) Watch(context.Context, messages.TaskID, uint64, bool) (messages.EventStream, error) {
	return &afterBegin{n.began, false}, nil
}

// afterBegin is a stream with one event, once the capture has begun.
type afterBegin struct {
	began  chan struct{}
	isDone bool
}

func (s *afterBegin) Next(ctx context.Context) ([]messages.Event, error) {
	began := s.began
	if s.isDone {
		began = nil
	}
	select {
	case <-began:
		s.isDone = true
		return []messages.Event{{Type: messages.EventPageChanged}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (*afterBegin) Close() {}

func TestASnapshotWaitsForALargePageAndNotForOneThatCannotAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state   messages.PageState
		takes   time.Duration
		isRead  bool
		atLeast time.Duration
	}{
		"its capture is the silence": {messages.PageHung, 2 * time.Second, true, 2 * time.Second},
		"it hangs":                   {messages.PageHung, time.Hour, false, 3 * time.Second},
		"a dialog opens":             {messages.PageDialog, time.Hour, false, 0},
		"it crashes":                 {messages.PageCrashed, time.Hour, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := &slowNode{Node: &apitest.Node{}, takes: c.takes, state: c.state, began: make(chan struct{})}
				start := time.Now()
				r := tools.New(n, nil).Call(t.Context(), tools.Caller{}, "one", "browser_snapshot", nil)
				if took := time.Since(start); took != c.atLeast {
					t.Errorf("it took %s", took)
				}
				if !r.OK || c.isRead != strings.Contains(r.Text, `text "words"`) || c.isRead == strings.Contains(r.Text, "STATE "+string(c.state)) {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}
