// Command go buys something on a page that asks twice.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/url"
	"os"

	"holdfast/client"
	"holdfast/messages"
)

const (
	task = messages.TaskID("example-go")
	page = `<title>Shop</title><input aria-label=Name><button onclick="done.textContent =
confirm('Keep the cart?') && prompt('Coupon?') + ' for ' + document.querySelector('input').value">Buy</button><p id=done>`
)

func main() {
	if err := buy(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func buy(ctx context.Context) (err error) {
	node, err := client.New(cmp.Or(os.Getenv("HOLDFAST_NODE"), "http://127.0.0.1:7070"), client.Options{Token: os.Getenv("HOLDFAST_TOKEN")})
	if err != nil {
		return err
	}
	defer node.Close()
	rules := messages.DialogRules{{Type: messages.DialogConfirm, Message: "keep *", Action: messages.RuleAccept}}
	if _, _, err := node.GetOrStart(ctx, task, messages.TaskSpec{DialogRules: rules}); err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, node.StopTask(ctx, task)) }()

	if _, err := tool(ctx, node, "browser_navigate", map[string]any{"url": "data:text/html," + url.PathEscape(page)}); err != nil {
		return err
	}
	if _, err := tool(ctx, node, "browser_type", map[string]any{"selector": "input", "text": "Ada"}); err != nil {
		return err
	}
	clicked, err := tool(ctx, node, "browser_click", map[string]any{"role": "button", "name": "Buy"})
	if err != nil {
		return err
	}
	for _, d := range clicked.PendingDialogs {
		fmt.Println(d.Type, d.Message)
	}
	coupon := "SAVE10"
	if _, err := node.Respond(ctx, task, messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &coupon}); err != nil {
		return err
	}
	said, err := tool(ctx, node, "browser_evaluate", map[string]any{"expression": "done.textContent"})
	if err != nil {
		return err
	}
	fmt.Println(said.Data.(map[string]any)["value"])
	shot, err := tool(ctx, node, "browser_take_screenshot", nil)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	kept, err := node.ReadArtifact(ctx, task, shot.Artifacts[0].ArtifactID, &picture)
	if err != nil {
		return err
	}
	fmt.Println(shot.Artifacts[0].Kind, kept == shot.Artifacts[0].Size)
	snap, err := node.Snapshot(ctx, task, messages.SnapshotOptions{})
	if err != nil {
		return err
	}
	var closed []messages.ClosedBy
	for _, d := range snap.RecentDialogs {
		closed = append(closed, d.ClosedBy)
	}
	fmt.Println(closed)
	return nil
}

// tool runs a tool, whose failure is an error with a stable code.
func tool(ctx context.Context, node *client.Client, name string, input map[string]any) (*messages.ToolResult, error) {
	raw, err := json.Marshal(input)
	if err != nil || input == nil {
		raw = nil
	}
	result, err := node.CallTool(ctx, task, name, raw)
	if err != nil {
		return nil, err
	}
	if result.Error != nil {
		return nil, result.Error
	}
	return result, nil
}
