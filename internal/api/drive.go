package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"holdfast/messages"
)

func (h *Handler) dialog(w http.ResponseWriter, c *call) error {
	var answer messages.DialogAnswer
	// A prompt's text arrives JSON-escaped, with up to six bytes for one.
	if err := c.read(w, &answer, maxBody+6*messages.MaxPromptText, false); err != nil {
		return err
	}
	if err := answer.Validate(); err != nil {
		return err
	}
	start := time.Now()
	closed, err := h.cfg.Node.Respond(c.Context(), c.id, answer)
	dialog := answer.DialogID
	if err == nil {
		dialog = closed.ID
	}
	c.caller.Audit(c.Context(), "dialog", c.id, start, err, slog.String("action", string(answer.Action)), slog.String("dialog", string(dialog)), slog.String("by", string(cmp.Or(answer.By, messages.AnswererAgent))))
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, messages.DialogReply{Dialog: closed})
	return nil
}

func (h *Handler) blocker(w http.ResponseWriter, c *call) error {
	var answer messages.BlockerAnswer
	if err := c.read(w, &answer, maxBody+6*messages.MaxHumanText, false); err != nil {
		return err
	}
	if err := answer.Validate(); err != nil {
		return err
	}
	start := time.Now()
	closed, err := h.cfg.Node.AnswerBlocker(c.Context(), c.id, answer)
	c.caller.Audit(c.Context(), "blocker", c.id, start, err, slog.String("action", string(answer.Action)), slog.String("blocker", string(answer.BlockerID)), slog.String("by", string(cmp.Or(answer.By, messages.AnswererAgent))))
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, messages.BlockerReply{Blocker: closed})
	return nil
}

func (h *Handler) navigate(w http.ResponseWriter, c *call) error {
	var req messages.NavigateRequest
	if err := c.read(w, &req, maxBody+messages.MaxURLLength, false); err != nil {
		return err
	}
	if err := req.Validate(); err != nil {
		return err
	}
	res, err := h.cfg.Node.Navigate(c.Context(), c.id, req)
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, res)
	return nil
}

func (h *Handler) chaos(w http.ResponseWriter, c *call) error {
	var req messages.KillRequest
	if err := c.read(w, &req, maxBody, false); err != nil {
		return err
	}
	if err := req.Kill.Validate(); err != nil {
		return err
	}
	res, err := h.cfg.Node.Kill(c.Context(), c.id, req.Kill)
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, res)
	return nil
}

func (h *Handler) recover(w http.ResponseWriter, c *call) error {
	var req messages.RecoverRequest
	if err := c.read(w, &req, maxBody, false); err != nil {
		return err
	}
	if err := req.Validate(); err != nil {
		return err
	}
	start := time.Now()
	res, err := h.cfg.Node.Recover(c.Context(), c.id, req)
	c.caller.Audit(c.Context(), "recover", c.id, start, err, slog.String("action", string(req.Action)), slog.String("target", string(req.TargetID)))
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusOK, res)
	return nil
}

var errNotJSON = errors.New("the browser's result is not JSON")

func (h *Handler) cdp(w http.ResponseWriter, c *call) error {
	var req messages.CDPRequest
	if err := c.read(w, &req, maxCDPBody, false); err != nil {
		return err
	}
	if err := req.Validate(); err != nil {
		return err
	}
	start := time.Now()
	res, err := h.cfg.Node.CDP(c.Context(), c.id, req)
	c.caller.Audit(c.Context(), "cdp", c.id, start, err, slog.String("method", req.Method), slog.String("target", string(req.TargetID)), slog.String("frame", string(req.FrameID)))
	if err != nil {
		return err
	}
	raw := res.Result
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if !json.Valid(raw) {
		return errNotJSON
	}
	// Written around the raw bytes: the encoder would copy and rewrite what
	// may be fifty megabytes.
	h.send(w, c, http.StatusOK, []byte(`{"result":`), raw, []byte("}\n"))
	return nil
}
