package messages

import "context"

// Caller says who asks the node for something. The zero value is the holder of
// the admin token, or a program that uses the Go API.
type Caller struct {
	// IsScoped is true for the holder of a task's or a tenant's token: what it
	// may reach is bounded by the node's policy.
	IsScoped bool
	// Tenant is the name of a tenant's token, "" for any other.
	Tenant string
}

type callerKey struct{}

// WithCaller returns a context that carries the caller of a request to the node.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller that ctx carries, the zero value where it carries none.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
