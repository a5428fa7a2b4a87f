package view

import (
	"bytes"
	"encoding/json"
	"strings"

	"holdfast/messages"
)

// Target is one target as the browser describes it.
type Target struct {
	ID      messages.TargetID
	Type    string
	Context string
	Opener  messages.TargetID
	Info    []byte // the whole description, a JSON object
}

// ReadTarget reads a target's description; false where it names none.
func ReadTarget(info []byte) (Target, bool) {
	var t struct {
		ID      messages.TargetID `json:"targetId"`
		Type    string            `json:"type"`
		Context string            `json:"browserContextId"`
		Opener  messages.TargetID `json:"openerId"`
	}
	if json.Unmarshal(info, &t) != nil || t.ID == "" {
		return Target{}, false
	}
	return Target{ID: t.ID, Type: t.Type, Context: t.Context, Opener: t.Opener, Info: info}, true
}

// Of a target, whether the client is attached: the supervisor always is, and chromedp takes
// no target for new that is attached to. The text cannot stand in a string of the JSON, where
// its quotes are escaped.
var (
	attachedText = []byte(`"attached":true`)
	freeText     = []byte(`"attached":false`)
)

// info is the description of a target as this client is given it.
func (v *View) info(t *Target) []byte {
	for _, s := range v.sessions {
		if s.target == t.ID {
			return bytes.Replace(t.Info, freeText, attachedText, 1)
		}
	}
	return bytes.Replace(t.Info, attachedText, freeText, 1)
}

// nested are the types of targets that have a parent: the browser's own session never
// attaches to them.
var nested = map[string]bool{"iframe": true, "worker": true, "browser": true, "auction_worklet": true, "shared_storage_worklet": true}

// isWorker says whether a target of that type has one global object from its start to its end.
func isWorker(kind string) bool {
	return strings.HasSuffix(kind, "worker") || strings.HasSuffix(kind, "worklet")
}

// filter is a TargetFilter: the first entry that fits a target decides.
type filter []struct {
	Type    *string `json:"type"`
	Exclude bool    `json:"exclude"`
}

// usual is the filter where a client names none.
var usual = func() filter {
	var f filter
	if err := json.Unmarshal([]byte(`[{"type":"browser","exclude":true},{"type":"tab","exclude":true},{}]`), &f); err != nil {
		panic("view: " + err.Error()) // a constant
	}
	return f
}()

// HasTabs says whether a command is about tabs among other targets, by its filter.
func HasTabs(method string, params []byte) bool {
	switch method {
	case "Target.setDiscoverTargets", "Target.setAutoAttach", "Target.getTargets":
	default:
		return false
	}
	var p struct {
		Filter filter `json:"filter"`
	}
	return json.Unmarshal(orObject(params), &p) == nil && p.Filter.hasMatch(&Target{Type: "tab"})
}

func (f filter) hasMatch(t *Target) bool {
	if f == nil {
		f = usual
	}
	for _, e := range f {
		if e.Type == nil || *e.Type == t.Type {
			return !e.Exclude
		}
	}
	return false
}
