package clients

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// races is how many dialogs are raced for.
var races = flag.Int("races", 100, "how many dialogs two clients and an agent race for")

// snapshot is what a test reads of a task's.
type snapshot struct {
	Version        int `json:"version"`
	PendingDialogs []struct {
		ID string `json:"id"`
	} `json:"pending_dialogs"`
}

// pendingDialog waits for a dialog of the task.
func pendingDialog(t *testing.T, n *Node, id string) string {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var s snapshot
		if err := n.Ask(t.Context(), http.MethodGet, "/v1/tasks/"+id+"/snapshot", nil, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.PendingDialogs) > 0 {
			return s.PendingDialogs[0].ID
		}
	}
	t.Fatal("no dialog came")
	return ""
}

// TestAgentAnswersUnderPlaywright: Playwright dismisses a dialog that it sees and has no
// handler for. By default it sees none, and its pending evaluate returns what an agent answers.
func TestAgentAnswersUnderPlaywright(t *testing.T) {
	site, chrome, node := serve(t), chromiumtest.Shared(t), startNode(t)
	startTask(t, node, "hidden", chrome.WS())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	printed := make(chan string, 1)
	place := Place{WS: node.Address("ws", "hidden", nil), Page: site.URL("http://a.test/client"), Dir: t.TempDir()}
	go func() {
		lines, err := Program{Client: "playwright", file: "pending.mjs"}.lines(ctx, place)
		if err != nil {
			lines = append(lines, Line{Step: "?", Error: err.Error()})
		}
		printed <- fmt.Sprint(lines)
	}()
	dialog := pendingDialog(t, node, "hidden")
	answer := map[string]any{"action": "accept", "prompt_text": "the agent", "dialog_id": dialog}
	if err := node.Ask(ctx, http.MethodPost, "/v1/tasks/hidden/dialog", answer, nil); err != nil {
		t.Fatal(err)
	}
	got := <-printed
	if want := `[connect_ws "connected" prompt "the agent" close false]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDialogsAreAnsweredOnce: two clients and an agent race for each dialog. One answer counts,
// the page gets that one, and the others are told that there is none.
func TestDialogsAreAnsweredOnce(t *testing.T) {
	site, chrome, node := serve(t), chromiumtest.Shared(t), startNode(t)
	startTask(t, node, "raced", chrome.WS())
	first := chromiumtest.Dial(t, node.Address("ws", "raced", clientDialogs))
	page := first.NewPage(site.URL("http://a.test/client"))
	second := chromiumtest.Dial(t, node.Address("ws", "raced", clientDialogs))
	other := second.Attach(page.Target)
	second.Must(other, "Page.enable", nil)

	for i := range *races {
		first.Start(page.Session, "window.answer = prompt('name?', '')")
		dialog := pendingDialog(t, node, "raced")
		var won atomic.Pointer[string]
		var wins, losses atomic.Int32
		var all sync.WaitGroup
		by := func(name string, answer func(text string) error, isLoss func(error) bool) {
			all.Go(func() {
				switch err := answer(name); {
				case err == nil:
					wins.Add(1)
					won.Store(&name)
				case isLoss(err):
					losses.Add(1)
				default:
					t.Errorf("dialog %d, %s: %v", i, name, err)
				}
			})
		}
		noDialog := func(err error) bool {
			var refused *chromiumtest.CDPError
			return errors.As(err, &refused) && refused.Message == "No dialog is showing"
		}
		by("first", func(text string) error {
			_, err := first.Call(page.Session, "Page.handleJavaScriptDialog", map[string]any{"accept": true, "promptText": text})
			return err
		}, noDialog)
		by("second", func(text string) error {
			_, err := second.Call(other, "Page.handleJavaScriptDialog", map[string]any{"accept": true, "promptText": text})
			return err
		}, noDialog)
		by("agent", func(text string) error {
			body := map[string]any{"action": "accept", "prompt_text": text, "dialog_id": dialog}
			return node.Ask(t.Context(), http.MethodPost, "/v1/tasks/raced/dialog", body, nil)
		}, func(err error) bool { return strings.Contains(err.Error(), "dialog_already_answered") })
		all.Wait()
		if wins.Load() != 1 || losses.Load() != 2 {
			t.Fatalf("dialog %d: %d answers count and %d are late", i, wins.Load(), losses.Load())
		}
		var got string
		if err := json.Unmarshal(page.Eval(page.Session, "window.answer"), &got); err != nil || got != *won.Load() {
			t.Fatalf("dialog %d: the page got %q (%v), and %s was told that its answer counts", i, got, err, *won.Load())
		}
	}
}
