package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"holdfast/client"
	"holdfast/internal/browser"
	"holdfast/messages"
)

const (
	// clusterBudget bounds the story of the cluster once there is a browser; it takes about
	// eight seconds, of which the dead node's lease is two.
	clusterBudget = time.Minute
	// glance is how long the story waits before it looks again.
	glance = 50 * time.Millisecond
)

// clusterStory is one run of the demo of a cluster.
type clusterStory struct {
	narrator
	ctx  context.Context
	o    Options
	shop *shop
	// cluster is all nodes. The first supervises the task, heir stands by, and bystander is neither.
	cluster         *nodes
	heir, bystander *clusterNode
	browser         messages.CDPURL

	dialog messages.Dialog
}

// RunCluster tells the story of three nodes, of which one is killed. An error says which step
// failed and why.
func RunCluster(ctx context.Context, o Options) (err error) {
	path, version, err := findBrowser(ctx, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, clusterBudget)
	defer cancel()
	dir, err := os.MkdirTemp("", "holdfast-cluster-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	shop, err := open()
	if err != nil {
		return err
	}
	defer shop.close()
	s := &clusterStory{narrator: narrator{out: o.Out, begin: time.Now()}, ctx: ctx, o: o, shop: shop}
	s.say("Holdfast cluster demo: a question from inside a frame, and the node that supervises\nthe page is killed under it, on %s", version)

	manager, err := browser.NewManager(browser.Options{
		Path: path, StateDir: filepath.Join(dir, "browser"), Transport: browser.TransportPort,
		ExtraArgs: append([]string{"--site-per-process"}, o.ChromeArgs...),
	})
	if err != nil {
		return err
	}
	defer func() {
		// The story may have used up its time; the browser ends all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
		defer cancel()
		err = errors.Join(err, manager.Close(ctx))
	}()
	if s.cluster, err = prepare(dir); err != nil {
		return err
	}
	defer s.cluster.kill()
	return s.failure(s.tell([]step{
		{"start the nodes", s.startNodes},
		{"start a browser", func() error { return s.startBrowser(manager) }},
		{"start a task", s.startTask},
		{"open the page", s.openPage},
		{"see the dialog at another node", s.seeDialog},
		{"kill the node", s.killNode},
		{"answer the dialog", s.answer},
		{"ask the page what it received", func() error { return s.readShop(s.ctx, s) }},
		{"see the task whole again", s.seeWhole},
	}))
}

// failure is the demo's own: that a node which it has started does not answer is not what a caller
// hears of a node that is not there.
func (s *clusterStory) failure(err error) error {
	var gone *client.Unreachable
	switch {
	case err == nil:
		return nil
	case errors.Is(s.ctx.Err(), context.Canceled):
		return messages.Errorf(messages.CodeInternal, "the demo was ended: %v", context.Cause(s.ctx))
	case errors.As(err, &gone):
		return messages.Errorf(messages.CodeInternal, "%v", err)
	}
	return err
}

func (s *clusterStory) startNodes() error {
	s.announce("Start three nodes. Each is a process of its own, as on three machines.")
	if err := s.cluster.start(s.ctx); err != nil {
		return err
	}
	for _, n := range s.cluster.list {
		s.say("         node %s  process %-7d %s", n.name, n.cmd.Process.Pid, n.client.Node())
	}
	if err := s.until("the nodes did not find each other", func() (bool, error) {
		for _, n := range s.cluster.list {
			c, err := n.client.Cluster(s.ctx)
			if err != nil || !c.HasQuorum || stateOf(c) != "a held, b held, c held" {
				return false, err
			}
		}
		return true, nil
	}); err != nil {
		return err
	}
	s.announce("They have found each other: a held, b held, c held.")
	s.say("         (each has a lease, the permission to decide, and renews it four times a second)")
	return nil
}

func (s *clusterStory) startBrowser(m *browser.Manager) error {
	s.announce("Start a browser. It belongs to no node, so it outlives each of them.")
	p, err := m.Launch(s.ctx, browser.LaunchOptions{IsHeadless: true})
	if err != nil {
		return err
	}
	s.browser = p.Endpoint()
	s.say("         %s", s.browser)
	return nil
}

func (s *clusterStory) startTask() error {
	owner := s.cluster.list[0]
	s.announce("Start a task in it, at node " + owner.name + ".")
	if err := s.until("it was not started", func() (bool, error) {
		_, _, err := owner.client.GetOrStart(s.ctx, taskID, messages.TaskSpec{CDPURL: s.browser})
		return err == nil, err
	}); err != nil {
		return err
	}
	snap, err := s.snapshot(owner, func(snap *messages.Snapshot) bool {
		return snap.State == messages.StateActive && s.cluster.named(snap.AnchorNode) != nil
	})
	if err != nil {
		return err
	}
	if snap.Node != owner.name {
		return fmt.Errorf("node %s has it", snap.Node)
	}
	s.heir = s.cluster.named(snap.AnchorNode)
	s.bystander = s.cluster.list[slices.IndexFunc(s.cluster.list, func(n *clusterNode) bool { return n != owner && n != s.heir })]
	s.say("         node %s supervises task %s, which is %s", snap.Node, snap.TaskID, snap.State)
	s.say("         node %s stands by: it is connected to the same pages, and decides nothing", s.heir.name)
	return nil
}

func (s *clusterStory) openPage() error {
	s.announce("Open a shop whose payment form is a frame of another origin.")
	s.say("         shop    %s", s.shop.url)
	s.say("         payment %s (a process of its own)", s.shop.paymentURL)
	if err := s.until("no dialog opened", func() (bool, error) {
		_, err := s.cluster.list[0].client.Navigate(s.ctx, taskID, messages.NavigateRequest{URL: s.shop.url})
		if err == nil {
			return false, errors.New("no dialog opened")
		}
		return messages.CodeOf(err) == messages.CodeBlockedByDialog, err
	}); err != nil {
		return err
	}
	s.say("         the frame has called prompt(): it is frozen until it is answered")
	return nil
}

func (s *clusterStory) seeDialog() error {
	s.announce("Ask node " + s.bystander.name + ", which has nothing to do with the task: any node answers for any task.")
	snap, err := s.snapshot(s.bystander, func(snap *messages.Snapshot) bool {
		return len(snap.PendingDialogs) == 1 && snap.AnchorNode == s.heir.name
	})
	if err != nil {
		return err
	}
	s.dialog = snap.PendingDialogs[0]
	return s.show(s.dialog)
}

func (s *clusterStory) killNode() error {
	owner := s.cluster.list[0]
	s.announce(fmt.Sprintf("kill -9 %d: node %s is gone, with the question open.", owner.cmd.Process.Pid, owner.name))
	owner.kill()
	s.say("         %s  (it had no moment to say goodbye)", owner.cmd.ProcessState)
	return nil
}

func (s *clusterStory) answer() error {
	s.announce("Answer that very question, at node " + s.bystander.name + " again.")
	s.say("         (the others give a dead node up once its lease is surely over, after 2.2 s)")
	begin, text := time.Now(), givenText
	var closed messages.ClosedDialog
	if err := s.until("no node took over", func() (_ bool, err error) {
		closed, err = s.bystander.client.Respond(s.ctx, taskID, messages.DialogAnswer{
			Action: messages.ActionAccept, PromptText: &text, DialogID: s.dialog.ID,
		})
		return err == nil, err
	}); err != nil {
		return err
	}
	if closed.ID != s.dialog.ID || closed.ClosedBy != messages.ClosedByAgent {
		return fmt.Errorf("%s was closed by %s", closed.ID, closed.ClosedBy)
	}
	s.say("         %s was accepted with %q, by the connection that stood by, %.1f s after the kill", closed.ID, givenText, time.Since(begin).Seconds())
	return nil
}

func (s *clusterStory) seeWhole() error {
	s.announce("The task is whole, with another node.")
	snap, err := s.snapshot(s.bystander, func(snap *messages.Snapshot) bool {
		return snap.State == messages.StateActive && snap.PageState == messages.PageOK && snap.Node == s.heir.name &&
			len(snap.PendingDialogs) == 0 && isWhole(snap.FrameTree)
	})
	if err != nil {
		return err
	}
	s.say("         node %s supervises task %s, which is %s; its page is %s", snap.Node, snap.TaskID, snap.State, snap.PageState)
	s.o.DrawTree(s.out, snap.FrameTree)
	c, err := s.bystander.client.Cluster(s.ctx)
	if err != nil {
		return err
	}
	s.say("         the cluster: %s", stateOf(c))
	return nil
}

// stateOf says how the nodes stand.
func stateOf(c messages.Cluster) string {
	var out []string
	for _, n := range c.Nodes {
		out = append(out, n.Node+" "+string(n.State))
	}
	return strings.Join(out, ", ")
}

// snapshot waits until a node's snapshot of the task shows what is expected.
func (s *clusterStory) snapshot(n *clusterNode, ok func(*messages.Snapshot) bool) (snap *messages.Snapshot, err error) {
	err = s.until("the snapshot did not come to show it", func() (bool, error) {
		snap, err = n.client.Snapshot(s.ctx, taskID, messages.SnapshotOptions{})
		return err == nil && ok(snap), err
	})
	return snap, err
}

// CDP runs raw CDP on the task, through the node that never had it.
func (s *clusterStory) CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (res messages.CDPResult, err error) {
	err = s.until("it could not be run", func() (bool, error) {
		res, err = s.bystander.client.CDP(ctx, id, r)
		return err == nil, err
	})
	return res, err
}

// until asks again until it is so. A node that has just lost another one, or its own lease for
// want of time, says so, and is asked again as well.
func (s *clusterStory) until(why string, isSo func() (bool, error)) error {
	for {
		ok, err := isSo()
		if ok {
			return nil
		}
		if err != nil && !slices.Contains([]messages.Code{messages.CodeRehoming, messages.CodeLeaseLapsed, messages.CodeNoQuorum}, messages.CodeOf(err)) {
			return err
		}
		select {
		case <-time.After(glance):
		case <-s.ctx.Done():
			return errors.Join(fmt.Errorf("%s: %w", why, context.Cause(s.ctx)), err)
		}
	}
}
