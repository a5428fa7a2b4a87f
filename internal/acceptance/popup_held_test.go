package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// waiting is a second client that holds every new page, as the product does.
func waiting(t *testing.T, b *chromiumtest.Browser) *chromiumtest.Raw {
	t.Helper()
	w := chromiumtest.Dial(t, b.WS())
	w.Must("", "Target.setAutoAttach", map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": []map[string]any{{"type": "page"}},
	})
	return w
}

func heldPage(w *chromiumtest.Raw, match func(targetInfo json.RawMessage) bool) (session string) {
	return w.NextWhere("a held page", func(e chromiumtest.Event) bool {
		return chromiumtest.On("", "Target.attachedToTarget")(e) && match(json.RawMessage(e.Param("targetInfo")))
	}).Param("sessionId")
}

func TestC32_AnotherClientThatWaits(t *testing.T) {
	t.Parallel()
	t.Run("a popup runs for us, its dialog is ours", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		k := setupOn(t, b).task("c32")
		k.goTo("http://a.test/popup")
		opener := k.snapshot().PageTargetID
		waiting(t, b) // and never resumes anything
		k.laterOn(opener, "openChild()")
		d := k.dialog()
		k.accept("ours")
		if got := k.evalOn(d.TargetID, "window.got"); got != `"ours"` {
			t.Errorf("the popup received %s", got)
		}
	})
	t.Run("a created page waits for it, and nothing else does", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		k := setupOn(t, b).task("c32")
		k.goTo("http://a.test/plain")
		first := k.snapshot().PageTargetID
		w := waiting(t, b)
		var r struct {
			TargetID messages.TargetID `json:"targetId"`
		}
		k.atOnce("create", func(ctx context.Context) error {
			return json.Unmarshal(k.cdp("", "Target.createTarget", `{"url":"about:blank"}`), &r)
		})
		session := heldPage(w, func(info json.RawMessage) bool {
			return chromiumtest.Field(info, "targetId") == string(r.TargetID)
		})
		to := messages.NavigateRequest{URL: k.site.URL("http://a.test/prompt-on-load"), TargetID: r.TargetID, TimeoutS: 1}
		_, err := k.node.Navigate(k.ctx, k.id, to)
		wantCode(t, err, messages.CodeDeadline)
		if got := k.evalOn(first, "document.title"); got != `"/plain"` {
			t.Errorf("the first page says %s", got)
		}
		w.Send(session, "Runtime.runIfWaitingForDebugger", nil)
		if d := k.dialog(); d.TargetID != r.TargetID {
			t.Errorf("dialog %+v", d)
		}
		k.accept("late")
		if got := k.evalOn(r.TargetID, "window.got"); got != `"late"` {
			t.Errorf("the page received %s", got)
		}
	})
}

func TestC33_AHeldPopupIsResumedAfterADrop(t *testing.T) {
	t.Parallel()
	isPopup := func(event []byte) bool {
		return bytes.HasPrefix(event, []byte(`{"method":"Target.attachedToTarget"`)) && bytes.Contains(event, []byte(`"openerId"`))
	}
	for name, start := range map[string]func(*testing.T) *rig{
		"scope own": func(t *testing.T) *rig { return setup(t) },
		"scope browser": func(t *testing.T) *rig {
			return setupOn(t, chromiumtest.Launch(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			wire := tap(t, r.chrome)
			// One link, which is the one that is cut: of two it could be either.
			k := wire.task(r, "c33", oneLink, func(s *messages.TaskSpec) {
				if name == "scope browser" {
					s.Scope = messages.ScopeBrowser
				}
			})
			k.goTo("http://a.test/popup")
			opener := k.snapshot().PageTargetID
			cut := wire.cutOn(isPopup)
			// The popup may be seen, and the link cut, before the reply to this.
			_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: opener}, "setTimeout(() => openChild('/plain'), 0); 0")
			if err != nil && messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
				t.Fatal(err)
			}
			select {
			case <-cut:
			case <-time.After(patience):
				t.Fatal("no popup was seen on the wire")
			}
			k.await("reconnected", func(s *messages.Snapshot) bool {
				return s.State == messages.StateActive && s.Connection.Reconnects == 1
			})
			p := k.popup(opener)
			// Tasks of the event loop, which a frozen page does not run.
			const tick = "new Promise(r => setTimeout(() => r(document.title), 1))"
			for page, want := range map[messages.TargetID]string{opener: `"/popup"`, p.TargetID: `"/plain"`} {
				var got string
				k.await("the title of "+want, func(*messages.Snapshot) bool {
					params, _ := json.Marshal(map[string]any{"expression": tick, "awaitPromise": true, "returnByValue": true})
					res, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: params, TargetID: page})
					if err != nil {
						t.Fatalf("%s is frozen: %v", want, err)
					}
					got = chromiumtest.Field(json.RawMessage(chromiumtest.Field(res.Result, "result")), "value")
					return strconv.Quote(got) == want
				})
			}
			if got := k.evalOn(opener, "window.child !== null"); got != "true" {
				t.Errorf("window.open gave the opener %s", got)
			}
		})
	}
}

// A popup that a client of the gateway has to resume runs as soon as that client is gone.
func TestC33_APopupRunsOnceTheClientThatHoldsItIsGone(t *testing.T) {
	t.Parallel()
	r := alone(t)
	k := r.task("c33")
	k.goTo("http://a.test/plain")
	c := chromiumtest.Dial(t, r.cdpClients()("c33"))
	c.Must("", "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
	k.later("", "window.open('/plain')") // which freezes the opener
	popup := c.NextWhere("a popup that waits", func(e chromiumtest.Event) bool {
		return e.Method == "Target.attachedToTarget" && e.Param("waitingForDebugger") == "true"
	})
	var p struct {
		TargetInfo struct{ TargetID messages.TargetID }
	}
	popup.Decode(t, &p)
	runs := func(s *messages.Snapshot) bool {
		return slices.ContainsFunc(s.Pages, func(o messages.Page) bool { return o.TargetID == p.TargetInfo.TargetID && o.Title == "/plain" })
	}
	stays(t, "the popup waits", 500*time.Millisecond, func() bool { return !runs(k.snapshot()) })
	c.Close()
	k.awaitFor(8*time.Second, "a popup that runs", runs) // it would not wait longer than ten seconds for any client
}
