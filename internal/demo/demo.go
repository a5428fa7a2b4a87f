package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"holdfast/internal/node"
	"holdfast/messages"
)

// Options say how the demo is to run.
type Options struct {
	Out        io.Writer
	ChromePath string   // "" finds one, and installs Debian's where it may
	ChromeArgs []string // besides --site-per-process
	// DrawTree prints a frame tree.
	DrawTree func(io.Writer, *messages.FrameTree)
}

// budget bounds the story once there is a browser; it takes a second or two.
const budget = 15 * time.Second

// story is one run of the demo.
type story struct {
	narrator
	ctx  context.Context
	o    Options
	shop *shop
	node *node.Node

	dialog messages.Dialog
}

// Run tells the story. An error says which step failed and why.
func Run(ctx context.Context, o Options) (err error) {
	path, version, err := findBrowser(ctx, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()

	shop, err := open()
	if err != nil {
		return err
	}
	defer shop.close()
	dir, err := os.MkdirTemp("", "holdfast-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	node, err := node.Start(ctx, node.Config{
		StateDir: dir, ChromePath: path, ChromeArgs: append([]string{"--site-per-process"}, o.ChromeArgs...),
		Log: slog.New(slog.DiscardHandler), AllowChaos: true,
		BrowserTransport: node.BrowserPort, // it is sockets that are killed in the story
	})
	if err != nil {
		return err
	}
	defer func() {
		// The story may have used up its time; the browser ends all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
		defer cancel()
		err = errors.Join(err, node.Stop(ctx))
	}()
	s := &story{narrator: narrator{out: o.Out, begin: time.Now()}, ctx: ctx, o: o, shop: shop, node: node}
	s.say("Holdfast demo: a question from inside a frame, and a socket that dies under it, on %s", version)
	return s.tell([]step{
		{"start a task", s.start},
		{"open the page", s.openPage},
		{"see the dialog", s.seeDialog},
		{"kill the connection", s.kill},
		{"answer it", s.answer},
		{"see the task whole again", s.seeWhole},
		{"ask the page what it received", s.readPage},
		{"reach into the frame", s.reachIn},
		{"show the frames", s.showFrames},
	})
}

func (s *story) start() error {
	s.announce("Start a task: Holdfast launches a browser for it and attaches.")
	snap, _, err := s.node.GetOrStart(s.ctx, taskID, messages.TaskSpec{})
	if err != nil {
		return err
	}
	s.say("         task %s is %s on %s", snap.TaskID, snap.State, snap.Connection.Endpoint)
	if snap, err = s.snapshot(func(snap *messages.Snapshot) bool {
		return snap.Connection.Anchor == messages.LinkUp || snap.Connection.AnchorOff != ""
	}); err != nil {
		return err
	}
	if off := snap.Connection.AnchorOff; off != "" {
		return fmt.Errorf("there is no second connection: %s", off)
	}
	s.say("         two connections: the primary is %s, the anchor is %s", snap.Connection.Primary, snap.Connection.Anchor)
	return nil
}

func (s *story) openPage() error {
	s.announce("Open a shop whose payment form is a frame of another origin.")
	s.say("         shop    %s", s.shop.url)
	s.say("         payment %s (a process of its own)", s.shop.paymentURL)
	begin := time.Now()
	_, err := s.node.Navigate(s.ctx, taskID, messages.NavigateRequest{URL: s.shop.url})
	if messages.CodeOf(err) != messages.CodeBlockedByDialog {
		if err == nil {
			err = errors.New("no dialog opened")
		}
		return err
	}
	s.say("         navigate came back after %d ms: %s", time.Since(begin).Milliseconds(), messages.CodeBlockedByDialog)
	s.say("         (the frame has called prompt(), which freezes it until it is answered)")
	return nil
}

func (s *story) seeDialog() error {
	s.announce("The snapshot shows the question and which frame asks.")
	snap, err := s.snapshot(func(snap *messages.Snapshot) bool { return len(snap.PendingDialogs) == 1 })
	if err != nil {
		return err
	}
	s.dialog = snap.PendingDialogs[0]
	return s.show(s.dialog)
}

