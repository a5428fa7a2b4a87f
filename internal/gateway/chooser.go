package gateway

import (
	"encoding/json"

	"holdfast/transport"
)

// methodGiveFiles gives files to a file input. A chooser that the task keeps closed for its agents is
// a blocker, which ends with the files of a client.
const methodGiveFiles = "DOM.setFileInputFiles"

// fileInput names a file input in one of three ways.
type fileInput struct {
	Object  string `json:"objectId,omitempty"`
	Node    int64  `json:"nodeId,omitempty"`
	Backend int64  `json:"backendNodeId,omitempty"`
}

// fileInputOf reads which file input a command is for.
func fileInputOf(params []byte) (in fileInput) {
	_ = json.Unmarshal(params, &in) // of others the browser says what is wrong
	return in
}

// hasGivenFiles says which file input the client has given files to: the blocker names it by the id
// that it has in its process.
func (c *client) hasGivenFiles(s *session, in fileInput) {
	tell := func(node int64) { c.hub.g.cfg.Node.FilesGiven(c.hub.id, s.target, node) }
	if in.Backend != 0 {
		tell(in.Backend)
		return
	}
	c.mu.Lock()
	link, to, isUp := c.link, s.link, c.isUpLocked(s)
	c.mu.Unlock()
	if !isUp {
		return
	}
	params, _ := json.Marshal(in) // always encodes
	link.Start(transport.Call{SessionID: to, Method: "DOM.describeNode", Params: params, IsGuest: true, Timeout: attachBudget, Done: func(r transport.Reply) {
		var described struct {
			Node struct {
				Backend int64 `json:"backendNodeId"`
			} `json:"node"`
		}
		if r.Err == nil && json.Unmarshal(r.Result, &described) == nil && described.Node.Backend != 0 {
			tell(described.Node.Backend)
		}
	}})
}
