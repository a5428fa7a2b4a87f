package holdfast_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"holdfast"
	"holdfast/messages"
)

// A program that drives a page and answers what it asks.
func Example() {
	ctx := context.Background()
	node, err := holdfast.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)

	task, err := node.Task(ctx, "checkout-7", messages.WithDialogPolicy(messages.PolicyMustRespond))
	if err != nil {
		log.Fatal(err)
	}
	// A dialog that opens while the page loads ends the navigation at once.
	_, err = task.Navigate(ctx, "https://example.com")
	if err != nil && holdfast.CodeOf(err) != messages.CodeBlockedByDialog {
		log.Fatal(err)
	}
	snap, err := task.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range snap.PendingDialogs {
		fmt.Println(d.Type, d.Message, "asked by frame", d.FrameID)
		if _, err := task.Answer(ctx, messages.ActionDismiss, messages.ToDialog(d.ID)); err != nil {
			log.Fatal(err)
		}
	}
}

// Every typed command of cdproto runs on a task's page.
func ExampleTask_Executor() {
	ctx := context.Background()
	node, err := holdfast.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)
	task, err := node.Task(ctx, "typed")
	if err != nil {
		log.Fatal(err)
	}
	var current cdp.Session = task.Executor("")
	if _, err := cdp.Call(ctx, current, page.Navigate, page.NavigateParams{URL: "https://example.com"}); err != nil {
		log.Fatal(err)
	}
	res, err := cdp.Call(ctx, current, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.title"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(res.Result.Value))
}

// The events show each state change once, in order.
func ExampleTask_Events() {
	ctx := context.Background()
	node, err := holdfast.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)
	task, err := node.Task(ctx, "watched")
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range task.Events(ctx) {
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Version, e.Type)
	}
}
