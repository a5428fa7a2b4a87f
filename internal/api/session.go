package api

import (
	"net/http"

	"holdfast/messages"
)

// newCode gives a code for the live page: a session that it opens is good for what
// the caller's token is good for.
func (h *Handler) newCode(w http.ResponseWriter, c *call) error {
	h.reply(w, c, http.StatusCreated, c.caller.LoginCode())
	return nil
}

// newSession exchanges a code for a token that ends. The route is open: the code is
// what the caller has.
func (h *Handler) newSession(w http.ResponseWriter, c *call) error {
	var given messages.SessionRequest
	if err := c.read(w, &given, maxLogin, false); err != nil {
		return err
	}
	s, err := c.caller.Login(c.Context(), given.Code)
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusCreated, s)
	return nil
}

// maxLogin bounds the body that carries a code, in bytes.
const maxLogin = 1 << 10
