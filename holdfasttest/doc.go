// Package holdfasttest gives tests a node on a fake browser.
//
// The browser is a program of ours in the same process: it speaks the protocol as Chromium
// does, has pages, frames and dialogs, and opens, crashes or disconnects them at a test's
// word. Nothing is launched and no port is opened, so it works in a
// [testing/synctest] bubble too.
//
//	node, browser := holdfasttest.Start(t)
//	task, err := node.Task(t.Context(), "checkout-7")
//	page := browser.Page()
//	d := browser.OpenDialog(page.Main(), messages.DialogPrompt, "Your name?", "")
//	_, err = task.Answer(t.Context(), messages.ActionAccept, messages.WithPromptText("Ada"))
package holdfasttest
