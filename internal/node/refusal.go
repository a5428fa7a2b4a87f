package node

import (
	"bytes"
	"encoding/json"
	"strings"

	"holdfast/messages"
)

// lifecycleMethod turns on what a navigation waits for, or off (C63).
const lifecycleMethod = "Page.setLifecycleEventsEnabled"

// keepsLifecycle says whether the command leaves the lifecycle events on. Only the one
// spelling passes that every reader of JSON takes for the same.
func keepsLifecycle(params json.RawMessage) bool {
	var plain bytes.Buffer
	return json.Compact(&plain, params) == nil && plain.String() == `{"enabled":true}`
}

// wantsParams recognises Chrome's words for a command without the parameters it needs.
func wantsParams(err error) bool {
	cdp, _ := detailsOf(err)["cdp"].(map[string]any)
	if cdp == nil || cdp["code"] != int64(-32602) {
		return false
	}
	data, _ := cdp["data"].(json.RawMessage)
	return messages.CodeOf(err) == messages.CodeCDPError && strings.Contains(string(data), "CBOR: map start expected")
}

// detailsOf are the details of an error that has some.
func detailsOf(err error) map[string]any {
	if e, ok := err.(*messages.Error); ok {
		return e.Details
	}
	return nil
}
