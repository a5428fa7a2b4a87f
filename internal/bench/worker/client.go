package worker

import (
	"context"
	"fmt"

	"holdfast/internal/bench/stage"
)

// Client is a way to hold connections to browsers.
type Client interface {
	// Open connects to a place and returns when its page can be used.
	Open(ctx context.Context, p stage.Place) (Page, error)
	// Close lets everything go.
	Close()
}

// Page is what Open returns. Its methods are called one at a time.
type Page interface {
	// Evaluate evaluates 1+1 and checks the answer.
	Evaluate(ctx context.Context) error
	// Call sends a command that the client knows nothing of; params is a JSON
	// object. It returns when the reply has come.
	Call(ctx context.Context, method string, params map[string]any) error
}

// Dialogs is implemented by pages that can tell of dialogs.
type Dialogs interface {
	// Arm prepares for the next dialog. Seen waits for it and returns when
	// the client's user could know of it, on [stage.Now]'s clock; answer
	// accepts it.
	Arm(ctx context.Context) (seen func() (int64, error), answer func() error, err error)
}

// Changer is implemented by pages that keep what events change.
type Changer interface {
	// Expect prepares for events of the kind [stage.Changes] up to the serial
	// number last; reached waits until the client's user can see the last two.
	Expect(ctx context.Context, place stage.Place, first, last int) (reached func() error, err error)
}

// Options are for clients that have any.
type Options struct {
	// Links is how many connections a task has: 1 or 2.
	Links int
	// Bridge is what holds a page that asks: [Debugger] or [Request], or [Native] for
	// no bridge; "" leaves it to the task.
	Bridge string
	// Node is where a node serves, and Token opens it; for the client over HTTP.
	Node, Token string
	// Profile is where profiles go, if anywhere.
	Profile string
	// Tasks is about how many there will be.
	Tasks int
}

// Names of the clients written in Go.
const (
	Floor    = "floor"
	Reader   = "reader"
	Holdfast = "holdfast"
	HTTP     = "holdfast-http"
	Chromedp = "chromedp"
	Rod      = "rod"
	Mafredri = "mafredri"
)

// What holds a page that asks.
const (
	Native   = "native"
	Debugger = "debugger"
	Request  = "request"
)

func newClient(name string, o Options) (Client, error) {
	switch name {
	case Floor:
		return &floor{}, nil
	case Reader:
		return &floor{canReuse: true}, nil
	case Holdfast:
		return newHoldfast(o)
	case HTTP:
		return newOverHTTP(o)
	case Chromedp:
		return &chromedpClient{}, nil
	case Rod:
		return &rodClient{}, nil
	case Mafredri:
		return &mafredriClient{}, nil
	}
	return nil, fmt.Errorf("no client is called %s", name)
}
