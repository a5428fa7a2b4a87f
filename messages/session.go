package messages

// LoginCode opens one session of the live page.
type LoginCode struct {
	Code      string  `json:"code"`
	ExpiresAt Seconds `json:"expires_at"`
}

// Session is a token that ends, of the live page.
type Session struct {
	Token     string  `json:"token"`
	ExpiresAt Seconds `json:"expires_at"`
}
