package mcp

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the time between two notes of progress.
const progressEvery = time.Second

// report tells the client that the call still runs, each second until stop is called. A
// client that gave no progress token is told nothing.
func report(ctx context.Context, req *sdk.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		every := time.NewTicker(progressEvery)
		defer every.Stop()
		for n := 1; ; n++ {
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
			note := &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(n),
				Message: fmt.Sprintf("%s has run for %d s", req.Params.Name, n),
			}
			if req.Session.NotifyProgress(ctx, note) != nil {
				return // the client has gone
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}
