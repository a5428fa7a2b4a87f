package acceptance_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// TestX1_TasksOverHTTP goes through a task's life as a client of the contract
// sees it. The same over the command line is X21's, with the binary.
func TestX1_TasksOverHTTP(t *testing.T) {
	t.Parallel()
	r := setup(t)
	witness := chromiumtest.Dial(t, r.chrome.WS())
	f := r.front()
	snapshot := func(want int, method, path, body string) (s messages.Snapshot) {
		t.Helper()
		status, text := f.ask(method, path, body)
		if status != want {
			t.Fatalf("%s %s: %d %s, want %d", method, path, status, text, want)
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	list := func(query string) (ids []string) {
		t.Helper()
		status, text := f.ask("GET", "/v1/tasks"+query, "")
		var l struct {
			Tasks []messages.Snapshot `json:"tasks"`
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil || status != http.StatusOK {
			t.Fatalf("list: %d %s", status, text)
		}
		for _, s := range l.Tasks {
			ids = append(ids, string(s.TaskID))
		}
		return ids
	}
	attach := func(labels string) string { return `{"cdp_url":"` + r.chrome.WS() + `","labels":{` + labels + `}}` }

	made := snapshot(201, "POST", "/v1/tasks", attach(`"team":"a"`))
	again := snapshot(201, "POST", "/v1/tasks", attach(`"team":"b"`))
	if made.TaskID == "" || made.TaskID == again.TaskID || made.State != messages.StateActive {
		t.Fatalf("generated %q and %q", made.TaskID, again.TaskID)
	}
	named := snapshot(201, "PUT", "/v1/tasks/named", attach(`"team":"a","env":"x"`))
	if same := snapshot(200, "PUT", "/v1/tasks/named", attach(`"team":"a"`)); same.PageTargetID != named.PageTargetID {
		t.Error("the second PUT opened another page")
	}
	if got := list(""); len(got) != 3 {
		t.Errorf("the list has %v", got)
	}
	if got := list("?label=team%3Db"); len(got) != 1 || got[0] != string(again.TaskID) {
		t.Errorf("team b has %v", got)
	}
	if got := snapshot(200, "GET", "/v1/tasks/"+string(made.TaskID), ""); got.Labels["team"] != "a" || got.State != messages.StateActive {
		t.Errorf("got %+v", got)
	}
	if status, text := f.ask("POST", "/v1/tasks/named/renew", ""); status >= 300 {
		t.Errorf("renew: %d %s", status, text)
	}
	for range 2 { // also when it does not run
		if status, text := f.ask("DELETE", "/v1/tasks/named", ""); status != http.StatusNoContent || strings.TrimSpace(text) != "" {
			t.Errorf("stop: %d %s", status, text)
		}
	}
	gone(t, witness, named.PageTargetID)
	if got := snapshot(200, "GET", "/v1/tasks/named", ""); got.State != messages.StateStopped || got.Active {
		t.Errorf("after the stop: %+v", got)
	}
	if status, _ := f.ask("DELETE", "/v1/tasks/never", ""); status != http.StatusNoContent {
		t.Errorf("stop of a task that never was: %d", status)
	}
	// A name that has stopped starts afresh.
	if fresh := snapshot(201, "PUT", "/v1/tasks/named", attach("")); fresh.PageTargetID == named.PageTargetID {
		t.Error("the old page is back")
	}
}
