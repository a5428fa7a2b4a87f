package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"holdfast/messages"
)

// rawTools run script and raw commands in pages, and show what pages report.
var rawTools = []Tool{
	define[evaluateInput, evaluated](Tool{
		Name: "browser_evaluate", Title: "Evaluate JavaScript", Group: "script", IsCore: true,
		Description: "Run JavaScript in the page and return its value as JSON. Give an expression, or a function to call. Promises are awaited.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runEvaluate),
	define[cdpInput, cdpOutput](Tool{
		Name: "browser_cdp", Title: "Raw CDP", Group: "script",
		Description: "Run one Chrome DevTools Protocol command on the task's own connection.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runCDP),
	define[consoleInput, consoleOutput](Tool{
		Name: "browser_console_messages", Title: "Console errors", Group: "reports", IsCore: true,
		Description: "The newest errors and uncaught exceptions of the task's pages.",
		Hints:       messages.ToolHints{ReadOnly: true, Idempotent: true},
	}, runConsole),
}

// The bounds of what these tools answer, in bytes.
const (
	maxText     = 15_000
	maxData     = 1 << 20
	maxRawData  = 8 << 20
	maxExpr     = 1 << 20
	maxErrorMsg = 2000
)

type evaluateInput struct {
	on
	Expression string  `json:"expression,omitempty" maxlen:"1048576"`
	Function   string  `json:"function,omitempty" maxlen:"1048576" jsonschema:"such as () => document.title"`
	Ref        string  `json:"ref,omitempty" jsonschema:"element that the function gets as its argument"`
	Selector   string  `json:"selector,omitempty" maxlen:"10000" jsonschema:"in place of ref"`
	FrameID    string  `json:"frame_id,omitempty" jsonschema:"frame to run in: its frame_id, or the ref of its iframe"`
	TimeoutS   float64 `json:"timeout_s,omitempty" jsonschema:"1 to 300, default 30"`
}

func (in evaluateInput) isOnElement() bool { return in.Ref != "" || in.Selector != "" }

type evaluated struct {
	Type        string `json:"type"`
	Value       any    `json:"value,omitempty"`
	IsTruncated bool   `json:"truncated,omitempty"`
	// Matches are there where a selector matches several elements: the script ran on the first visible one.
	Matches *matches `json:"matches,omitempty"`
}

type cdpInput struct {
	on
	Method   string         `json:"method" jsonschema:"such as Network.getCookies"`
	Params   map[string]any `json:"params,omitempty"`
	FrameID  string         `json:"frame_id,omitempty" jsonschema:"out-of-process frame"`
	TargetID string         `json:"target_id,omitempty"`
	TimeoutS float64        `json:"timeout_s,omitempty" jsonschema:"1 to 300, default 10"`
}

type cdpOutput struct {
	Result      any  `json:"result,omitempty"`
	IsTruncated bool `json:"truncated,omitempty"`
}

type consoleInput struct {
	on
	Max int `json:"max,omitempty" min:"1" max:"50" jsonschema:"newest so many, default 20"`
}

type consoleOutput struct {
	Messages []messages.ConsoleError `json:"messages"`
}

// remote is a RemoteObject of CDP.
type remote struct {
	Type        string          `json:"type"`
	Subtype     string          `json:"subtype"`
	Value       json.RawMessage `json:"value"`
	Plain       string          `json:"unserializableValue"`
	Description string          `json:"description"`
	ObjectID    string          `json:"objectId"`
}

type exception struct {
	Text      string `json:"text"`
	Exception remote `json:"exception"`
}

type evaluation struct {
	Result    remote     `json:"result"`
	Exception *exception `json:"exceptionDetails"`
}

// failure is the exception as a contract's error; nil where there is none.
func (e evaluation) failure() error {
	if e.Exception == nil {
		return nil
	}
	said := e.Exception.Exception.Description
	if said == "" {
		said = strings.TrimSpace(e.Exception.Text + " " + string(e.Exception.Exception.Value))
	}
	return messages.Errorf(messages.CodeScriptError, "the script threw: %s", cut(said, maxErrorMsg))
}

func runEvaluate(ctx context.Context, c *call, in evaluateInput) (outcome, error) {
	if (in.Expression == "") == (in.Function == "") {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "give either expression or function")
	}
	within := 30 * time.Second
	if in.TimeoutS != 0 {
		within = time.Duration(clampTimeout(in.TimeoutS) * float64(time.Second))
	}
	if in.isOnElement() && (in.Function == "" || in.FrameID != "") {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "ref and selector go with function, and without frame_id")
	}
	var got evaluation
	var several *matches
	err := c.unlessAsked(ctx, func(ctx context.Context) (err error) {
		got, several, err = c.evaluate(ctx, in, within)
		return err
	})
	if err != nil {
		return outcome{}, err
	}
	if err := got.failure(); err != nil {
		return outcome{isOfPage: true}, err
	}
	out := shownValue(got.Result)
	several.tell(&out)
	if got.Result.Type == "function" || in.Expression != "" && functionLike.MatchString(in.Expression) && string(got.Result.Value) == "{}" {
		out.text, out.category = "The expression is a function, and was not called: give it as function.", "eval-hint"
	}
	return out, nil
}

// functionLike is how a function begins (W19).
var functionLike = regexp.MustCompile(`^\s*(?:async\b|function\b|\([^()]*\)\s*=>|\w+\s*=>)`)

// evaluate runs the script in the page, in a frame of it, or on an element.
func (c *call) evaluate(ctx context.Context, in evaluateInput, within time.Duration) (got evaluation, several *matches, err error) {
	how := map[string]any{"returnByValue": true, "awaitPromise": true, "userGesture": true}
	var on element
	switch {
	case in.isOnElement():
		on, err = c.element(ctx, pointer{Ref: in.Ref, Selector: in.Selector})
		if err == nil {
			several = c.matches(ctx, on, in.Selector)
			on, err = c.inPage(ctx, on)
		}
	case in.FrameID != "":
		on, err = c.frameDocument(ctx, in.FrameID)
	}
	if err != nil {
		return got, nil, err
	}
	if on.object != "" {
		how["objectId"] = on.object
		switch {
		case in.isOnElement():
			how["functionDeclaration"] = "function() { return (" + in.Function + "\n)(this) }"
		case in.Function != "":
			how["functionDeclaration"] = "function() { return (" + in.Function + "\n)() }"
		default:
			how["functionDeclaration"], how["arguments"] = "function(text) { return (0, eval)(text) }", []map[string]any{{"value": in.Expression}}
		}
		return got, several, c.cdp(ctx, on.session, "Runtime.callFunctionOn", how, &got, within)
	}
	how["expression"] = in.Expression
	if in.Function != "" {
		how["expression"] = "(" + in.Function + "\n)()"
	}
	return got, nil, c.cdp(ctx, on.session, "Runtime.evaluate", how, &got, within)
}

// inPage is an element of our world in the page's own.
func (c *call) inPage(ctx context.Context, e element) (element, error) {
	var node struct {
		Node struct {
			Backend int64 `json:"backendNodeId"`
		} `json:"node"`
	}
	if err := c.cdp(ctx, e.session, "DOM.describeNode", map[string]any{"objectId": e.object}, &node, quickly); err != nil {
		return e, err
	}
	return c.resolve(ctx, e, node.Node.Backend)
}

// resolve holds a node in the world of its page.
func (c *call) resolve(ctx context.Context, e element, backend int64) (element, error) {
	var got struct {
		Object remote `json:"object"`
	}
	err := c.cdp(ctx, e.session, "DOM.resolveNode", map[string]any{"backendNodeId": backend}, &got, quickly)
	e.object = got.Object.ObjectID
	return e, err
}

// frameDocument finds a frame by its id or by the ref of its iframe. The object is empty where
// the frame is the main one of its session.
func (c *call) frameDocument(ctx context.Context, frame string) (element, error) {
	target, err := c.page()
	if err != nil {
		return element{}, err
	}
	places, err := c.framePlaces(ctx, target)
	if err != nil {
		return element{}, err
	}
	id := messages.FrameID(frame)
	if r, ok := c.memory.ref(frame); ok {
		if id, err = c.frameOf(ctx, r); err != nil {
			return element{}, err
		}
	}
	for _, at := range places {
		if at.frame != id {
			continue
		}
		if at.frame == at.session || at.session == "" && string(at.frame) == string(target) {
			return element{place: at}, nil
		}
		backend, err := c.ownerOf(ctx, at.session, id)
		if err != nil {
			return element{}, err
		}
		var owner struct {
			Node struct {
				Document struct {
					Backend int64 `json:"backendNodeId"`
				} `json:"contentDocument"`
			} `json:"node"`
		}
		if err := c.cdp(ctx, at.session, "DOM.describeNode", map[string]any{"backendNodeId": backend}, &owner, quickly); err != nil {
			return element{}, err
		}
		return c.resolve(ctx, element{place: at}, owner.Node.Document.Backend)
	}
	// The node knows best why there is none.
	return element{place: place{target, id, id, ""}}, nil
}

// frameOf asks which frame an iframe element holds.
func (c *call) frameOf(ctx context.Context, r ref) (messages.FrameID, error) {
	var node struct {
		Node struct {
			FrameID messages.FrameID `json:"frameId"`
		} `json:"node"`
	}
	err := c.cdp(ctx, r.session, "DOM.describeNode", map[string]any{"backendNodeId": r.backend}, &node, quickly)
	if err == nil && node.Node.FrameID == "" {
		err = messages.Errorf(messages.CodeFrameNotFound, "the ref is of no iframe")
	}
	return node.Node.FrameID, err
}

// shownValue is a value of a page as a result.
func shownValue(v remote) outcome {
	data := evaluated{Type: v.Type}
	text := string(v.Value)
	switch {
	case v.Plain != "":
		text, data.Value = v.Plain, v.Plain
	case v.Type == "undefined":
		text = "undefined"
	case len(v.Value) > maxData:
		data.IsTruncated = true
	case len(v.Value) > 0:
		data.Value = v.Value
	}
	return outcome{text: cutMarked(text, maxText), data: data, isOfPage: true, spill: beyond(text, maxText), isSpillJSON: true}
}

// beyond is a text that is longer than n bytes, which is to be kept whole; nil where it is not.
func beyond(text string, n int) []byte {
	if len(text) <= n {
		return nil
	}
	return []byte(text)
}

// cutMarked shortens a text to n bytes, and says how much is left out.
func cutMarked(s string, n int) string {
	if len(s) <= n {
		return s
	}
	kept := strings.ToValidUTF8(s[:n], "")
	return fmt.Sprintf("%s\n[cut: %d of %d bytes shown]", kept, len(kept), len(s))
}

func runCDP(ctx context.Context, c *call, in cdpInput) (outcome, error) {
	r := messages.CDPRequest{Method: in.Method, FrameID: messages.FrameID(in.FrameID), TargetID: messages.TargetID(in.TargetID), TimeoutS: clampTimeout(in.TimeoutS)}
	if in.Params != nil {
		raw, err := json.Marshal(in.Params)
		if err != nil {
			return outcome{}, err
		}
		r.Params = raw
	}
	if in.Tab != "" {
		target, err := c.page()
		if err != nil {
			return outcome{}, err
		}
		if r.TargetID != "" && r.TargetID != target {
			return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "tab and target_id name different pages")
		}
		if r.FrameID == "" {
			r.TargetID = target
		}
	}
	if err := r.Validate(); err != nil {
		return outcome{}, err
	}
	res, err := c.node.CDP(ctx, c.task, r)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{text: cutMarked(string(res.Result), maxText), isOfPage: true, spill: beyond(string(res.Result), maxText), isSpillJSON: true}
	if len(res.Result) > maxRawData || !json.Valid(res.Result) {
		out.data = cdpOutput{IsTruncated: true}
	} else {
		out.data = cdpOutput{Result: json.RawMessage(bytes.TrimSpace(res.Result))}
	}
	return out, nil
}

// defaultConsole is how many console errors are shown unless more are asked for.
const defaultConsole = 20

func runConsole(_ context.Context, c *call, in consoleInput) (outcome, error) {
	snap, err := c.snapshot()
	if err != nil {
		return outcome{}, err
	}
	most := in.Max
	if most == 0 {
		most = defaultConsole
	}
	all := snap.ConsoleErrors
	shown := all[max(0, len(all)-most):]
	var text strings.Builder
	fmt.Fprintf(&text, "%d errors", len(all))
	if len(shown) < len(all) {
		fmt.Fprintf(&text, ", the newest %d", len(shown))
	}
	text.WriteString("\n")
	for _, e := range shown {
		fmt.Fprintf(&text, "- %s %s (%s)\n", e.Level, cut(e.Text, 300), cut(e.URL, 200))
	}
	if shown == nil {
		shown = []messages.ConsoleError{}
	}
	return outcome{text: strings.TrimSpace(text.String()), data: consoleOutput{shown}, isOfPage: true}, nil
}
