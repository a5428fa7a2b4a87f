package gate

import (
	"context"

	"holdfast/internal/shed"
	"holdfast/messages"
)

// OpenStream takes one of the event streams there may be. The context ends as that of
// [Caller.While] does; release gives the stream back. The error is a [messages.Error] with the
// code limit_reached.
func (c Caller) OpenStream(ctx context.Context) (stream context.Context, release func(), err error) {
	g := c.gate
	giveBack, ok := g.streams.Take(c.scope, 1)
	if !ok {
		g.cfg.Observer.Cut(shed.EventStreams)
		b := g.streams.Bounds()
		return nil, nil, messages.Errorf(messages.CodeLimitReached, "too many event streams are open: of %d a task's token has %d and a tenant's %d", b.All, b.Task, b.Tenant)
	}
	stream, stop := c.While(ctx)
	g.cfg.Observer.StreamOpened()
	return stream, func() {
		g.cfg.Observer.StreamClosed()
		stop()
		giveBack()
	}, nil
}

// While returns a context that ends with ctx, with the caller's token, or with the gate's
// streams, whatever comes first. It is for whatever outlasts one answer. Call stop once.
func (c Caller) While(ctx context.Context) (while context.Context, stop func()) {
	var cancel context.CancelFunc
	if end := c.scope.Ends(); end.IsZero() {
		while, cancel = context.WithCancel(ctx)
	} else {
		while, cancel = context.WithDeadline(ctx, end)
	}
	unhook := context.AfterFunc(c.gate.closing, cancel)
	return while, func() {
		unhook()
		cancel()
	}
}

// CloseStreams ends every stream and every one that is opened later. It may be called more
// than once.
func (g *Gate) CloseStreams() { g.close() }

// IsClosing says whether CloseStreams has been called.
func (g *Gate) IsClosing() bool { return g.closing.Err() != nil }
