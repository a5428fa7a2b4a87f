// Package holdfast supervises browser tasks over the Chrome DevTools Protocol
// and never lets go: every JavaScript dialog is seen and can be answered,
// every frame can be reached, and a lost connection comes back by itself.
//
// A [Node] is the whole thing in one process:
//
//	node, err := holdfast.Start(ctx, holdfast.Config{})
//	if err != nil { … }
//	defer node.Stop(context.Background())
//
//	snap, _, err := node.GetOrStart(ctx, "checkout-7", messages.TaskSpec{})
//	_, err = node.Navigate(ctx, "checkout-7", messages.NavigateRequest{URL: "https://example.com"})
//	snap, err = node.Snapshot("checkout-7", messages.SnapshotOptions{})
//	_, err = node.Respond(ctx, "checkout-7", messages.DialogAnswer{Action: "accept"})
//
// The HTTP interface of the holdfast binary is a user of this API and of
// nothing else. Words and errors are those of package messages: every error
// is a [messages.Error] with a stable code.
package holdfast

import (
	"context"

	"holdfast/internal/node"
)

// Node supervises tasks. All methods are safe for concurrent use.
type Node = node.Node

// Config is what a node is made of. The zero value is usable.
type Config = node.Config

// Start starts a node. It ends the browsers first that an earlier node on this state
// directory left behind.
func Start(ctx context.Context, c Config) (*Node, error) { return node.Start(ctx, c) }
