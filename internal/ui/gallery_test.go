package ui_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"holdfast/internal/api/apitest"
	"holdfast/messages"
)

// gallery is a node of which a test says how every task is.
type gallery struct {
	apitest.Node
	apitest.Gateway
	mu      sync.Mutex
	gone    map[messages.ClientID]bool // clients that were disconnected
	tasks   map[messages.TaskID]*messages.Snapshot
	order   []messages.TaskID
	since   time.Time
	blocker messages.BlockerAnswer // the last one that was given
}

// AnswerBlocker implements api.Node.
func (g *gallery) AnswerBlocker(_ context.Context, _ messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.blocker = a
	return messages.ClosedBlocker{ID: a.BlockerID, Action: a.Action, ClosedBy: messages.ClosedByHuman}, nil
}

// said is the last answer to a blocker.
func (g *gallery) said() messages.BlockerAnswer {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.blocker
}

func newGallery() *gallery {
	g := &gallery{tasks: map[messages.TaskID]*messages.Snapshot{}, gone: map[messages.ClientID]bool{}, since: time.Now()}
	g.Load = messages.Pressure{Available: true, Limits: messages.PressureLimits{Tasks: 5000}}
	g.ListFunc = func() []*messages.Snapshot {
		g.mu.Lock()
		defer g.mu.Unlock()
		out := make([]*messages.Snapshot, 0, len(g.order))
		for _, id := range g.order {
			if s := g.tasks[id]; s != nil {
				out = append(out, s)
			}
		}
		return out
	}
	g.SnapshotFunc = func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if s := g.tasks[id]; s != nil {
			return s, nil
		}
		return nil, messages.Errorf(messages.CodeTaskNotFound, "there is no task %s", id)
	}
	g.ChangesFunc = func(id messages.TaskID, after uint64) (out []messages.Event, err error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		s := g.tasks[id]
		for v := after + 1; s != nil && v <= s.Version; v++ {
			e := messages.Event{Type: messages.EventConnection, TaskID: id, Version: v, Connection: &s.Connection, Reason: messages.ReasonReconnected}
			if v%3 != 0 && len(s.Pages) > 0 {
				e = messages.Event{Type: messages.EventPageChanged, TaskID: id, Version: v, Page: &s.Pages[0], Changed: messages.PageTitleChanged}
			}
			e.At = messages.SecondsOf(g.since.Add(time.Duration(v) * time.Second))
			out = append(out, e)
		}
		return out, nil
	}
	g.TreeFunc = g.tree
	return g
}

