package mail

import (
	"encoding/json"

	"holdfast/messages"
)

// TaskMemory is what another node has to know of a task to take it over: which pages are its
// own, and what must not be forgotten.
type TaskMemory struct {
	// Version is at most what the task had published.
	Version uint64 `json:"version"`
	// Browser tells the browser process from another one behind the same address.
	Browser string                  `json:"browser,omitempty"`
	Context string                  `json:"context,omitempty"`
	Current messages.TargetID       `json:"current,omitempty"`
	Pages   []messages.Page         `json:"pages"`
	Open    []messages.Dialog       `json:"open,omitempty"`
	Recent  []messages.ClosedDialog `json:"recent,omitempty"`
	// Wanted is what agents have set in pages, in the words of actors/session/wanted.
	Wanted json.RawMessage `json:"wanted,omitempty"`
}

// Resumed is a task that continues here after another node.
type Resumed struct {
	Memory TaskMemory
	// IsWithheld says that the node may not decide for it yet.
	IsWithheld bool
	// IsStandby says that another node has the task still. Off are the pages that it frees now.
	IsStandby bool
	Off       []messages.TargetID
}
