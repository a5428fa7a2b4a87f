package gate

import (
	"context"
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

// LoginCode returns a code that opens one session of the live page within a minute. The
// session is good for what the caller's token is good for.
func (c Caller) LoginCode() messages.LoginCode {
	text, end := c.gate.codes.add(c.scope, c.only, time.Now())
	return messages.LoginCode{Code: text, ExpiresAt: messages.SecondsOf(end)}
}

// Login exchanges a code for a token that lasts for twelve hours, or as long as the token of
// the code's giver. The error's code is unauthorized.
func (c Caller) Login(ctx context.Context, code string) (messages.Session, error) {
	now := time.Now()
	found, ok := c.gate.codes.take(code, now)
	if !ok {
		return messages.Session{}, c.Refuse(ctx, messages.Errorf(messages.CodeUnauthorized, "the code is not good: each is good once and for a minute; holdfast ui prints a new one"))
	}
	end := now.Add(sessionLife).Truncate(time.Second)
	if e := found.scope.Ends(); !e.IsZero() && e.Before(end) {
		end = e
	}
	scope := found.scope
	if found.task != "" {
		scope = token.TaskScope(found.task)
	}
	tok, err := c.gate.cfg.Token.Until(scope, end)
	if err != nil {
		return messages.Session{}, err
	}
	return messages.Session{Token: tok, ExpiresAt: messages.SecondsOf(end)}, nil
}