// Clients implements api.Gateway: the first task has two.
func (g *gallery) Clients(id messages.TaskID) messages.ClientList {
	l := messages.ClientList{Mode: messages.ClientsShared, Clients: []messages.Client{}}
	if id != "checkout-000" {
		return l
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	born := messages.SecondsOf(g.since.Add(-12 * time.Minute))
	for _, c := range []messages.Client{
		{ClientID: "c-1", Name: "playwright", ConnectedAt: born, Dialogs: "holdfast", Sessions: 7, Commands: 18211, Events: 90412},
		{ClientID: "c-2", Name: "a debugger with a name as long as names of clients may be, or so", ConnectedAt: born, Dialogs: "observe", Sessions: 1, Commands: 3, Events: 77, Dropped: 5, StalledS: 64},
	} {
		if !g.gone[c.ClientID] {
			l.Clients = append(l.Clients, c)
		}
	}
	return l
}

// Disconnect implements api.Gateway.
func (g *gallery) Disconnect(_ messages.TaskID, client messages.ClientID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone[client] = true
	return nil
}

// put makes a task as it is now; change is given a copy of what it was.
func (g *gallery) put(id messages.TaskID, change func(*messages.Snapshot)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var s messages.Snapshot
	if old := g.tasks[id]; old != nil {
		s = *old
	} else {
		g.order = append(g.order, id)
		g.Load.Running++
		s = messages.Snapshot{
			TaskID: id, State: messages.StateActive, Version: 1, Active: true, PageTargetID: "T1", PageState: messages.PageOK,
			Connection: messages.Connection{Primary: messages.LinkUp, Anchor: messages.LinkUp, Endpoint: "ws://127.0.0.1:9222/devtools/browser/***"},
			Pages: []messages.Page{{
				TargetID: "T1", SessionID: messages.SessionID("5A1" + fmt.Sprint(len(g.order))), URL: "https://shop.example/checkout/payment", Title: "Checkout – Example Shop", PageState: messages.PageOK,
			}},
			PendingDialogs: []messages.Dialog{}, RecentDialogs: []messages.ClosedDialog{}, ConsoleErrors: []messages.ConsoleError{},
			FrameTree: &messages.FrameTree{Top: messages.FrameTop{FrameID: "F1", URL: "https://shop.example/checkout/payment", Origin: "https://shop.example"}, Children: []messages.FrameNode{
				{FrameID: "F2", ParentFrameID: "F1", URL: "https://pay.example/card", Origin: "https://pay.example", IsOOPIF: true, SessionID: "8C2F00"},
				{FrameID: "F3", ParentFrameID: "F2", URL: "https://pay.example/field/number", Origin: "https://pay.example"},
				{FrameID: "F4", ParentFrameID: "F1", URL: "https://shop.example/reviews", Origin: "https://shop.example"},
			}},
		}
	}
	s.Version++
	change(&s)
	g.tasks[id] = &s
}

func (g *gallery) tree(o messages.TreeOptions) messages.Tree {
	g.mu.Lock()
	defer g.mu.Unlock()
	born := messages.SecondsOf(g.since.Add(-47 * time.Minute))
	root := messages.TreeNode{Kind: "registry", Key: "node", Generation: 2, State: messages.ActorRunning, StartedAt: born}
	for i, id := range g.order {
		s := g.tasks[id]
		if s == nil || o.Task != "" && id != o.Task || o.Allows != nil && !o.Allows(id) {
			continue
		}
		born := born
		if i%5 == 0 {
			born = messages.SecondsOf(g.since.Add(-87 * time.Second)) // an age of two units
		}
		n := messages.TreeNode{Kind: "supervisor", Key: string(id), Generation: uint64(10 * i), State: messages.ActorRunning, StartedAt: born}
		if o.Depth != 1 {
			actor := func(kind, key string) messages.TreeNode {
				return messages.TreeNode{Kind: kind, Key: key, Generation: 9, State: messages.ActorRunning, StartedAt: born}
			}
			browser := actor("browser", "browser")
			browser.Restarts = int(s.Connection.Reconnects)
			if s.Connection.Primary == messages.LinkBackoff {
				browser = messages.TreeNode{Kind: "browser", Key: "browser", State: messages.ActorWaiting, Restarts: 4, RestartAt: messages.SecondsOf(time.Now().Add(3 * time.Second).Truncate(time.Minute))}
			}
			n.Children = []messages.TreeNode{actor("anchor", "anchor"), browser, actor("dialog", "dialog"), actor("frame", "frame")}
			for _, p := range s.Pages {
				n.Children = append(n.Children, actor("session", "session/"+string(p.SessionID)))
			}
			n.Children = append(n.Children, actor("session", "session/8C2F00"))
		}
		root.Children = append(root.Children, n)
	}
	return messages.Tree{At: messages.SecondsOf(time.Now()), Root: root}
}

// dialog is one that opened a while ago.
func dialog(id messages.DialogID, kind messages.DialogType, message, def string, ago time.Duration) messages.Dialog {
	return messages.Dialog{
		ID: id, Type: kind, Message: message, DefaultPrompt: def, OpenedAt: messages.SecondsOf(time.Now().Add(-ago)),
		ExpiresAt: messages.SecondsOf(time.Now().Add(300*time.Second - ago)), FrameID: "F2", FrameURL: "https://pay.example/card", TargetID: "T1", SessionID: "S1", Path: "native",
	}
}

// many fills the gallery with n tasks, of which some are not well.
func (g *gallery) many(n int) {
	kinds := []string{"checkout", "invoice", "crawl", "login", "support"}
	for i := range n {
		g.put(messages.TaskID(fmt.Sprintf("%s-%03d", kinds[i%len(kinds)], i)), func(s *messages.Snapshot) {
			s.Connection.Reconnects = uint64(i % 4)
			s.Connection.LastGapMS = int64(7 * i % 60)
			switch i % 41 {
			case 7:
				s.State, s.PageState, s.Pages[0].PageState = messages.StateWedged, messages.PageHung, messages.PageHung
			case 13:
				s.State, s.Connection.Primary = messages.StateRecovering, messages.LinkBackoff
				s.Connection.RecoveringSince, s.Connection.Attempt = messages.SecondsOf(time.Now().Add(-12*time.Second)), 7
				s.Connection.GiveUpAfterS, s.Connection.LastError = 120, "connection refused: is the browser running?"
			case 21:
				s.State, s.Active, s.Reason = messages.StateLost, false, "gave up on the link after 70 failures in a row, in 2m1.3s; the last: connection refused"
				s.LastPage = &messages.LastPage{URL: s.Pages[0].URL, Title: s.Pages[0].Title}
				s.Pages, s.PageTargetID, s.PageState, s.FrameTree = nil, "", "", nil
			case 30:
				s.Connection.Anchor, s.Connection.AnchorOff = messages.LinkDown, messages.AnchorOffSingle
			}
		})
	}
}
