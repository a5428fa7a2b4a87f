package redact_test

import (
	"strings"
	"testing"

	"holdfast/internal/redact"
)

func TestPageURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                   "",
		"about:blank":                        "about:blank",
		"https://example.com/a?b=c#d":        "https://example.com/a?b=c#d",
		"https://u:pw@example.com/a@b?c=d@e": "https://***@example.com/a@b?c=d@e",
		"https://u@example.com":              "https://***@example.com",
		"https://a@b@example.com/":           "https://***@example.com/",
		"https://example.com/?q=1&api_key=hunter2&x=2":             "https://example.com/?q=1&api_key=***&x=2",
		"https://example.com/?API-Key=hunter2":                     "https://example.com/?API-Key=***",
		"https://example.com/?api%5Fkey=hunter2":                   "https://example.com/?api%5Fkey=***",
		"https://example.com/cb#access_token=abc&state=1":          "https://example.com/cb#access_token=***&state=1",
		"https://example.com/?a=1#/route?token=abc&b=2":            "https://example.com/?a=1#/route?token=***&b=2",
		"https://example.com/?user[password]=abc;sid=1":            "https://example.com/?user[password]=***;sid=***",
		"https://example.com/?X-Amz-Signature=0ab&Key-Pair-Id=K":   "https://example.com/?X-Amz-Signature=***&Key-Pair-Id=K",
		"https://example.com/?token=":                              "https://example.com/?token=",
		"https://example.com/?monkey=1&keyboard=2&author=x":        "https://example.com/?monkey=1&keyboard=2&author=x",
		"https://example.com?token=a=b=c":                          "https://example.com?token=***",
		"blob:https://u:p@example.com/1":                           "blob:https://***@example.com/1",
		"data:text/html,<a href=x@y>":                              "data:text/html,<a href=x@y>",
		"file:///home/a@b/c":                                       "file:///home/a@b/c",
		"https://example.com/?next=https://u:p@other.com/?token=x": "https://example.com/?next=https://u:p@other.com/?token=***",
	} {
		if got := redact.PageURL(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// FuzzPageURL: what is masked is masked once for all, and nothing else is changed.
func FuzzPageURL(f *testing.F) {
	for _, s := range []string{"https://u:p@h/?token=x#key=y", "a://b@", "://@", "x://?=&&;#", "https://h/?\xff=1&token=\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := redact.PageURL(raw)
		if again := redact.PageURL(got); again != got {
			t.Errorf("%q, then %q", got, again)
		}
		if got != raw && !strings.Contains(got, redact.Mask) {
			t.Errorf("%q became %q", raw, got)
		}
	})
}
