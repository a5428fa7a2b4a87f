package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"holdfast/internal/tools"
	"holdfast/messages"
)

func (h *Handler) listTools(w http.ResponseWriter, c *call) error {
	h.reply(w, c, http.StatusOK, tools.Info())
	return nil
}

func (h *Handler) callTool(w http.ResponseWriter, c *call) error {
	return h.runTool(w, c, c.PathValue("tool"))
}

func (h *Handler) runScript(w http.ResponseWriter, c *call) error {
	return h.runTool(w, c, "browser_run")
}

// runTool runs a tool with the body as its input.
func (h *Handler) runTool(w http.ResponseWriter, c *call, asked string) error {
	var input json.RawMessage
	if err := c.read(w, &input, tools.MaxInput, true); err != nil {
		return err
	}
	name := asked
	if _, ok := tools.Lookup(name); !ok {
		name = "" // the caller's text, which is not for the log
	}
	start := time.Now()
	res := h.cfg.Tools.Call(c.Context(), tools.Caller{Allows: c.caller.Allows}, c.id, asked, input)
	var err error
	if res.Error != nil {
		err = res.Error
	}
	c.caller.Audit(c.Context(), "tool", c.id, start, err, slog.String("tool", name))
	status := http.StatusOK
	if res.Error != nil {
		status = res.Code.Status()
		if after, ok := res.Error.Details["retry_after_s"].(int); ok {
			w.Header().Set("Retry-After", strconv.Itoa(after))
		}
	}
	h.reply(w, c, status, res)
	return nil
}

func (h *Handler) batch(w http.ResponseWriter, c *call) error {
	var req messages.BatchRequest
	if err := c.read(w, &req, tools.MaxInput, false); err != nil {
		return err
	}
	if err := req.Validate(); err != nil {
		return err
	}
	start := time.Now()
	res := h.cfg.Tools.Batch(c.Context(), tools.Caller{Allows: c.caller.Allows}, c.id, req)
	var err error
	if !res.OK {
		err = messages.Errorf(res.Code, "a step failed")
	}
	c.caller.Audit(c.Context(), "batch", c.id, start, err, slog.Int("steps", len(req.Steps)))
	h.reply(w, c, http.StatusOK, res)
	return nil
}
