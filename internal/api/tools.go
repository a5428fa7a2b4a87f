package api

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"holdfast/internal/tools"
)

func (h *Handler) listTools(w http.ResponseWriter, c *call) error {
	h.reply(w, c, http.StatusOK, tools.Info())
	return nil
}

func (h *Handler) callTool(w http.ResponseWriter, c *call) error {
	var input json.RawMessage
	if err := c.read(w, &input, tools.MaxInput, true); err != nil {
		return err
	}
	name := c.PathValue("tool")
	if _, ok := tools.Lookup(name); !ok {
		name = "" // the caller's text, which is not for the log
	}
	start := time.Now()
	res := h.cfg.Tools.Call(c.Context(), tools.Caller{Allows: c.caller.Allows}, c.id, c.PathValue("tool"), input)
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
