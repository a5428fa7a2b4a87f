package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// states are what became of the steps, one letter each.
func states(r *messages.BatchResult) string {
	out := ""
	for _, s := range r.Results {
		out += string(s.State[0])
		if s.State == messages.StepSkipped {
			out = out[:len(out)-1] + "-"
		}
	}
	return out
}

// evaluates is a node whose pages answer every script with 7, but those that throw.
func evaluates() *apitest.Node {
	n := node()
	n.CDPFunc = func(r messages.CDPRequest) (messages.CDPResult, error) {
		if strings.Contains(string(r.Params), "throw") {
			return messages.CDPResult{Result: json.RawMessage(`{"result":{"type":"object"},"exceptionDetails":{"text":"Uncaught","exception":{"description":"Error: no"}}}`)}, nil
		}
		return messages.CDPResult{Result: json.RawMessage(`{"result":{"type":"number","value":7}}`)}, nil
	}
	return n
}

// TestW9_TheLatchOfABatch: a ref is not used after a step that may have made it stale.
func TestW9_TheLatchOfABatch(t *testing.T) {
	t.Parallel()
	const (
		look    = `{"tool":"browser_task_status"}`
		change  = `{"tool":"browser_evaluate","input":{"expression":"1"}}`
		useRef  = `{"tool":"browser_evaluate","input":{"expression":"1","ref":"e5"}}`
		deepRef = `{"tool":"browser_evaluate","input":{"fields":[{"ref":"e5"}]}}`
		inFrame = `{"tool":"browser_evaluate","input":{"expression":"1","frame_id":"e5"}}`
		frame   = `{"tool":"browser_cdp","input":{"method":"Page.reload","frame_id":"4C25BD5C"}}`
		broken  = `{"tool":"browser_evaluate","input":{"expression":"throw 1"}}`
		wrong   = `{"tool":"browser_evaluate","input":{"expresion":"1"}}`
		unknown = `{"tool":"browser_clik"}`
		nested  = `{"tool":"browser_batch","input":{"steps":[{"tool":"browser_task_status"}]}}`
	)
	for _, c := range []struct {
		steps   []string
		onError messages.OnError
		want    string
		code    messages.Code
	}{
		{steps: []string{look, change, look, frame}, want: "dddd"},
		{steps: []string{change, useRef, look}, want: "db-", code: messages.CodeStaleRef},
		{steps: []string{change, deepRef}, want: "db", code: messages.CodeStaleRef},
		{steps: []string{change, `{"tool":"browser_click","input":{"target":"e1"}}`}, want: "db", code: messages.CodeStaleRef},
		{steps: []string{change, inFrame}, want: "db", code: messages.CodeStaleRef},
		{steps: []string{change, useRef, look}, onError: messages.OnErrorContinue, want: "dbd", code: messages.CodeStaleRef},
		{steps: []string{broken, look}, want: "f-", code: messages.CodeScriptError},
		{steps: []string{broken, look, useRef}, onError: messages.OnErrorContinue, want: "fdb", code: messages.CodeScriptError},
		{steps: []string{wrong, unknown, nested, deepRef}, onError: messages.OnErrorContinue, want: "ffff", code: messages.CodeInvalidArgument},
	} {
		var req messages.BatchRequest
		if err := json.Unmarshal([]byte(`{"steps":[`+strings.Join(c.steps, ",")+`]}`), &req); err != nil {
			t.Fatal(err)
		}
		req.OnError = c.onError
		r := tools.New(evaluates(), nil).Batch(t.Context(), tools.Caller{}, "one", req)
		if got := states(r); got != c.want || r.Code != c.code || r.OK != (c.code == "") || r.Completed != strings.Count(c.want, "d") {
			t.Errorf("%v: %s, code %q, ok %t, completed %d; want %s, %q", c.steps, got, r.Code, r.OK, r.Completed, c.want, c.code)
		}
		for i, s := range r.Results {
			if (s.Result == nil) != (s.State == messages.StepSkipped) {
				t.Errorf("%v: step %d is %s, with the result %v", c.steps, i, s.State, s.Result)
			}
		}
	}
}

func TestBatchAsATool(t *testing.T) {
	t.Parallel()
	r := call(t, evaluates(), "browser_batch", `{"steps":[{"tool":"browser_evaluate","input":{"expression":"1"}},{"tool":"browser_evaluate","input":{"expression":"throw 1"}}]}`)
	if r.OK || r.Code != messages.CodeScriptError || !strings.Contains(r.Text, "0 browser_evaluate done: 7\n1 browser_evaluate failed: ") {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{`{}`, `{"steps":[]}`, `{"steps":[{"tool":"browser_task_status"}],"on_error":"maybe"}`, `{"steps":[{"tool":"x","more":1}]}`, `{"steps":[{"tool":"x"}],"timeout_s":601}`, `{"steps":[` + strings.Repeat(`{"tool":"x"},`, 50) + `{"tool":"x"}]}`} {
		if r := call(t, node(), "browser_batch", bad); r.Code != messages.CodeInvalidArgument {
			t.Errorf("%.60s: %q %s", bad, r.Code, r.Text)
		}
	}
}

// TestW20_ABatchWhoseTimeIsUp: what was done by then is in the result.
func TestW20_ABatchWhoseTimeIsUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	n := evaluates()
	n.CDPFunc = func(messages.CDPRequest) (messages.CDPResult, error) {
		cancel()
		return messages.CDPResult{Result: json.RawMessage(`{"result":{"type":"number","value":7}}`)}, nil
	}
	step := messages.BatchStep{Tool: "browser_evaluate", Input: messages.ToolInput{"expression": "1"}}
	r := tools.New(n, nil).Batch(ctx, tools.Caller{}, "one", messages.BatchRequest{Steps: []messages.BatchStep{step, step, step}, OnError: messages.OnErrorContinue})
	if got := states(r); got != "d--" || r.OK || r.Code != messages.CodeDeadline || *r.FailedStep != 1 || r.Completed != 1 {
		t.Errorf("%s %+v", got, r)
	}
	// Where the page is by then, is said with the step that was not begun.
	if p := r.Results[1].Result.Page; p == nil || p.URL != "https://shop.example/A" || p.Title != "A" || p.TabID != "t1" {
		t.Errorf("%+v", p)
	}
}
