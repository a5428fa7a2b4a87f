package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestD16_AnotherClientAnswers(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d16")
	k.goTo("http://a.test/prompt")
	w, session := k.witness(k.snapshot().PageTargetID)
	k.later("", "ask()")
	d := k.dialog()
	w.Must(session, "Page.handleJavaScriptDialog", map[string]any{"accept": true, "promptText": "theirs"})
	c := k.closed(d.ID)
	if c.ClosedBy != messages.ClosedByRemote || c.Action != "" {
		t.Errorf("record %+v", c)
	}
	if got := k.eval("", "window.got"); got != `"theirs"` {
		t.Errorf("the page received %s", got)
	}
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID})
	if e := wantCode(t, err, messages.CodeDialogAlreadyAnswered); e.Details["closed_by"] != messages.ClosedByRemote {
		t.Errorf("details %v", e.Details)
	}
}

// Both answer at the same moment: the history and the caller's result name the one whose
// answer the page got.
func TestD16_ARaceWithAnotherClientNamesTheWinner(t *testing.T) {
	t.Parallel()
	// Who answers at once looks like what closes dialogs by itself.
	k := setup(t).task("d16-race", func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
	k.goTo("http://a.test/prompt")
	w, session := k.witness(k.snapshot().PageTargetID)
	wins := map[messages.ClosedBy]int{}
	for i := range 40 {
		k.later("", "ask()")
		d := k.dialog()
		w.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
		var err error
		var mine messages.ClosedDialog
		both := sync.WaitGroup{}
		both.Go(func() {
			mine, err = k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: text("agent"), DialogID: d.ID})
		})
		for range i % 4 { // a head start, a little longer each time
			w.Must("", "Browser.getVersion", nil)
		}
		theirs := w.Send(session, "Page.handleJavaScriptDialog", map[string]any{"accept": true, "promptText": "remote"})
		_, lost := theirs.Wait(patience)
		both.Wait()
		got := k.eval("", "window.got")
		c := k.closed(d.ID)
		wins[c.ClosedBy]++
		if want := strconv.Quote(string(c.ClosedBy)); got != want {
			t.Fatalf("round %d: the page received %s, history says %+v", i, got, c)
		}
		switch c.ClosedBy {
		case messages.ClosedByAgent:
			if err != nil || mine != c || lost == nil {
				t.Fatalf("round %d: agent won; %+v, %v; remote %v", i, mine, err, lost)
			}
		default:
			if messages.CodeOf(err) != messages.CodeDialogAlreadyAnswered || lost != nil {
				t.Fatalf("round %d: remote won; agent %v; remote %v", i, err, lost)
			}
		}
	}
	t.Logf("won by %v", wins)
	if len(wins) < 2 {
		t.Errorf("that was no race: %v", wins)
	}
}

func TestD17_TheRightDialogIsClosed(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d17")
	k.goTo("http://a.test/confirm")
	first := k.snapshot().PageTargetID
	second := k.openTab("http://b.test/confirm")
	w, session := k.witness(second)
	k.laterOn(first, "ask()")
	k.awaitPending(1)
	k.laterOn(second, "ask()")
	k.awaitPending(2)
	w.Must(session, "Page.handleJavaScriptDialog", map[string]any{"accept": true})
	if c := k.closed("d-2"); c.ClosedBy != messages.ClosedByRemote || c.TargetID != second {
		t.Errorf("record %+v", c)
	}
	if d := k.dialog(); d.ID != "d-1" || d.TargetID != first {
		t.Errorf("still pending %+v", d)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
	if a, b := k.evalOn(first, "window.got"), k.evalOn(second, "window.got"); a != "true" || b != "true" {
		t.Errorf("the pages received %s and %s", a, b)
	}
}

// race lets 20 answer the prompt at once, each with a text of its own: one of
// them wins, and the page receives that one's text. It returns how many had
// which outcome.
func (k *task) race(who string, answer func(text string) error) map[messages.Code]int {
	k.Helper()
	codes := map[messages.Code]int{}
	var winner string
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			text := who + " " + strconv.Itoa(i)
			err := answer(text)
			mu.Lock()
			defer mu.Unlock()
			codes[messages.CodeOf(err)]++
			if err == nil {
				winner = text
			}
		})
	}
	all.Wait()
	if codes[""] != 1 {
		k.Fatalf("outcomes %v", codes)
	}
	if got := k.eval("", "window.got"); got != strconv.Quote(winner) {
		k.Fatalf("the page received %s, %q won", got, winner)
	}
	return codes
}

func TestDemand6_OfManyAnswersOneWins(t *testing.T) {
	t.Parallel()
	t.Run("20 callers", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("once")
		k.goTo("http://a.test/prompt")
		for range 5 {
			k.later("", "ask()")
			d := k.dialog()
			codes := k.race("caller", func(text string) error {
				c, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &text, DialogID: d.ID})
				if err == nil && (c.ID != d.ID || c.ClosedBy != messages.ClosedByAgent) {
					t.Errorf("the winner's record %+v", c)
				}
				return err
			})
			if codes[messages.CodeDialogAlreadyAnswered] != 19 {
				t.Fatalf("outcomes %v", codes)
			}
		}
	})
	t.Run("a second answer later is a conflict", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("once")
		k.goTo("http://a.test/confirm")
		k.later("", "ask()")
		d := k.dialog()
		door := k.door()
		body := fmt.Sprintf(`{"action":"accept","dialog_id":%q}`, d.ID)
		status, first := door.call("POST", "/v1/tasks/once/dialog", body)
		if c, _ := first["dialog"].(map[string]any); status != http.StatusOK || c["closed_by"] != "agent" || c["id"] != string(d.ID) {
			t.Errorf("first: %d %v", status, first)
		}
		status, second := door.call("POST", "/v1/tasks/once/dialog", body)
		if e, _ := second["error"].(map[string]any); status != http.StatusConflict || e["code"] != "dialog_already_answered" {
			t.Errorf("second: %d %v", status, second)
		}
	})
	t.Run("raw CDP is no way around it", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("once")
		k.goTo("http://a.test/prompt")
		k.later("", "ask()")
		d := k.dialog()
		codes := k.race("raw", func(text string) error {
			_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{
				Method: "Page.handleJavaScriptDialog", Params: json.RawMessage(`{"accept":true,"promptText":"` + text + `"}`),
			})
			return err
		})
		// Who comes after the end finds none open, as Chrome says it too (C4).
		if codes[messages.CodeDialogAlreadyAnswered]+codes[messages.CodeNoDialog] != 19 {
			t.Fatalf("outcomes %v", codes)
		}
		if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByAgent {
			t.Errorf("record %+v", c)
		}
	})
	t.Run("raw CDP answers the page it names and no other", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("once")
		k.goTo("http://a.test/confirm")
		first := k.snapshot().PageTargetID
		idle := k.openTab("http://b.test/plain")
		k.laterOn(first, "ask()")
		d := k.dialog()
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{
			Method: "Page.handleJavaScriptDialog", Params: json.RawMessage(`{"accept":true}`), TargetID: idle,
		})
		wantCode(t, err, messages.CodeNoDialog)
		if p := k.dialog(); p.ID != d.ID {
			t.Errorf("pending %+v", p)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	})
}
