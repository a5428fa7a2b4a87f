package acceptance_test

import (
	"encoding/json"
	"slices"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

func TestA7_TheOverrideWins(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	override := chromiumtest.Proxy(t, b.Addr())
	for name, c := range map[string]struct {
		change   func(*node.Config)
		override int // connections through it
	}{
		"override": {func(c *node.Config) {
			var s messages.TaskSpec
			at(t, override.URL(b.WS()))(&s)
			c.CDPURLOverride = s.CDPURL
		}, 1},
		"no override": {func(*node.Config) {}, 0},
	} {
		r, p := proxied(t, b, c.change)
		before := override.Dials()
		k := r.task("a7", r.through(p), oneLink)
		k.eval("", "1")
		if got := override.Dials() - before; got != c.override || p.Dials() != 1-c.override {
			t.Errorf("%s: %d connections there, %d to the spec's URL", name, got, p.Dials())
		}
		// A launch is overridden likewise, and asking again is no rebind.
		if c.override == 1 {
			if _, started, err := r.node.GetOrStart(r.ctx, "a7", messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil || started {
				t.Errorf("launch under an override: started %v, %v", started, err)
			}
		}
	}
}

func TestA8_TheAttachSequence(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("a8", r.through(p))
	k.goTo("http://a.test/nested")
	sessions := []string{string(k.snapshot().Pages[0].SessionID)}
	k.await("two attached frames", func(s *messages.Snapshot) bool {
		sessions = sessions[:1]
		for _, c := range s.FrameTree.Children {
			if c.SessionID != "" {
				sessions = append(sessions, string(c.SessionID))
			}
		}
		return len(sessions) == 3
	})
	want := []string{"Page.enable", "Runtime.enable", "Target.setAutoAttach"}
	for i, session := range sessions {
		var got []string
		for _, m := range p.Messages() {
			method := chromiumtest.Field(m.Payload, "method")
			if !m.IsFromClient || chromiumtest.Field(m.Payload, "sessionId") != session {
				continue
			}
			if slices.Contains(want, method) {
				got = append(got, method)
			}
			if method != "Target.setAutoAttach" {
				continue
			}
			params := json.RawMessage(chromiumtest.Field(m.Payload, "params"))
			if chromiumtest.Field(params, "autoAttach") != "true" || chromiumtest.Field(params, "flatten") != "true" {
				t.Errorf("session %d auto-attaches with %s", i, params)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("session %d of %d: %v, want %v", i, len(sessions), got, want)
		}
	}
}

func TestA9_ABrowserWithoutPagesGetsOne(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	witness := chromiumtest.Dial(t, b.WS())
	closeAll := func() {
		for _, target := range targets(t, witness) {
			if target.Type == "page" {
				witness.Must("", "Target.closeTarget", map[string]any{"targetId": target.ID})
			}
		}
		until(t, "no page left", func() bool {
			return !slices.ContainsFunc(targets(t, witness), func(i target) bool { return i.Type == "page" })
		})
	}
	r := setupOn(t, b)
	for _, scope := range []messages.Scope{messages.ScopeBrowser, messages.ScopeOwn} {
		closeAll()
		id := messages.TaskID("a9-" + scope)
		k := r.task(id, scoped(scope))
		s := k.snapshot()
		if len(s.Pages) != 1 || s.Pages[0].URL != "about:blank" || s.PageTargetID != s.Pages[0].TargetID {
			t.Fatalf("scope %s: pages %+v", scope, s.Pages)
		}
		if got := k.eval("", "location.href"); got != `"about:blank"` {
			t.Fatalf("scope %s: at %s", scope, got)
		}
		if err := r.node.StopTask(r.ctx, id); err != nil {
			t.Fatal(err)
		}
	}
}
