package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/messages"
)

// fence marks a page's text. A page does not know its letters, and so cannot write its end.
type fence struct{ begin, end string }

func newFence() fence {
	letters := strings.ToLower(rand.Text()[:5])
	return fence{"<page-" + letters + ">", "</page-" + letters + ">"}
}

// shown is a result as clients get it: words for a model, what a program needs, and pictures.
func (s *server) shown(r *messages.ToolResult, own messages.TaskID) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: !r.OK, Content: []sdk.Content{&sdk.TextContent{Text: s.words(r, own)}}}
	plain := *r
	plain.Artifacts = make([]messages.Artifact, len(r.Artifacts))
	for i, a := range r.Artifacts {
		if picture, err := base64.StdEncoding.DecodeString(a.Base64); err == nil && len(picture) > 0 && strings.HasPrefix(a.MIMEType, "image/") {
			out.Content = append(out.Content, &sdk.ImageContent{Data: picture, MIMEType: a.MIMEType})
			a.Base64 = ""
		}
		plain.Artifacts[i] = a
	}
	if r.Error != nil && r.Error.Details["pending_dialogs"] != nil {
		short := *r.Error
		short.Details = maps.Clone(short.Details)
		delete(short.Details, "pending_dialogs") // the result has them
		plain.Error = &short
	}
	structured, err := encode(plain)
	if err != nil {
		structured = json.RawMessage(`{"ok":false,"category":"internal","code":"internal"}`) // data that is no JSON: a mistake of ours
		out.IsError = true
	}
	out.StructuredContent = structured
	return out
}

// words is what a model reads: what it must know first, then what it asked for.
func (s *server) words(r *messages.ToolResult, own messages.TaskID) string {
	var b strings.Builder
	if r.Code != "" {
		fmt.Fprintf(&b, "Error %s\n", r.Code)
	}
	if p := r.Page; p != nil && p.PageState != "" && p.PageState != messages.PageOK && !strings.Contains(r.Text, "PAGE STATE "+string(p.PageState)) {
		fmt.Fprintf(&b, "Page state: %s\n", p.PageState)
	}
	for _, d := range r.PendingDialogs {
		if strings.Contains(r.Text, "DIALOG "+string(d.ID)+" ") {
			continue // the tool has said it
		}
		fmt.Fprintf(&b, "Open dialog %s, %s: %s. Answer with %s.\n", d.ID, d.Type, s.quoted(d.Message), s.answerer())
	}
	for _, d := range r.Blockers {
		if d.Type == messages.BlockerHuman || strings.Contains(r.Text, "BLOCKER "+string(d.ID)+" ") {
			continue
		}
		fmt.Fprintf(&b, "Blocker %s, %s: %s.", d.ID, d.Type, s.quoted(d.Message))
		if tool := s.unblocker(d.Type); tool != "" {
			b.WriteString(" Answer with " + tool + ".")
		}
		b.WriteString("\n")
	}
	if r.Untrusted && r.Text != "" {
		fmt.Fprintf(&b, "%s\n%s\n%s\n", s.fence.begin, r.Text, s.fence.end)
	} else if r.Text != "" {
		b.WriteString(r.Text + "\n")
	}
	head := "Next:\n"
	for _, a := range r.NextActions {
		if a, ok := s.offered(a); ok && !r.OK {
			b.WriteString(head + next(a, own) + "\n")
			head = ""
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxQuoted bounds a page's words within a line of ours, in bytes.
const maxQuoted = 500

// quoted is a page's words in one line, marked.
func (s *server) quoted(text string) string {
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return s.fence.begin + strings.Join(strings.Fields(text), " ") + s.fence.end
}

// offered is a call that helps as a call of a tool that clients are offered; ok is false where
// there is none.
func (s *server) offered(a messages.NextAction) (_ messages.NextAction, ok bool) {
	if a.Tool == answerTool && s.answerer() == handleTool {
		input := messages.ToolInput{"accept": fmt.Sprint(a.Input["action"]) == string(messages.ActionAccept)}
		return messages.NextAction{Tool: handleTool, Input: input, Why: a.Why}, true
	}
	return a, s.hasTool(a.Tool)
}

// next is a call that helps, in one line. The client's own task need not be named.
func next(a messages.NextAction, own messages.TaskID) string {
	input := maps.Clone(a.Input)
	if fmt.Sprint(input["task"]) == string(own) {
		delete(input, "task")
	}
	text, err := encode(input)
	if err != nil {
		text = json.RawMessage("{}")
	}
	line := a.Tool + " " + string(text)
	if a.Why != "" {
		line += " (" + a.Why + ")"
	}
	return line
}

// encode is v as JSON, with < and > as they are.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// checked are the fields of a result that a client needs to check it.
var checked = []string{"ok", "text", "code", "data"}

// shortened is an output schema with what a client needs to check a result, and no more: the
// definitions of all tools are read by a model before it does anything.
func shortened(schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	short := map[string]any{}
	for _, name := range checked {
		if of, ok := properties[name].(map[string]any); ok && of["type"] != nil {
			short[name] = map[string]any{"type": of["type"]}
		}
	}
	return map[string]any{"type": "object", "properties": short, "required": []string{"ok", "text"}}
}
