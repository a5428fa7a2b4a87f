package request

import (
	"context"
	"encoding/json"

	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"

	"holdfast/messages"
)

// Executor runs typed commands of cdproto by run.
func Executor(run func(ctx context.Context, method string, params any) (json.RawMessage, error)) cdp.Session {
	return executor(run)
}

type executor func(ctx context.Context, method string, params any) (json.RawMessage, error)

// Call implements cdp.Session. Its errors are [*messages.Error]s.
func (e executor) Call(ctx context.Context, method string, params, result any) error {
	raw, err := e(ctx, method, params)
	if err != nil || result == nil {
		return err
	}
	if err := jsonv2.Unmarshal(raw, result); err != nil {
		return messages.Errorf(messages.CodeCDPError, "the result of %s is not what cdproto expects", method)
	}
	return nil
}

// noEvents is not JSON, so that decoding it is an error and not silence.
const noEvents = "no protocol events come over an executor of Holdfast"

// Subscribe implements cdp.Session. Protocol events are out of an executor's reach: the
// one value is not JSON, so [cdp.Events] yields an error and ends.
func (executor) Subscribe(string) (events <-chan jsonv2.Value, cancel func()) {
	c := make(chan jsonv2.Value, 1)
	c <- jsonv2.Value(noEvents)
	close(c)
	return c, func() {}
}
