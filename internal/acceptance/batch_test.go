package acceptance_test

import (
	"regexp"
	"testing"

	"holdfast/internal/tools"
	"holdfast/messages"
)

// TestW9_ABatchOnAPage: fields are filled by refs of one snapshot; after the click that changes the
// page a ref is blocked, until a new snapshot.
func TestW9_ABatchOnAPage(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("batch")
	r.site.Set("/batch", `<title>batch</title><input aria-label=first><input aria-label=second>
		<button onclick="document.title = [...document.querySelectorAll('input')].map((i) => i.value).join()">send</button>`)
	table := tools.New(r.node, nil)
	if res := table.Call(r.ctx, tools.Caller{}, k.id, "browser_navigate", []byte(`{"url":"`+r.site.URL("http://a.test/batch")+`"}`)); !res.OK {
		t.Fatalf("%+v", res)
	}
	snap := table.Call(r.ctx, tools.Caller{}, k.id, "browser_snapshot", nil)
	refs := regexp.MustCompile(`\[(e[0-9]+)\]`).FindAllStringSubmatch(snap.Text, -1)
	if len(refs) < 3 {
		t.Fatal(snap.Text)
	}
	step := func(tool string, input messages.ToolInput) messages.BatchStep {
		return messages.BatchStep{Tool: tool, Input: input}
	}
	typing := func(i int, text string) messages.BatchStep {
		return step("browser_type", messages.ToolInput{"ref": refs[i][1], "text": text})
	}
	got := table.Batch(r.ctx, tools.Caller{}, k.id, messages.BatchRequest{OnError: messages.OnErrorContinue, Steps: []messages.BatchStep{
		typing(0, "a"), typing(1, "b"),
		step("browser_click", messages.ToolInput{"ref": refs[2][1]}),
		typing(0, "too late"),
		step("browser_snapshot", nil),
		typing(0, "again"),
	}})
	var states []messages.StepState
	for _, s := range got.Results {
		states = append(states, s.State)
	}
	want := []messages.StepState{messages.StepDone, messages.StepDone, messages.StepDone, messages.StepBlocked, messages.StepDone, messages.StepDone}
	for i := range want {
		if states[i] != want[i] {
			t.Fatalf("%v, want %v; step %d: %+v", states, want, i, got.Results[i].Result)
		}
	}
	if got.OK || got.Code != messages.CodeStaleRef || *got.FailedStep != 3 {
		t.Errorf("%+v", got)
	}
	k.await("the title", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 && s.Pages[0].Title == "a,b" })
}
