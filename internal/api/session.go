package api

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"holdfast/internal/token"
	"holdfast/messages"
)

const (
	// codeLife is how long a code for the live page is good for.
	codeLife = time.Minute
	// sessionLife is how long a session of the live page lasts.
	sessionLife = 12 * time.Hour
	// maxCodes bounds the codes that wait to be used; the oldest goes first.
	maxCodes = 64
)

// loginCodes are good once and for a minute, so that the address that carries one to the
// live page is worth nothing in a browser's history.
type loginCodes struct {
	mu   sync.Mutex
	open []code // by age
}

// code is kept by its hash: nothing in memory opens a session.
type code struct {
	hash  [sha256.Size]byte
	scope token.Scope
	end   time.Time
}

// add returns a new code for the scope.
func (c *loginCodes) add(s token.Scope, now time.Time) (string, time.Time) {
	text := rand.Text() // 128 bits
	end := now.Add(codeLife)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(now)
	if len(c.open) >= maxCodes {
		c.open = c.open[1:]
	}
	c.open = append(c.open, code{sha256.Sum256([]byte(text)), s, end})
	return text, end
}

// take uses a code up.
func (c *loginCodes) take(text string, now time.Time) (token.Scope, bool) {
	hash := sha256.Sum256([]byte(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropLocked(now)
	for i, one := range c.open {
		if one.hash == hash {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			return one.scope, true
		}
	}
	return token.Scope{}, false
}

func (c *loginCodes) dropLocked(now time.Time) {
	for len(c.open) > 0 && !now.Before(c.open[0].end) {
		c.open = c.open[1:]
	}
}

// newCode gives a code for the live page: a session that it opens is good for what
// the caller's token is good for.
func (h *Handler) newCode(w http.ResponseWriter, c *call) error {
	text, end := h.codes.add(c.scope, time.Now())
	h.reply(w, c, http.StatusCreated, messages.LoginCode{Code: text, ExpiresAt: messages.SecondsOf(end)})
	return nil
}

// newSession exchanges a code for a token that ends. The route is open: the code is
// what the caller has.
func (h *Handler) newSession(w http.ResponseWriter, c *call) error {
	var given messages.SessionRequest
	if err := c.read(w, &given, maxLogin, false); err != nil {
		return err
	}
	now := time.Now()
	scope, ok := h.codes.take(given.Code, now)
	if !ok {
		h.denied(c)
		return messages.Errorf(messages.CodeUnauthorized, "the code is not good: each is good once and for a minute; holdfast ui prints a new one")
	}
	end := now.Add(sessionLife).Truncate(time.Second)
	if e := scope.Ends(); !e.IsZero() && e.Before(end) {
		end = e
	}
	tok, err := h.cfg.Token.Until(scope, end)
	if err != nil {
		return err
	}
	h.reply(w, c, http.StatusCreated, messages.Session{Token: tok, ExpiresAt: messages.SecondsOf(end)})
	return nil
}

// maxLogin bounds the body that carries a code, in bytes.
const maxLogin = 1 << 10
