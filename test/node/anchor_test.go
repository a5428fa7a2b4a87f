package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// links returns a task's two links as the browser sees them.
func (w *world) links() (primary, anchor *chaos.Conn) {
	w.Helper()
	synctest.Wait()
	c := w.b.Connections()
	if len(c) != 2 {
		w.Fatalf("%d links, want two", len(c))
	}
	for _, c := range c {
		for _, m := range c.Received("") {
			if m == "Target.setDiscoverTargets" { // only the primary's
				primary = c
			}
		}
	}
	if primary == nil {
		w.Fatal("no link is the primary")
	}
	anchor = c[0]
	if anchor == primary {
		anchor = c[1]
	}
	return primary, anchor
}

func (w *world) answer(id messages.TaskID, d messages.DialogID, text string) (messages.ClosedDialog, error) {
	return w.node.Respond(w.ctx, id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d, PromptText: &text})
}

func TestAnchor(t *testing.T) {
	t.Parallel()

	inWorld(t, "both links see a dialog and it is one dialog", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		if s := w.snapshot("t"); s.Connection.Anchor != messages.LinkUp || s.Connection.AnchorOff != "" {
			w.Fatalf("connection %+v", s.Connection)
		}
		for i := range 5 {
			d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
			s := w.snapshot("t")
			if len(s.PendingDialogs) != 1 || s.PendingDialogs[0].ID != messages.NewDialogID(uint64(i+1)) {
				w.Fatalf("pending %+v", s.PendingDialogs)
			}
			if _, err := w.answer("t", "", "me"); err != nil {
				w.Fatal(err)
			}
			if r, closed := d.Result(); !closed || !r.IsAccepted || r.Text != "me" {
				w.Fatalf("got %+v", r)
			}
		}
		if s := w.snapshot("t"); len(s.RecentDialogs) != 5 || len(s.PendingDialogs) != 0 {
			w.Errorf("recent %+v, pending %+v", s.RecentDialogs, s.PendingDialogs)
		}
	})

	inWorld(t, "with the primary gone the dialog keeps its id and is answered through the anchor", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		primary, anchor := w.links()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		before := w.snapshot("t").PendingDialogs
		w.b.RefuseConnections(true)
		primary.Drop()
		after := w.snapshot("t")
		if len(before) != 1 || len(after.PendingDialogs) != 1 || after.PendingDialogs[0].ID != before[0].ID {
			w.Fatalf("pending %+v, before %+v", after.PendingDialogs, before)
		}
		if c := after.Connection; c.Primary == messages.LinkUp || c.Anchor != messages.LinkUp || after.PageState != messages.PageDialog {
			w.Errorf("connection %+v, page %s", c, after.PageState)
		}
		closed, err := w.answer("t", before[0].ID, "me")
		if err != nil || closed.ClosedBy != messages.ClosedByAgent {
			w.Fatalf("answer: %+v, %v", closed, err)
		}
		if r, ok := d.Result(); !ok || !r.IsAccepted || r.Text != "me" || r.Conn != anchor.Number() {
			w.Errorf("the page got %+v", r)
		}
		w.b.RefuseConnections(false)
		time.Sleep(20 * time.Second)
		if s := w.snapshot("t"); s.State != messages.StateActive || s.PageState != messages.PageOK {
			w.Errorf("afterwards %+v", s)
		}
	})

	inWorld(t, "the primary comes back under the dialog and answers it no second time", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		primary, _ := w.links()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		primary.Drop()
		began := time.Now()
		s := w.snapshot("t")
		for s.State != messages.StateActive {
			time.Sleep(10 * time.Millisecond)
			s = w.snapshot("t")
		}
		if took := time.Since(began); took > 500*time.Millisecond {
			w.Errorf("active after %s", took)
		}
		if len(s.PendingDialogs) != 1 || s.PageState != messages.PageDialog {
			w.Fatalf("pending %+v, page %s", s.PendingDialogs, s.PageState)
		}
		if len(s.FrameTree.Children) != 1 || s.FrameTree.Children[0].FrameID != frame {
			w.Errorf("tree under the dialog: %+v", s.FrameTree)
		}
		if _, err := w.answer("t", "d-1", ""); err != nil {
			w.Fatal(err)
		}
		if r, ok := d.Result(); !ok || !r.IsAccepted {
			w.Errorf("the page got %+v", r)
		}
		s = w.snapshot("t")
		if len(s.PendingDialogs) != 0 || s.PageState != messages.PageOK || len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByAgent {
			w.Errorf("afterwards %+v", s)
		}
		if c := s.FrameTree.Children; len(c) != 1 || c[0].SessionID == "" {
			w.Errorf("tree after the dialog: %+v", c)
		}
		if _, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"1+1"}`), FrameID: frame}); err != nil {
			w.Errorf("evaluate in the iframe: %v", err)
		}
	})

	inWorld(t, "an anchor that is lost comes back, also under a dialog", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		_, anchor := w.links()
		anchor.Drop()
		time.Sleep(time.Second)
		s := w.snapshot("t")
		if s.Connection.Anchor != messages.LinkUp || s.State != messages.StateActive || len(s.PendingDialogs) != 1 {
			w.Fatalf("snapshot %+v", s)
		}
		if _, err := w.answer("t", "", "me"); err != nil {
			w.Fatal(err)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
		if s := w.snapshot("t"); len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 {
			w.Errorf("afterwards %+v", s)
		}
		// And what it came back for works: the next one survives the primary.
		d = w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		primary, _ := w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		if _, err := w.answer("t", "d-2", "you"); err != nil {
			w.Fatal(err)
		}
		if r, _ := d.Result(); r.Text != "you" {
			w.Errorf("the page got %+v", r)
		}
	})

	inWorld(t, "with both gone the dialog is lost and the page is named", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.links()
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		w.b.DropConnections()
		time.Sleep(1500 * time.Millisecond)
		s := w.snapshot("t")
		if len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByLost {
			w.Errorf("pending %+v, recent %+v", s.PendingDialogs, s.RecentDialogs)
		}
		if s.PageState != messages.PageDialogUnreachable || s.State != messages.StateWedged {
			w.Errorf("page %s, state %s", s.PageState, s.State)
		}
		_, err := w.answer("t", "d-1", "me")
		w.want(messages.CodeDialogLost, err)
	})

	inWorld(t, "an answer whose link dies with it is found out by the other", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		primary, _ := w.links()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		// Arrives, and no reply confirms it.
		primary.SwallowNextReply("Page.handleJavaScriptDialog")
		answering := begin(w, func(context.Context) (messages.ClosedDialog, error) { return w.answer("t", "", "me") })
		primary.Drop()
		got := <-answering
		if got.err != nil || got.value.(messages.ClosedDialog).ClosedBy != messages.ClosedByAgent {
			w.Errorf("answer: %+v", got)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
	})

	inWorld(t, "an answer that somebody else forestalled is not claimed when its link dies", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		primary, _ := w.links()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		primary.Stall()
		answering := begin(w, func(context.Context) (messages.ClosedDialog, error) { return w.answer("t", "", "me") })
		w.b.CloseDialog(d, true, "them")
		primary.Drop()
		w.want(messages.CodeDialogAlreadyAnswered, (<-answering).err)
		if r, _ := d.Result(); r.Text != "them" {
			w.Errorf("the page got %+v", r)
		}
		if s := w.snapshot("t"); len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByRemote {
			w.Errorf("recent %+v", s.RecentDialogs)
		}
	})

	inWorld(t, "an answer that never arrived is said again over the other link", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		primary, _ := w.links()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		primary.Stall()
		answering := begin(w, func(context.Context) (messages.ClosedDialog, error) { return w.answer("t", "", "me") })
		w.b.RefuseConnections(true)
		primary.Drop()
		if got := <-answering; got.err != nil {
			w.Fatal(got.err)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
		if s := w.snapshot("t"); len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByAgent || !s.RecentDialogs[0].Promoted {
			w.Errorf("recent %+v", s.RecentDialogs)
		}
	})

	inWorld(t, "a popup runs once both links see its first dialog", chaos.Options{Pages: 1, Load: func(url string) chaos.Document {
		d := chaos.DefaultDocument(url)
		if d.Title == "ask" {
			d.Script = "confirm('first thing')"
		}
		return d
	}}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		primary, anchor := w.links()
		anchor.DelayReplies("Page.enable", 100*time.Millisecond)
		w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/ask")
		synctest.Wait()
		if s := w.snapshot("t"); len(s.PendingDialogs) != 0 {
			w.Fatalf("it ran: %+v", s.PendingDialogs)
		}
		time.Sleep(100 * time.Millisecond)
		if s := w.snapshot("t"); len(s.PendingDialogs) != 1 {
			w.Fatalf("it did not: %+v", s.Pages)
		}
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		if _, err := w.answer("t", "", ""); err != nil {
			w.Errorf("answer: %v", err)
		}
	})

	inWorld(t, "a popup does not wait for an anchor that says nothing", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		_, anchor := w.links()
		anchor.Stall()
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		for _, p := range w.b.Pages() {
			if p.Target == popup && (p.IsHeld || p.IsFrozen) {
				w.Errorf("popup %+v", p)
			}
		}
	})

	inWorld(t, "a popup that opens while the primary is away is let run, and its dialog seen", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		primary, _ := w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		synctest.Wait()
		d := w.b.OpenDialog(w.b.MainFrame(popup), chaos.Confirm, "here?", "")
		s := w.snapshot("t")
		if len(s.PendingDialogs) != 1 || s.PendingDialogs[0].TargetID != popup {
			w.Fatalf("pending %+v", s.PendingDialogs)
		}
		if _, err := w.answer("t", "", ""); err != nil {
			w.Fatal(err)
		}
		if r, _ := d.Result(); !r.IsAccepted {
			w.Errorf("the page got %+v", r)
		}
	})

	inWorld(t, "a task's own tab is covered as well", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", own).PageTargetID
		primary, _ := w.links()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		if _, err := w.answer("t", "", "me"); err != nil {
			w.Fatal(err)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Fatal(err)
		}
		synctest.Wait()
		if n := len(w.b.Pages()); n != 1 {
			w.Errorf("%d pages are left, want the user's one", n)
		}
	})

	inWorld(t, "a poisoned dialog is released with the anchor out of the way", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		w.links()
		w.b.OpenDialog(frame, chaos.Confirm, "sure?", "")
		w.snapshot("t")
		w.b.RemoveFrame(frame)
		time.Sleep(5 * time.Second)
		s := w.snapshot("t")
		if s.State != messages.StateActive || s.PageState != messages.PageOK || s.Connection.Anchor != messages.LinkUp {
			w.Fatalf("snapshot %+v", s)
		}
		// Both are back on the page.
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		primary, _ := w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		if _, err := w.answer("t", "", "me"); err != nil {
			w.Fatal(err)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
	})

	inWorld(t, "a task that ends while a frame asks does not end the browser", chaos.Options{Pages: 1}, func(w *world) {
		for _, stalled := range []bool{false, true} {
			page := w.start("t", own).PageTargetID
			w.b.Navigate(page, "http://a.test/p")
			frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
			_, anchor := w.links()
			d := w.b.OpenDialog(frame, chaos.Confirm, "sure?", "")
			w.snapshot("t")
			if stalled {
				anchor.Stall() // its session stays, whatever it is told
			}
			if err := w.node.StopTask(w.ctx, "t"); err != nil {
				w.Fatal(err)
			}
			synctest.Wait()
			if w.b.IsDead() || len(w.b.Pages()) != 1 {
				w.Fatalf("stalled %v: dead %v, pages %+v", stalled, w.b.IsDead(), w.b.Pages())
			}
			if r, closed := d.Result(); !closed || r.IsAccepted {
				w.Errorf("stalled %v: the frame got %+v", stalled, r)
			}
			w.b.DropConnections()
		}
	})

	inWorld(t, "a task that ends while dials fail leaves no page as long as the anchor stands", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", own)
		primary, anchor := w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		anchor.Stall() // until the dial after this one has failed as well
		stopped := begin(w, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.node.StopTask(ctx, "t") })
		time.Sleep(time.Second)
		anchor.Resume()
		if got := <-stopped; got.err != nil || got.after > 2*time.Second {
			w.Errorf("stop: %+v", got)
		}
		synctest.Wait()
		if n := len(w.b.Pages()); n != 1 {
			w.Errorf("%d pages are left, want the user's one", n)
		}
	})

	inWorld(t, "a task that is lost leaves no page as long as the anchor stands", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", own)
		primary, _ := w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		time.Sleep(messages.DefaultGiveUpAfter + 5*time.Second)
		if s := w.snapshot("t"); s.State != messages.StateLost {
			w.Errorf("state %s", s.State)
		}
		if n := len(w.b.Pages()); n != 1 {
			w.Errorf("%d pages are left, want the user's one", n)
		}
	})

	inWorld(t, "beforeunload waits for an answer where an anchor keeps it answerable", chaos.Options{Pages: 1}, func(w *world) {
		ask := func(id messages.TaskID, change ...func(*messages.TaskSpec)) int {
			page := w.start(id, append(change, own)...).PageTargetID
			synctest.Wait()
			w.b.OpenDialog(w.b.MainFrame(page), chaos.BeforeUnload, "", "")
			return len(w.snapshot(id).PendingDialogs)
		}
		if n := ask("anchored"); n != 1 {
			w.Errorf("%d wait with an anchor", n)
		}
		if n := ask("alone", alone); n != 0 {
			w.Errorf("%d wait without one", n)
		}
		if n := ask("automatic", func(s *messages.TaskSpec) { s.DialogPolicy = messages.PolicyAutoDismiss }); n != 0 {
			w.Errorf("%d wait where nobody is to be asked", n)
		}
	})
}
