package api

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"holdfast/internal/gate"
	"holdfast/messages"
)

// MCP serves the node's tools over the Model Context Protocol. Its methods are safe for
// concurrent use.
type MCP interface {
	// Serve answers one request of streamable HTTP; body is the whole of it.
	Serve(w http.ResponseWriter, r *http.Request, body []byte, caller gate.Caller) error
}

// maxMCPBody bounds one message of MCP, in bytes: the input of a tool, and room around it.
const maxMCPBody = 4<<20 + 64<<10

// mcp serves one request of an MCP client.
func (h *Handler) mcp(w http.ResponseWriter, c *call) error {
	if h.cfg.MCP == nil {
		return messages.Errorf(messages.CodeNotFound, "this node does not speak MCP")
	}
	if err := c.takeBody(maxMCPBody); err != nil {
		return err
	}
	body, err := io.ReadAll(&bodyReader{r: http.MaxBytesReader(w, c.Body, maxMCPBody), limit: maxMCPBody, call: c})
	if err != nil {
		return err
	}
	_ = c.ctl.SetReadDeadline(time.Time{}) // it would cut the wait for the answer
	return h.cfg.MCP.Serve(w, c.Request, bytes.TrimSpace(body), c.caller)
}