func (s *story) kill() error {
	s.announce("Kill the primary connection, with the question open.")
	killed, err := s.node.Kill(s.ctx, taskID, messages.LinksPrimary)
	if err != nil {
		return err
	}
	if !slices.Equal(killed.Killed, []messages.Links{messages.LinksPrimary}) {
		return fmt.Errorf("killed %v", killed.Killed)
	}
	snap, err := s.snapshot(func(snap *messages.Snapshot) bool {
		return snap.Connection.Primary != messages.LinkUp || snap.Connection.Reconnects > 0
	})
	if err != nil {
		return err
	}
	if len(snap.PendingDialogs) != 1 || snap.PendingDialogs[0].ID != s.dialog.ID {
		return fmt.Errorf("the dialog does not wait any more: %+v", snap.PendingDialogs)
	}
	s.say("         socket closed; %s still waits, the primary is %s, the anchor is %s",
		snap.PendingDialogs[0].ID, snap.Connection.Primary, snap.Connection.Anchor)
	s.say("         (Chrome lets no connection answer that was not there when the dialog opened)")
	return nil
}

func (s *story) answer() error {
	s.announce("Answer it, all the same.")
	text := givenText
	closed, err := s.node.Respond(s.ctx, taskID, messages.DialogAnswer{
		Action: messages.ActionAccept, PromptText: &text, DialogID: s.dialog.ID,
	})
	if err != nil {
		return err
	}
	if !closed.Promoted {
		return errors.New("the answer did not go through the anchor")
	}
	s.say("         accepted with %q through the anchor; %s was closed by %s", givenText, closed.ID, closed.ClosedBy)
	return nil
}

func (s *story) seeWhole() error {
	s.announce("The primary has come back by itself.")
	snap, err := s.snapshot(func(snap *messages.Snapshot) bool {
		c := snap.Connection
		return c.Reconnects == 1 && c.Primary == messages.LinkUp && c.Anchor == messages.LinkUp &&
			snap.State == messages.StateActive && snap.PageState == messages.PageOK && isWhole(snap.FrameTree)
	})
	if err != nil {
		return err
	}
	s.say("         task %s is %s after %d reconnect, %d ms without its primary; its page is %s",
		snap.TaskID, snap.State, snap.Connection.Reconnects, snap.Connection.LastGapMS, snap.PageState)
	return nil
}

func (s *story) readPage() error { return s.readShop(s.ctx, s.node) }

func (s *story) reachIn() error {
	s.announce("Run CDP inside the frame, over the new connection.")
	title, err := evaluate(s.ctx, s.node, s.dialog.FrameID, "document.title")
	if err != nil {
		return err
	}
	s.say("         Runtime.evaluate document.title in frame %s: %q", s.dialog.FrameID, title)
	if title != paymentTitle {
		return fmt.Errorf("expected %q", paymentTitle)
	}
	return nil
}

func (s *story) showFrames() error {
	s.announce("The frame tree, whole: a browser's own leaves out frames of other processes.")
	snap, err := s.snapshot(func(snap *messages.Snapshot) bool { return isWhole(snap.FrameTree) })
	if err != nil {
		return err
	}
	s.o.DrawTree(s.out, snap.FrameTree)
	return nil
}

// snapshot waits, by watching, for a snapshot that shows what is expected.
func (s *story) snapshot(ok func(*messages.Snapshot) bool) (*messages.Snapshot, error) {
	w, err := s.node.Watch(s.ctx, taskID, 0, false)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for {
		snap, err := s.node.Snapshot(taskID, messages.SnapshotOptions{})
		if err != nil || ok(snap) {
			return snap, err
		}
		if _, err := w.Next(s.ctx); err != nil {
			return nil, fmt.Errorf("the snapshot did not come to show it: %w", err)
		}
	}
}
