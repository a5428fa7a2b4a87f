package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"holdfast/messages"
)

// batchTool runs several tools in one call.
const batchTool = "browser_batch"

// The table's variable is made of its tools, and this one calls the table.
func init() {
	list = append(list, define[batchInput, messages.BatchResult](Tool{
		Name: batchTool, Title: "Run several tools", Group: "pages", needsNoTask: true,
		Description: "Run tools one after the other. A step that uses refs after one that may have changed the page is blocked: put browser_snapshot before it.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runBatch))
}

type batchInput struct {
	on
	Steps    []messages.BatchStep `json:"steps" jsonschema:"1 to 50 of tool and input"`
	OnError  string               `json:"on_error,omitempty" enum:"stop|continue" jsonschema:"default stop"`
	TimeoutS float64              `json:"timeout_s,omitempty" jsonschema:"of all steps, default 300"`
}

func runBatch(ctx context.Context, c *call, in batchInput) (outcome, error) {
	if in.Tab != "" {
		for i, s := range in.Steps {
			if s.Input == nil {
				in.Steps[i].Input = messages.ToolInput{"tab": in.Tab}
			} else if _, isNamed := s.Input["tab"]; !isNamed {
				s.Input["tab"] = in.Tab
			}
		}
	}
	req := messages.BatchRequest{Steps: in.Steps, OnError: messages.OnError(in.OnError), TimeoutS: in.TimeoutS}
	if err := req.Validate(); err != nil {
		return outcome{}, err
	}
	res := c.Table.Batch(ctx, c.by, c.task, req)
	var text strings.Builder
	out := outcome{data: res, next: res.NextActions, isOfPage: true}
	for i, s := range res.Results {
		said := ""
		if s.Result != nil {
			said = s.Result.Text
			out.files = append(out.files, s.Result.Artifacts...)
		}
		fmt.Fprintf(&text, "%d %s %s: %s\n", i, s.Tool, s.State, cut(strings.TrimSpace(said), maxText/len(res.Results)))
	}
	out.text = strings.TrimSpace(text.String())
	if res.OK {
		return out, nil
	}
	return out, messages.Errorf(res.Code, "step %d did not do what it was asked for", *res.FailedStep)
}

// Batch runs tools on a task, one after the other, and says what became of each. The request has
// to be valid. It waits as long as the steps do; ctx ends it, and what was done by then is in the
// result.
func (t *Table) Batch(ctx context.Context, by Caller, task messages.TaskID, req messages.BatchRequest) *messages.BatchResult {
	return t.batch(ctx, by, task, req, func(int, *messages.ToolResult) *messages.ToolResult { return nil })
}

// batch runs a batch. checked looks at what a step that succeeded has done; a result of its own takes
// the place of the step's, which then has failed.
func (t *Table) batch(ctx context.Context, by Caller, task messages.TaskID, req messages.BatchRequest, checked func(step int, r *messages.ToolResult) *messages.ToolResult) *messages.BatchResult {
	within := messages.DefaultBatchTimeout
	if req.TimeoutS != 0 {
		within = time.Duration(req.TimeoutS * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	out := &messages.BatchResult{Results: make([]messages.BatchStepResult, len(req.Steps)), NextActions: []messages.NextAction{}}
	var refs latch
	isEnded := false
	for i, step := range req.Steps {
		done := messages.BatchStepResult{Tool: cut(step.Tool, maxTabName), State: messages.StepSkipped}
		switch {
		case isEnded:
		case ctx.Err() != nil:
			done.Result = t.notRun(ctx, step, by, task, messages.Errorf(messages.CodeDeadline, "the batch's time was up before this step"))
		case refs.isBlocking(step):
			done.State = messages.StepBlocked
			done.Result = t.notRun(ctx, step, by, task, messages.Errorf(messages.CodeStaleRef, "%s may have made the refs stale; nothing was done. Put browser_snapshot before this step", refs.by))
		default:
			done.Result = t.step(ctx, by, task, step)
			refs.note(step, done.Result)
			if done.Result.OK {
				if failed := checked(i, done.Result); failed != nil {
					done.Result = failed
				}
			}
			done.State = messages.StepFailed
			if done.Result.OK {
				done.State = messages.StepDone
				out.Completed++
			}
		}
		out.Results[i] = done
		if done.State == messages.StepDone || isEnded {
			continue
		}
		if out.FailedStep == nil {
			out.FailedStep, out.Code, out.NextActions = &i, done.Result.Code, done.Result.NextActions
		}
		isEnded = cmp.Or(req.OnError, messages.OnErrorStop) == messages.OnErrorStop || ctx.Err() != nil
	}
	out.OK = out.FailedStep == nil
	return out
}

// step runs one step.
func (t *Table) step(ctx context.Context, by Caller, task messages.TaskID, s messages.BatchStep) *messages.ToolResult {
	if s.Tool == batchTool {
		return t.notRun(ctx, s, by, task, messages.Errorf(messages.CodeInvalidArgument, "a batch has no batch in it"))
	}
	input, err := json.Marshal(s.Input)
	if err != nil {
		return t.notRun(ctx, s, by, task, messages.Errorf(messages.CodeInvalidArgument, "the input is no JSON object"))
	}
	return t.Call(ctx, by, task, s.Tool, input)
}

// notRun is the result of a step that was not run.
func (t *Table) notRun(ctx context.Context, s messages.BatchStep, by Caller, task messages.TaskID, why *messages.Error) *messages.ToolResult {
	c := &call{Table: t, by: by, task: task, name: s.Tool, memory: t.memory.at(task)} // where its page is now, is said
	c.tabName, _ = s.Input["tab"].(string)
	return c.result(ctx, outcome{}, why)
}
