package redact_test

import (
	"strings"
	"testing"

	"holdfast/internal/redact"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"": "",
		"ws://127.0.0.1:9222/devtools/browser/3f2a9c1e-1111-2222-3333-444455556666": "ws://127.0.0.1:9222/devtools/browser/***",
		"wss://user:secret@cdp.example.com/v1?token=abc#frag":                       "wss://***@cdp.example.com/v1?***#***",
		"ws://127.0.0.1:9222/devtools/browser/short":                                "ws://127.0.0.1:9222/devtools/browser/***",
		"http://localhost:9222":                                                     "http://localhost:9222",
		"http://localhost:9222/":                                                    "http://localhost:9222/",
		"https://h/AbCdEfGhIjKlMnOpQrStUv":                                          "https://h/***",
		"https://h/a1b2c3":                                                          "https://h/***",
		"not a url":                                                                 "***",
		"http://h/%zz":                                                              "***",
	} {
		if got := redact.URL(raw); got != want {
			t.Errorf("URL(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"sk-proj-abcdefghijklmnopqrstuvwx", "ghp_abcdefghijklmnopqrst0123456789", "AKIAABCDEFGHIJKLMNOP",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklmnop", "xoxb-1234567890-abcdefghij",
		"AIzaSyA1234567890abcdefghijklmnopqrstu",
	} {
		if got := redact.Text("before " + secret + " after"); strings.Contains(got, secret) || !strings.Contains(got, "before") || !strings.Contains(got, "after") {
			t.Errorf("Text shows %q as %q", secret, got)
		}
	}
	for text, want := range map[string]string{
		"password: hunter22":                     "password: ***",
		"Authorization: Bearer abcdefghijklmnop": "Authorization: ***",
		"api_key=abcdef99&x=1":                   "api_key=***&x=1",
		"csrf_token=abcdef99":                    "csrf_token=***",
		"DB_PASSWORD: hunter22":                  "DB_PASSWORD: ***",
		"aws_secret_access_key=abcdef99":         "aws_secret_access_key=***",
		"monkey: bananas":                        "monkey: bananas",
		"Are you sure you want to leave?":        "Are you sure you want to leave?",
		"see https://example.com/docs?page=2":    "see https://example.com/docs?page=2",
		"https://me:pw@example.com/x":            "https://***@example.com/x",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzURL(f *testing.F) {
	f.Add("ws://u:p@h:1/devtools/browser/abc?x#y")
	f.Add("http://[::1]:80/a/b")
	f.Add("//h/p")
	f.Fuzz(func(t *testing.T, raw string) {
		once := redact.URL(raw)
		if once != redact.Mask && once != "" && redact.URL(once) != once && redact.URL(once) != redact.Mask {
			t.Errorf("%q becomes %q, and that %q", raw, once, redact.URL(once))
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add("password=hunter22 sk-abcdefghijklmnopqrstuv ws://h/x")
	f.Add("-----BEGIN RSA PRIVATE KEY-----\nabc")
	f.Fuzz(func(t *testing.T, s string) {
		once := redact.Text(s)
		if twice := redact.Text(once); len(twice) > len(once)+len(redact.Mask)*8 {
			t.Errorf("%q grows to %q", once, twice)
		}
	})
}
