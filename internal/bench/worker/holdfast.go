package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"holdfast/internal/bench/stage"
	"holdfast/internal/node"
	"holdfast/messages"
)

// holdfastClient is a node as a Go program has it, by the calls of the root
// package and nothing else; as large as it is told to be, and otherwise as it
// comes.
type holdfastClient struct {
	node   *node.Node
	dir    string
	links  int
	bridge string
	tasks  atomic.Int64
	arming
}

type holdfastPage struct {
	node *node.Node
	id   messages.TaskID
}

func newHoldfast(o Options) (Client, error) {
	dir, err := os.MkdirTemp("", "hf-bench-")
	if err != nil {
		return nil, err
	}
	node, err := node.Start(context.Background(), node.Config{
		StateDir: dir, Log: slog.New(slog.DiscardHandler),
		Limits: node.Limits{MaxTasks: max(o.Tasks, messages.DefaultMaxTasks)},
	})
	if err != nil {
		return nil, err
	}
	return &holdfastClient{node: node, dir: dir, links: o.Links, bridge: o.Bridge}, nil
}

// Close implements Client.
func (c *holdfastClient) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = c.node.Stop(ctx) // the process ends now
	_ = os.RemoveAll(c.dir)
}

func (c *holdfastClient) spec(p stage.Place) (messages.TaskSpec, error) {
	u, err := messages.ParseCDPURL(p.Browser)
	spec := messages.TaskSpec{CDPURL: u, TargetID: messages.TargetID(p.Target)}
	if c.links == 1 {
		spec.Anchor = messages.AnchorNone
	}
	switch c.bridge {
	case Native:
		spec.Bridge = messages.BridgeOff
	case Debugger, Request:
		spec.Bridge = messages.BridgeOn
	}
	return spec, err
}

// Open implements Client. A task is open when all its links are up, and its page has
// the bridge that it is to have.
func (c *holdfastClient) Open(ctx context.Context, p stage.Place) (Page, error) {
	id := messages.TaskID(fmt.Sprint("bench-", c.tasks.Add(1)))
	spec, err := c.spec(p)
	if err != nil {
		return nil, err
	}
	if _, _, err := c.node.GetOrStart(ctx, id, spec); err != nil {
		return nil, fmt.Errorf("task %s: %w", id, err)
	}
	page := &holdfastPage{node: c.node, id: id}
	if spec.Anchor != messages.AnchorNone {
		err = page.await(ctx, func(s *messages.Snapshot) bool { return s.Connection.Anchor == messages.LinkUp })
	}
	if err == nil && spec.Bridge == messages.BridgeOn {
		err = page.await(ctx, func(s *messages.Snapshot) bool {
			return string(s.Connection.BridgeBy) == c.bridge && s.Pages[0].Bridge == messages.BridgeOn
		})
	}
	return page, err
}

// await waits for a state by watching the task.
func (p *holdfastPage) await(ctx context.Context, is func(*messages.Snapshot) bool) error {
	w, err := p.node.Watch(ctx, p.id, 0, false)
	if err != nil {
		return err
	}
	defer w.Close()
	return p.awaitBy(ctx, w, is)
}

func (p *holdfastPage) awaitBy(ctx context.Context, w messages.EventStream, is func(*messages.Snapshot) bool) error {
	for {
		s, err := p.node.Snapshot(p.id, messages.SnapshotOptions{})
		if err != nil || is(s) {
			return err
		}
		if _, err := w.Next(ctx); err != nil {
			return err
		}
	}
}

var evaluateParams = json.RawMessage(`{"expression":"1+1","returnByValue":true}`)

// Evaluate implements Page.
func (p *holdfastPage) Evaluate(ctx context.Context) error {
	r, err := p.node.CDP(ctx, p.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: evaluateParams})
	if err != nil {
		return err
	}
	if !bytes.Contains(r.Result, two) {
		return fmt.Errorf("1+1 is %s", r.Result)
	}
	return nil
}

// Call implements Page.
func (p *holdfastPage) Call(ctx context.Context, method string, params map[string]any) error {
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	_, err = p.node.CDP(ctx, p.id, messages.CDPRequest{Method: method, Params: b, TimeoutS: patience.Seconds()})
	return err
}

// Arm implements Dialogs: a watcher of the task gets an event, and reads the snapshot.
func (p *holdfastPage) Arm(ctx context.Context) (func() (int64, error), func() error, error) {
	w, err := p.node.Watch(ctx, p.id, 0, false)
	if err != nil {
		return nil, nil, err
	}
	if _, err := w.Next(ctx); err != nil { // how things stand
		return nil, nil, err
	}
	seen := func() (int64, error) {
		defer w.Close()
		for {
			if _, err := w.Next(ctx); err != nil {
				return 0, err
			}
			s, err := p.node.Snapshot(p.id, messages.SnapshotOptions{})
			if err != nil {
				return 0, err
			}
			if len(s.PendingDialogs) > 0 {
				return stage.Now(), nil
			}
		}
	}
	answer := func() error {
		_, err := p.node.Respond(ctx, p.id, messages.DialogAnswer{Action: "accept"})
		return err
	}
	return seen, answer, nil
}

// Expect implements Changer: a program that waits for news finds the last error in the
// snapshot, and the frame where the last navigation went.
func (p *holdfastPage) Expect(ctx context.Context, place stage.Place, _, last int) (func() error, error) {
	errorText, url := stage.Serial(last-1), stage.Serial(last)
	w, err := p.node.Watch(ctx, p.id, 0, false)
	if err != nil {
		return nil, err
	}
	return func() error {
		defer w.Close()
		err := p.awaitBy(ctx, w, func(s *messages.Snapshot) bool {
			n := len(s.ConsoleErrors)
			return n > 0 && strings.HasPrefix(s.ConsoleErrors[n-1].Text, errorText) && isFrameAt(s, place.Frame, url)
		})
		if err != nil {
			return fmt.Errorf("the last change is not to be seen: %w", err)
		}
		return nil
	}, nil
}

func isFrameAt(s *messages.Snapshot, frame, serial string) bool {
	if s.FrameTree == nil {
		return false
	}
	for _, n := range s.FrameTree.Children {
		if string(n.FrameID) == frame {
			return strings.Contains(n.URL, serial)
		}
	}
	return false
}
