package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/client"
	"holdfast/messages"
)

// subscriptions tell the clients of one server that a resource has changed. A resource is watched
// while it has a subscriber. It is safe for concurrent use.
type subscriptions struct {
	server *sdk.Server

	mu       sync.Mutex
	watching map[subscription]context.CancelFunc
}

type subscription struct {
	session *sdk.ServerSession
	uri     string
}

// maxSubscriptions bounds the resources that one server watches.
const maxSubscriptions = 256

// watchEvery is how often the list of tasks is looked at, and how long a broken stream rests.
const watchEvery = time.Second

func (s *subscriptions) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	p, uri := peerOf(ctx), req.Params.URI
	id, isDialogs := taskOf(uri)
	switch {
	case isDialogs:
		// A task that the token does not cover, or that is not there, is refused now.
		if _, err := p.node.Snapshot(ctx, id, messages.SnapshotOptions{}); err != nil {
			return protocolError(err)
		}
	case uri != tasksURI:
		return sdk.ResourceNotFoundError(uri)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := subscription{req.Session, uri}
	if s.watching[key] != nil {
		return nil
	}
	if len(s.watching) >= maxSubscriptions {
		return messages.Errorf(messages.CodeLimitReached, "%d resources are watched; unsubscribe from one first", maxSubscriptions)
	}
	if s.watching == nil {
		s.watching = map[subscription]context.CancelFunc{}
	}
	// The request ends before the subscription does.
	watch, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.watching[key] = cancel
	tell := func() {
		_ = s.server.ResourceUpdated(watch, &sdk.ResourceUpdatedNotificationParams{URI: uri})
	}
	go func() {
		_ = req.Session.Wait() // the end of the client
		s.end(key)
	}()
	if isDialogs {
		go watchDialogs(watch, p.node, id, tell)
	} else {
		go watchTasks(watch, p.node, tell)
	}
	return nil
}

func (s *subscriptions) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.end(subscription{req.Session, req.Params.URI})
	return nil
}

func (s *subscriptions) end(key subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.watching[key]; cancel != nil {
		cancel()
		delete(s.watching, key)
	}
}

// watchDialogs tells of each dialog of the task that opens or closes, until ctx ends.
func watchDialogs(ctx context.Context, n Node, id messages.TaskID, tell func()) {
	var from client.Position
	for {
		for e, err := range n.Watch(ctx, id, from) {
			if err != nil {
				break
			}
			// The first reset is the state that the client has read.
			if e.Type == messages.EventDialogOpened || e.Type == messages.EventDialogClosed || e.Type == messages.EventReset && from.Resume {
				tell()
			}
			from = client.Position{Version: e.Version, Resume: true}
		}
		if !hasRested(ctx) {
			return
		}
	}
}

// watchTasks tells of each change of the list of tasks, until ctx ends.
func watchTasks(ctx context.Context, n Node, tell func()) {
	var last map[taskEntry]bool
	for {
		if list, err := n.Tasks(ctx, nil); err == nil {
			now := make(map[taskEntry]bool, len(list))
			isNew := len(list) != len(last)
			for _, s := range list {
				e := entryOf(s)
				now[e] = true
				isNew = isNew || !last[e]
			}
			if last != nil && isNew {
				tell()
			}
			last = now
		}
		if !hasRested(ctx) {
			return
		}
	}
}

// hasRested waits a while; it is false once ctx has ended.
func hasRested(ctx context.Context) bool {
	t := time.NewTimer(watchEvery)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
