package messages

// LoginCode opens one session of the live page.
type LoginCode struct {
	// Code is the code. It works once.
	Code string `json:"code"`
	// ExpiresAt is when it stops working, a minute after it was made.
	ExpiresAt Seconds `json:"expires_at"`
}

// SessionRequest exchanges a login code for a token.
type SessionRequest struct {
	// Code is that of a LoginCode.
	Code string `json:"code"`
}

// Session is a token of the live page, which expires.
type Session struct {
	// Token is the bearer token.
	Token string `json:"token"`
	// ExpiresAt is when it stops working.
	ExpiresAt Seconds `json:"expires_at"`
}
