package redact_test

import (
	"math/rand/v2"
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
		"fetch /a?sid=abc&view=1 failed":         "fetch /a?sid=***&view=1 failed",
		"h/a?X-Amz-Signature=0ab;q=1#id_token=x": "h/a?X-Amz-Signature=***;q=1#id_token=***",
		"a?next=/b?auth=x":                       "a?next=/b?auth=***",
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
		if want := redact.Thorough(s); once != want {
			t.Errorf("Text(%q) = %q, want %q", s, once, want)
		}
		if twice := redact.Text(once); len(twice) > len(once)+len(redact.Mask)*8 {
			t.Errorf("%q grows to %q", once, twice)
		}
	})
}

// TestTextLooksAheadRightly puts pieces of secrets together in every way that
// chance finds, and compares with what the regular expressions find alone.
func TestTextLooksAheadRightly(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"-----BEGIN ", "RSA PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJ", "abcdefgh1234", "abcdefghijklmnop_-", ".", "\n", " ", "\t", "=", ":", "\"", "'",
		"sk-", "pk_", "rk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-", "npm_", "hf_", "xai-", "gsk_", "SG.", "dop_v1_",
		"bb_live_", "bb_test_", "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "ABCDEFGHIJKLMNOP", "AIza", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef", "ya29.", "Bearer", "bearer", "BASIC",
		"ba\u017fic", "to\u212aen", "pa\u017f\u017fword", "api", "key", "Key", "_", "-", "token", "SECRET", "password", "Passwd", "pwd", "?", "sid=", "&sig=", "#otp", "ws", "WSS", "http", "https", "://",
		"user", "@", "host/x", "w\u017f", "&", ",", ";", "hunter22", "monkey", "\xff", "é", "\x00",
	}
	r := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for range 30_000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		got, want := redact.Text(b.String()), redact.Thorough(b.String())
		if got != want {
			t.Fatalf("Text(%q) = %q, want %q", b.String(), got, want)
		}
		if got != b.String() {
			changed++
		}
	}
	if changed < 1000 {
		t.Errorf("only %d of the texts held a secret", changed)
	}
}

// BenchmarkText is what a console error of 480 characters without a secret
// costs.
func BenchmarkText(b *testing.B) {
	text := strings.Repeat("TypeError: x is not a function at http://a.test/app.js:12 ", 8)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		redact.Text(text)
	}
}
