//go:build !linux

package browser

import "context"

// BecomeSubreaper does nothing: only Linux gives orphans to another process than the
// system's first. That one reaps them; on Windows no process needs reaping.
func BecomeSubreaper() error { return nil }

// ReapOrphans waits for the end of ctx: no orphan becomes a child of this process.
func ReapOrphans(ctx context.Context) { <-ctx.Done() }
