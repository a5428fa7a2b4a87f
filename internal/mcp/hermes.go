package mcp

import (
	"context"
	"strings"

	"holdfast/messages"
)

// hermes are the tools of the Hermes agent.
var hermes = []adapted{
	{name: "browser_navigate", runs: "browser_navigate", about: "Navigate to a URL. Starts the browser where none runs.", input: map[string]any{"url": text("")}, required: []string{"url"}},
	{
		name: "browser_snapshot", runs: "browser_snapshot", about: "Text snapshot of the page with refs, and its pending_dialogs, recent_dialogs and frame_tree.",
		input: map[string]any{"full": field("boolean", "the whole content")}, shape: hermesSnapshot,
	},
	{
		name: "browser_dialog", runs: "browser_dialog", about: "Respond to an open JavaScript dialog, which browser_snapshot shows in pending_dialogs.",
		input: map[string]any{"action": oneOf("accept", "dismiss"), "prompt_text": text("for a prompt"), "dialog_id": text("where several are open")}, required: []string{"action"},
	},
	{
		name: "browser_cdp", runs: "browser_cdp", about: "Send a raw Chrome DevTools Protocol command. frame_id runs it in an out-of-process iframe.",
		input:    map[string]any{"method": text(""), "params": field("object", ""), "target_id": text(""), "frame_id": text(""), "timeout": field("number", "seconds")},
		required: []string{"method"}, rename: map[string]string{"timeout": "timeout_s"},
	},
	{
		name: "browser_console", runs: "browser_console_messages", about: "The console's errors, or the value of a JavaScript expression.",
		input: map[string]any{"clear": field("boolean", ""), "expression": text("JavaScript to run instead")}, rename: map[string]string{"clear": ""}, fill: evaluates,
	},
	{name: "browser_back", runs: "browser_evaluate", about: "Go back in the history.", fill: back},
	{name: "browser_click", runs: "browser_click", about: "Click the element of a ref such as @e5.", input: map[string]any{"ref": text("")}, required: []string{"ref"}, fill: plainRef},
	{name: "browser_type", runs: "browser_type", about: "Clear the field of a ref and type a text into it.", input: map[string]any{"ref": text(""), "text": text("")}, required: []string{"ref", "text"}, fill: plainRef},
	{
		name: "browser_get_images", runs: "browser_evaluate", about: "List the page's images with their URLs and alt text.",
		fill: images, shape: hermesImages,
	},
	{
		name: "browser_vision", runs: "browser_take_screenshot", about: "A picture of the page for you to look at.",
		input:    map[string]any{"question": text("what you want to know"), "annotate": field("boolean", "labels are not drawn: browser_snapshot has the refs")},
		required: []string{"question"}, rename: map[string]string{"question": "", "annotate": ""},
	},
	{name: "browser_press", runs: "browser_press_key", about: "Press a key such as Enter.", input: map[string]any{"key": text("")}, required: []string{"key"}},
	{name: "browser_scroll", runs: "browser_scroll", about: "Scroll the page.", input: map[string]any{"direction": oneOf("up", "down")}, required: []string{"direction"}},
}

// evaluates runs an expression in place of reading the console.
func evaluates(_ context.Context, _ asking, in map[string]any) (string, error) {
	if in["expression"] != nil {
		return "browser_evaluate", nil
	}
	return "browser_console_messages", nil
}

// back goes back by the page's own history.
func back(_ context.Context, _ asking, in map[string]any) (string, error) {
	in["expression"] = "history.back()"
	return "browser_evaluate", nil
}

// plainRef takes the @ off a ref of Hermes'.
func plainRef(_ context.Context, _ asking, in map[string]any) (string, error) {
	if ref, ok := in["ref"].(string); ok {
		in["ref"] = strings.TrimPrefix(ref, "@")
	}
	return "", nil
}

// imagesScript lists a document's images, but for those that their address holds.
const imagesScript = `[...document.images].filter(i => i.src && !i.src.startsWith('data:')).slice(0, 500)
  .map(i => ({src: i.src.slice(0, 2000), alt: (i.alt || '').slice(0, 500), width: i.naturalWidth, height: i.naturalHeight}))`

func images(_ context.Context, _ asking, in map[string]any) (string, error) {
	in["expression"] = imagesScript
	return "", nil
}

// hermesImages is a list of images as Hermes gives it.
func hermesImages(r *messages.ToolResult) map[string]any {
	if r.Error != nil {
		return map[string]any{"success": false, "error": r.Error.Message}
	}
	data, _ := r.Data.(map[string]any)
	found, _ := data["value"].([]any)
	return map[string]any{"success": true, "images": found, "count": len(found)}
}

// hermesSnapshot is a snapshot with the fields that Hermes gives it.
func hermesSnapshot(r *messages.ToolResult) map[string]any {
	out := map[string]any{"success": r.OK, "snapshot": r.Text, "pending_dialogs": r.PendingDialogs}
	if r.Error != nil {
		out["error"] = r.Error.Message
	}
	if data, ok := r.Data.(map[string]any); ok {
		out["recent_dialogs"], out["frame_tree"] = data["recent_dialogs"], data["frame_tree"]
	}
	return out
}
