package holdfast_test

import (
	"context"
	"fmt"
	"log"

	"holdfast"
	"holdfast/messages"
)

// A program that drives a page and answers what it asks.
func Example() {
	ctx := context.Background()
	node, err := holdfast.Start(ctx, holdfast.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)

	const task = "checkout-7"
	if _, _, err := node.GetOrStart(ctx, task, messages.TaskSpec{}); err != nil {
		log.Fatal(err)
	}
	// A dialog that opens while the page loads ends the navigation at once.
	_, err = node.Navigate(ctx, task, messages.NavigateRequest{URL: "https://example.com"})
	if err != nil && messages.CodeOf(err) != messages.CodeBlockedByDialog {
		log.Fatal(err)
	}
	snap, err := node.Snapshot(task, messages.SnapshotOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range snap.PendingDialogs {
		fmt.Println(d.Type, d.Message, "asked by frame", d.FrameID)
		if _, err := node.Respond(ctx, task, messages.DialogAnswer{Action: messages.ActionDismiss, DialogID: d.ID}); err != nil {
			log.Fatal(err)
		}
	}
}

// Watching shows each state change once, in order, and can be taken up again
// where it was left.
func ExampleNode_Watch() {
	ctx := context.Background()
	node, err := holdfast.Start(ctx, holdfast.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)
	if _, _, err := node.GetOrStart(ctx, "watched", messages.TaskSpec{}); err != nil {
		log.Fatal(err)
	}
	events, err := node.Watch(ctx, "watched", 0, false)
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	for {
		batch, err := events.Next(ctx)
		if err != nil { // io.EOF after the last event of a task that has ended
			return
		}
		for _, e := range batch {
			fmt.Println(e.Version, e.Type)
		}
	}
}
