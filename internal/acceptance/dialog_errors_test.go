package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"holdfast/messages"
)

func TestD9_ABadAction(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d9")
	k.goTo("http://a.test/confirm")
	k.later("", "ask()")
	d := k.dialog()
	for _, action := range []messages.Action{"maybe", "", "ACCEPT", "accept "} {
		_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: action})
		if e := wantCode(t, err, messages.CodeInvalidArgument); !strings.Contains(e.Message, "accept or dismiss") {
			t.Errorf("message %q", e.Message)
		}
	}
	if p := k.snapshot().PendingDialogs; len(p) != 1 || p[0].ID != d.ID {
		t.Errorf("pending %+v", p)
	}
	status, body := k.door().call("POST", "/v1/tasks/d9/dialog", `{"action":"maybe"}`)
	if status != http.StatusBadRequest || body["error"].(map[string]any)["code"] != "invalid_argument" {
		t.Errorf("over HTTP: %d %v", status, body)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept})
}

func TestD10_NothingPending(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d10")
	k.goTo("http://a.test/plain")
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept})
	wantCode(t, err, messages.CodeNoDialog)
	if status, _ := k.door().call("POST", "/v1/tasks/d10/dialog", `{"action":"accept"}`); status != http.StatusConflict {
		t.Errorf("over HTTP: %d", status)
	}
	_, err = k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Page.handleJavaScriptDialog", Params: json.RawMessage(`{"accept":true}`)})
	wantCode(t, err, messages.CodeNoDialog)
}

func TestD11_SeveralPendingNeedAnID(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d11")
	k.goTo("http://a.test/confirm")
	first := k.snapshot().PageTargetID
	second := k.openTab("http://b.test/prompt")
	k.laterOn(first, "ask()")
	k.awaitPending(1)
	k.laterOn(second, "ask()")
	pending := k.awaitPending(2)

	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept})
	e := wantCode(t, err, messages.CodeDialogAmbiguous)
	if c, _ := e.Details["candidates"].([]messages.Dialog); !slices.Equal(c, pending) || c[0].ID != "d-1" || c[1].ID != "d-2" {
		t.Errorf("candidates %+v, pending %+v", e.Details["candidates"], pending)
	}
	if p := k.awaitPending(2); !slices.Equal(p, pending) {
		t.Errorf("pending %+v", p)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept, PromptText: text("second"), DialogID: "d-2"})
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept, DialogID: "d-1"})
	if a, b := k.evalOn(first, "window.got"), k.evalOn(second, "window.got"); a != "true" || b != `"second"` {
		t.Errorf("the pages received %s and %s", a, b)
	}
}

func TestD12_AnUnknownID(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d12")
	k.goTo("http://a.test/confirm")
	k.later("", "ask()")
	d := k.dialog()
	_, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: "d-999"})
	e := wantCode(t, err, messages.CodeDialogNotFound)
	if known, _ := e.Details["known"].([]messages.DialogID); !slices.Equal(known, []messages.DialogID{d.ID}) {
		t.Errorf("known %v", e.Details["known"])
	}
	status, body := k.door().call("POST", "/v1/tasks/d12/dialog", `{"action":"accept","dialog_id":"d-999"}`)
	if status != http.StatusNotFound || !strings.Contains(fmt.Sprint(body), "known:[d-1]") {
		t.Errorf("over HTTP: %d %v", status, body)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss, DialogID: d.ID})
}

func TestD13_TextIsForPromptsOnly(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d13")
	for page, want := range map[string]string{"/confirm": "true", "/alert": `"returned"`} {
		k.goTo("http://a.test" + page)
		k.later("", "ask()")
		k.dialog()
		if c := k.accept("ignored"); c.ClosedBy != messages.ClosedByAgent {
			t.Errorf("%s: %+v", page, c)
		}
		if got := k.eval("", "window.got"); got != want {
			t.Errorf("%s: the page received %s", page, got)
		}
	}
}

func TestD26_OverHTTPTheErrorNamesTheRequestThatHelps(t *testing.T) {
	t.Parallel()
	door := setup(t).door()
	for _, route := range []string{"dialog", "navigate", "cdp"} {
		body := map[string]string{"dialog": `{"action":"accept"}`, "navigate": `{"url":"about:blank"}`, "cdp": `{"method":"Browser.getVersion"}`}[route]
		status, reply := door.call("POST", "/v1/tasks/d26-never/"+route, body)
		if e, _ := reply["error"].(map[string]any); status != http.StatusNotFound || e["code"] != "task_not_found" || !strings.Contains(fmt.Sprint(e["message"]), "PUT /v1/tasks/d26-never") {
			t.Errorf("%s: %d %v", route, status, reply)
		}
	}
}

func TestD26_WithoutASupervisorTheErrorNamesTheRemedy(t *testing.T) {
	t.Parallel()
	r := setup(t)
	stopped := r.task("d26-stopped")
	if err := r.node.StopTask(r.ctx, stopped.id); err != nil {
		t.Fatal(err)
	}
	for _, id := range []messages.TaskID{"d26-never", stopped.id} {
		for name, do := range map[string]func() error{
			"dialog": func() error {
				_, err := r.node.Respond(r.ctx, id, messages.DialogAnswer{Action: "accept"})
				return err
			},
			"cdp": func() error {
				_, err := r.node.CDP(r.ctx, id, messages.CDPRequest{Method: "Browser.getVersion"})
				return err
			},
			"navigate": func() error {
				_, err := r.node.Navigate(r.ctx, id, messages.NavigateRequest{URL: "about:blank"})
				return err
			},
		} {
			e := wantCode(t, do(), messages.CodeTaskNotFound)
			if !strings.Contains(e.Message, "PUT") {
				t.Errorf("%s of %s: no remedy in %q", name, id, e.Message)
			}
		}
	}
}

func TestD27_WithoutASupervisorFieldsAreAbsent(t *testing.T) {
	t.Parallel()
	k := setup(t).task("d27")
	k.goTo("http://a.test/oopif")
	door := k.door()
	three := []string{"pending_dialogs", "recent_dialogs", "frame_tree"}
	_, before := door.call("GET", "/v1/tasks/d27/snapshot", "")
	for _, name := range three {
		if v, ok := before[name]; !ok || v == nil {
			t.Errorf("while it runs there is no %s", name)
		}
	}
	if err := k.node.StopTask(k.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	status, after := door.call("GET", "/v1/tasks/d27/snapshot", "")
	if status != http.StatusOK || after["active"] != false || after["state"] != "stopped" {
		t.Fatalf("%d %v", status, after)
	}
	for _, name := range append(three, "console_errors", "pages", "page_state", "page_target_id") {
		if v, ok := after[name]; ok {
			t.Errorf("after the stop: %s is %v", name, v)
		}
	}
}
