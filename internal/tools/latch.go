package tools

import (
	"encoding/json"
	"regexp"
	"strings"

	"holdfast/messages"
)

// latch keeps the refs of a batch from being used after a step that may have made them stale
// (W9): the agent that wrote the batch had seen the page before that step. A new snapshot opens
// the latch.
type latch struct {
	// by is the tool that closed it; "" while it is open.
	by string
}

// fills are the tools that change values and nothing else, unless their result says more.
var fills = map[string]bool{"browser_type": true, "browser_fill_form": true, "browser_select_option": true, "browser_file_upload": true, "browser_hover": true, "browser_scroll": true}

// isBlocking says whether a step uses refs that may be stale by now.
func (l *latch) isBlocking(s messages.BatchStep) bool {
	return l.by != "" && hasRef(map[string]any(s.Input))
}

// note takes what became of a step. A step that failed may have changed the page as well.
func (l *latch) note(s messages.BatchStep, r *messages.ToolResult) {
	switch tool, ok := Lookup(s.Tool); {
	case !ok:
	case s.Tool == "browser_snapshot":
		if r.OK {
			l.by = ""
		}
	case tool.Hints.ReadOnly, s.Tool == "browser_tabs": // a ref knows its tab
	case fills[s.Tool] && s.Input["submit"] != true && isQuiet(r):
	case r.Code == messages.CodeInvalidArgument || r.Code == messages.CodeStaleRef:
		// nothing was done
	default:
		l.by = s.Tool
	}
}

// isQuiet says that an action has, as far as its result shows, done nothing beyond its element.
func isQuiet(r *messages.ToolResult) bool {
	var data struct {
		Outcome string `json:"outcome"`
	}
	text, err := json.Marshal(r.Data)
	if err != nil || json.Unmarshal(text, &data) != nil {
		data.Outcome = ""
	}
	return len(r.PendingDialogs) == 0 && (data.Outcome == "" || data.Outcome == "nothing")
}

// refText is a ref as a snapshot writes it.
var refText = regexp.MustCompile(`^\[?e[0-9]+\]?$`)

// hasRef says whether an input has a ref of a snapshot anywhere in it.
func hasRef(input any) bool {
	switch v := input.(type) {
	case map[string]any:
		for name, value := range v {
			if text, ok := value.(string); ok {
				if name == "ref" && text != "" || (name == "frame_id" || name == "target") && refText.MatchString(strings.TrimSpace(text)) {
					return true
				}
			} else if hasRef(value) {
				return true
			}
		}
	case messages.ToolInput:
		return hasRef(map[string]any(v))
	case []any:
		for _, value := range v {
			if hasRef(value) {
				return true
			}
		}
	}
	return false
}
