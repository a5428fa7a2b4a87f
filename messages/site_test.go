package messages_test

import (
	"testing"

	"holdfast/messages"
)

func TestSiteOf(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://www.shop.example.com:8443/pay?x=1": "https://example.com",
		"https://a.co.uk":         "https://a.co.uk",
		"https://deep.a.co.uk/":   "https://a.co.uk",
		"http://127.0.0.1:9222/":  "http://127.0.0.1",
		"http://[::1]:80/":        "http://::1",
		"http://localhost:3000/x": "http://localhost",
		"about:blank":             "",
		"data:text/html,x":        "",
		"null":                    "",
		"":                        "",
		"http://%zz/":             "",
	} {
		if got := messages.SiteOf(raw); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}
