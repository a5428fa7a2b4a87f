package command

import (
	"bytes"
	"encoding/json"

	"holdfast/messages"
)

// lifecycleMethod turns on what a navigation waits for, or off (C63).
const lifecycleMethod = "Page.setLifecycleEventsEnabled"

// doesKeepLifecycle says whether the command leaves the lifecycle events on. Only the one
// spelling passes that every reader of JSON takes for the same.
func doesKeepLifecycle(params json.RawMessage) bool {
	var plain bytes.Buffer
	return json.Compact(&plain, params) == nil && plain.String() == `{"enabled":true}`
}

// detailsOf are the details of an error that has some.
func detailsOf(err error) map[string]any {
	if e, ok := err.(*messages.Error); ok {
		return e.Details
	}
	return nil
}
