package node_test

import (
	"context"
	"slices"
	"testing"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
)

// chaotic lets the world's node break links.
func chaotic(c *node.Config) { c.AllowChaos = true }

func TestKill(t *testing.T) {
	t.Parallel()

	inWorld(t, "it is forbidden unless the node was told otherwise", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		_, err := w.node.Kill(w.ctx, "t", messages.LinksPrimary)
		w.want(messages.CodeForbidden, err)
		if s := w.snapshot("t"); s.Connection.Reconnects != 0 {
			w.Errorf("%+v", s.Connection)
		}
	})

	inWorldWith(t, "a killed primary is a lost one", chaos.Options{Pages: 1, Load: slow}, chaotic, func(w *world) {
		page := w.start("t", everything).PageTargetID
		hanging := begin(w, func(ctx context.Context) (messages.CDPResult, error) {
			return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Page.navigate", Params: []byte(`{"url":"http://a.test/slow"}`), TimeoutS: 60})
		})
		killed, err := w.node.Kill(w.ctx, "t", messages.LinksPrimary)
		if err != nil || !slices.Equal(killed.Killed, []messages.Links{messages.LinksPrimary}) {
			w.Fatalf("%+v, %v", killed, err)
		}
		got := <-hanging
		w.want(messages.CodeUpstreamUnavailable, got.err)
		if e, ok := got.err.(*messages.Error); got.after != 0 || !ok || e.Sent != messages.SentYes {
			w.Errorf("after %s: %v", got.after, got.err)
		}
		if s := w.snapshot("t"); s.Connection.Reconnects != 1 || s.Connection.Primary != messages.LinkUp || s.PageTargetID != page {
			w.Errorf("%+v", s)
		}
	})

	inWorldWith(t, "a dialog outlives either link, and is answered through the other", chaos.Options{Pages: 1}, chaotic, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.snapshot("t")
		for _, which := range []messages.Links{messages.LinksPrimary, messages.LinksAnchor} {
			d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "m", "")
			w.snapshot("t")
			killed, err := w.node.Kill(w.ctx, "t", which)
			if err != nil || !slices.Equal(killed.Killed, []messages.Links{which}) {
				w.Fatalf("%s: %+v, %v", which, killed, err)
			}
			w.snapshot("t") // an answer that is under way at the kill would have to be given again
			text := "through what is left of " + string(which)
			if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: "accept", PromptText: &text}); err != nil {
				w.Fatalf("%s: %v", which, err)
			}
			if r, ok := d.Result(); !ok || r.Text != text {
				w.Errorf("%s: the page got %+v", which, r)
			}
			if s := w.snapshot("t"); s.Connection.Primary != messages.LinkUp || s.Connection.Anchor != messages.LinkUp {
				w.Errorf("%s: %+v", which, s.Connection)
			}
		}
	})

	inWorldWith(t, "both at once come back", chaos.Options{Pages: 1}, chaotic, func(w *world) {
		w.start("t", everything)
		w.snapshot("t")
		killed, err := w.node.Kill(w.ctx, "t", messages.LinksBoth)
		if err != nil || !slices.Equal(killed.Killed, []messages.Links{messages.LinksPrimary, messages.LinksAnchor}) {
			w.Fatalf("%+v, %v", killed, err)
		}
		if s := w.snapshot("t"); s.State != messages.StateActive || s.Connection.Reconnects != 1 || s.Connection.Anchor != messages.LinkUp || w.b.Dials() != 4 {
			w.Errorf("%+v after %d dials", s.Connection, w.b.Dials())
		}
	})

	inWorldWith(t, "what is not up cannot be killed", chaos.Options{Pages: 1}, chaotic, func(w *world) {
		_, err := w.node.Kill(w.ctx, "t", messages.LinksPrimary)
		w.want(messages.CodeTaskNotFound, err)
		w.start("t", everything, func(s *messages.TaskSpec) { s.Anchor = messages.AnchorNone })
		for _, which := range []messages.Links{messages.LinksAnchor, messages.LinksBoth} {
			_, err = w.node.Kill(w.ctx, "t", which)
			w.want(messages.CodeUpstreamUnavailable, err)
		}
		_, err = w.node.Kill(w.ctx, "t", "all")
		w.want(messages.CodeInvalidArgument, err)
		if s := w.snapshot("t"); s.Connection.Reconnects != 0 || s.Connection.Primary != messages.LinkUp {
			w.Errorf("something was killed: %+v", s.Connection)
		}
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		w.snapshot("t")
		_, err = w.node.Kill(w.ctx, "t", messages.LinksPrimary)
		w.want(messages.CodeUpstreamUnavailable, err)
	})
}
