package acceptance_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// killRenderers ends every renderer process of a browser of the test's own.
func killRenderers(t *testing.T, b *chromiumtest.Browser) {
	t.Helper()
	var info struct {
		ProcessInfo []struct {
			Type string `json:"type"`
			ID   int    `json:"id"`
		} `json:"processInfo"`
	}
	if err := json.Unmarshal(chromiumtest.Dial(t, b.WS()).Must("", "SystemInfo.getProcessInfo", nil), &info); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range info.ProcessInfo {
		if p.Type == "renderer" && p.ID > 1 {
			n++
			_ = chromiumtest.KillProcess(p.ID) // one may have ended by itself
		}
	}
	if n == 0 {
		t.Fatalf("no renderer among %+v", info.ProcessInfo)
	}
}

func TestDemand10_C23_TroubledPagesDelayNoOther(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	w := chromiumtest.Dial(t, b.WS())
	healthy := map[messages.TargetID]bool{}
	for range 4 {
		healthy[messages.TargetID(w.NewPage(r.site.URL("http://a.test/oopif")).Target)] = true
	}
	troubled := map[messages.TargetID]messages.PageState{}

	// Its only client goes away while the dialog is open.
	gone := chromiumtest.Dial(t, b.WS())
	dialog := chromiumtest.Field(w.Must("", "Target.createTarget", map[string]any{"url": "about:blank"}), "targetId")
	session := gone.Attach(dialog)
	gone.Must(session, "Page.enable", nil)
	gone.Must(session, "Page.navigate", map[string]any{"url": r.site.URL("http://d.test/alert-on-load")})
	gone.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
	troubled[messages.TargetID(dialog)] = messages.PageDialogUnreachable

	// Its client stays, and is the only one that could answer.
	asking := w.NewPage(r.site.URL("http://b.test/confirm"))
	asking.Start(asking.Session, "ask()")
	asking.Next("Page.javascriptDialogOpening")
	troubled[messages.TargetID(asking.Target)] = messages.PageDialogUnreachable

	busy := w.NewPage(r.site.URL("http://e.test/busy"))
	busy.Start(busy.Session, "console.log('spinning'); spin()")
	busy.NextWhere("spinning", chromiumtest.On(busy.Session, "Runtime.consoleAPICalled"))
	troubled[messages.TargetID(busy.Target)] = messages.PageHung

	crashed := w.NewPage(r.site.URL("http://f.test/plain"))
	crashed.Must(crashed.Session, "Inspector.enable", nil)
	crashed.Send(crashed.Session, "Page.crash", nil)
	crashed.NextWhere("crash", chromiumtest.On(crashed.Session, "Inspector.targetCrashed"))
	troubled[messages.TargetID(crashed.Target)] = messages.PageCrashed
	gone.Close()

	var k *task
	begun := time.Now()
	r.atOnceStart(func() {
		k = r.task("c23", func(s *messages.TaskSpec) { s.Scope = messages.ScopeBrowser })
	})
	t.Logf("attached after %s", time.Since(begun))
	s := k.snapshot()
	seen := 0
	for _, p := range s.Pages {
		want, ill := troubled[p.TargetID]
		if !ill {
			want = messages.PageOK
		}
		if ill || healthy[p.TargetID] {
			seen++
		}
		if p.PageState != want || p.SessionID == "" {
			t.Errorf("page %+v, want %s", p, want)
		}
	}
	if seen != len(healthy)+len(troubled) {
		t.Errorf("%d pages of %d: %+v", seen, len(healthy)+len(troubled), s.Pages)
	}
	for page := range healthy {
		k.atOnce("evaluate", func(ctx context.Context) error {
			v, err := evalOn(ctx, k.node, k.id, messages.CDPRequest{TargetID: page}, "document.title")
			if v != `"/oopif"` {
				t.Errorf("title %s", v)
			}
			return err
		})
		full, err := k.node.Snapshot(k.id, messages.SnapshotOptions{TargetID: page})
		if err != nil || full.FrameTree == nil || len(full.FrameTree.Children) != 1 || full.FrameTree.Children[0].SessionID == "" {
			t.Errorf("tree of %s: %+v, %v", page, full.FrameTree, err)
		}
	}
	codes := map[messages.PageState]messages.Code{
		messages.PageDialogUnreachable: messages.CodePageWedged,
		messages.PageHung:              messages.CodePageWedged,
		messages.PageCrashed:           messages.CodePageCrashed,
	}
	for page, state := range troubled {
		k.atOnceErr("evaluate on the page that is "+string(state), codes[state], func() error {
			_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: page}, "1")
			return err
		})
	}
	k.atOnce("stop", func(ctx context.Context) error { return k.node.StopTask(ctx, k.id) })
}

// atOnceStart bounds an attach: two classifications and what the machine adds.
func (r *rig) atOnceStart(f func()) {
	r.Helper()
	begun := time.Now()
	f()
	if took := time.Since(begun); took > atOnce {
		r.Errorf("the attach took %s", took)
	}
}
