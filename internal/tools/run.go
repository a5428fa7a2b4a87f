package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"holdfast/internal/redact"
	"holdfast/internal/run"
	"holdfast/messages"
)

// Scripts runs scripts beside a page; a [run.Runner] does.
type Scripts interface {
	Run(ctx context.Context, s run.Script) (messages.RunOutput, error)
}

var scriptTools = []Tool{
	define[runInput, messages.RunOutput](Tool{
		Name: "browser_run", Title: "Run a script", Group: "script",
		Description: "Run JavaScript beside the page: the body of an async function with Puppeteer's page and browser, tab (these tools: await tab.click({ref})), display(value), assert and wait(ms).",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runScript),
}

type runInput struct {
	on
	Code     string  `json:"code" maxlen:"1048576" jsonschema:"such as: await page.goto(url); return page.title()"`
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"1 to 600, default 30"`
}

func runScript(ctx context.Context, c *call, in runInput) (outcome, error) {
	if c.scripts == nil {
		return outcome{}, messages.Errorf(messages.CodeForbidden, "this node runs no scripts")
	}
	request := messages.RunRequest{Code: in.Code, TimeoutS: in.TimeoutS}
	if err := request.Validate(); err != nil {
		return outcome{}, err
	}
	target, err := c.page()
	if err != nil {
		return outcome{}, err
	}
	ctx, stop, err := c.untilTaskEnds(ctx)
	if err != nil {
		return outcome{}, err
	}
	defer stop()
	result, err := c.scripts.Run(ctx, run.Script{
		Task: c.task, Target: target, Code: in.Code, Timeout: request.Timeout(), Tools: c.short,
		Tool: func(ctx context.Context, name string, input json.RawMessage) *messages.ToolResult {
			return c.callTool(ctx, Caller{Allows: c.by.Allows}, c.task, name, onSameTab(input, in.Tab))
		},
	})
	for i, line := range result.Console {
		result.Console[i] = redact.Text(line) // as the console of a page
	}
	said := textOf(result)
	out := outcome{text: cutMarked(said, maxText), data: result, isOfPage: true, spill: beyond(said, maxText)}
	if err == nil && out.text == "" {
		out.text = "The script is done; it displayed and returned nothing."
	}
	return out, err
}

// untilTaskEnds has what is done for the call end with its task. stop has to be called.
func (c *call) untilTaskEnds(ctx context.Context) (_ context.Context, stop func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	events, err := c.node.Watch(ctx, c.task, 0, false)
	if err != nil {
		cancel(nil)
		return nil, nil, err
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		for err := error(nil); err == nil; {
			if _, err = events.Next(ctx); errors.Is(err, io.EOF) {
				cancel(messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended"))
			}
		}
	})
	return ctx, func() {
		cancel(nil)
		watching.Wait()
		events.Close()
	}, nil
}

// onSameTab is the input of a tool with the script's tab, unless it names one.
func onSameTab(input json.RawMessage, tab string) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if tab == "" || json.Unmarshal(input, &fields) != nil || fields["tab"] != nil {
		return input
	}
	fields["tab"] = asJSON(tab)
	return asJSON(fields)
}

// textOf is what a script has shown, for a model to read.
func textOf(r messages.RunOutput) string {
	var lines []string
	for _, o := range r.Output {
		if o.Type == messages.RunImage {
			lines = append(lines, "["+o.MIMEType+"]")
			continue
		}
		lines = append(lines, o.Text)
	}
	if r.Value != nil {
		s, ok := r.Value.(string)
		if !ok {
			s = string(asJSON(r.Value))
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, "\n")
}

// shortNames are the names that tab has for tools: fillForm for browser_fill_form.
func shortNames(list []Tool) (out [][2]string) {
	for _, t := range list {
		if t.needsNoTask || t.Name == "browser_run" {
			continue
		}
		words := strings.Split(strings.TrimPrefix(t.Name, "browser_"), "_")
		for i, w := range words[1:] {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
		out = append(out, [2]string{strings.Join(words, ""), t.Name})
	}
	return slices.Clip(out)
}

// asJSON encodes a value that has come from JSON.
func asJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("tools: " + err.Error())
	}
	return b
}
