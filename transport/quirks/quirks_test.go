package quirks_test

import (
	"encoding/json"
	"errors"
	"testing"

	"holdfast/messages"
	"holdfast/transport/quirks"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	chrome := func(text string) error { return messages.Errorf(messages.CodeCDPError, "%s", text) }
	missing := messages.Errorf(messages.CodeCDPError, "Invalid parameters").
		With("cdp", map[string]any{"code": int64(-32602), "data": json.RawMessage(`"Failed to deserialize params - CBOR: map start expected at position 0"`)})
	for _, c := range []struct {
		err       error
		want      quirks.Refusal
		isPassing bool
	}{
		{nil, quirks.None, false},
		{errors.New("Target crashed"), quirks.None, false},
		{messages.Errorf(messages.CodeUpstreamUnavailable, "Target crashed"), quirks.None, false},
		{chrome("Not attached to an active page"), quirks.InactivePage, false},
		{chrome("Session with given id not found."), quirks.SessionGone, true},
		{chrome("Target crashed"), quirks.TargetCrashed, true},
		{chrome("Target closed"), quirks.TargetClosed, true},
		{chrome("Inspected target navigated or closed"), quirks.TargetNavigated, true},
		{chrome("No dialog is showing"), quirks.NoDialog, false},
		{quirks.NoDialogError(), quirks.NoDialog, false},
		{missing, quirks.ParametersMissing, false},
		{chrome("Invalid parameters"), quirks.Unknown, false},
		{chrome("the page said: Target crashed"), quirks.Unknown, false},
	} {
		if got := quirks.Classify(c.err); got != c.want || got.IsPassing() != c.isPassing {
			t.Errorf("%v is %d, want %d", c.err, got, c.want)
		}
	}
}
