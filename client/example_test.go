package client_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"holdfast/client"
	"holdfast/messages"
)

// A program that drives a page of a node elsewhere, and answers what it asks.
func Example() {
	ctx := context.Background()
	c, err := client.New("http://127.0.0.1:7070", client.Options{Token: os.Getenv("HOLDFAST_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	task, err := c.Task(ctx, "checkout-7")
	if err != nil {
		log.Fatal(err)
	}
	_, err = task.Navigate(ctx, "https://example.com")
	if messages.CodeOf(err) == messages.CodeBlockedByDialog {
		_, err = task.Answer(ctx, messages.ActionDismiss)
	}
	if err != nil {
		log.Fatal(err)
	}
	snap, err := task.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(snap.PageState)
}
