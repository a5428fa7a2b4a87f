package messages_test

import (
	"strings"
	"testing"

	"holdfast/messages"
)

func TestNavigateSaysWhatWasMeant(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                           "url is missing",
		" \n":                        "url is missing",
		"example.com":                "did you mean https://example.com?",
		"example.com/cart?id=1":      "did you mean https://example.com/cart?",
		"//example.com/a":            "did you mean https://example.com/a?",
		"www.example.com:8443/a":     "did you mean https://www.example.com:8443/a?",
		"localhost:8080/a":           "did you mean http://localhost:8080/a?",
		"127.0.0.1:8080":             "did you mean http://127.0.0.1:8080?",
		"[::1]:8080/":                "did you mean http://[::1]:8080/?",
		"/cart":                      "must begin with a scheme",
		"#top":                       "must begin with a scheme",
		"user:pass@example.com":      "", // a scheme, as Chrome reads it
		"who are you":                "must begin with a scheme",
		"javascript:alert(1)":        "must not be a javascript: address",
		" JavaScript:alert(1)":       "must not be a javascript: address",
		"java\nscript:alert(1)":      "must not be a javascript: address",
		"\x01javascript:alert(1)":    "must not be a javascript: address",
		"view-source:javascript:1":   "must not be a javascript: address",
		"https://example.com":        "",
		"about:blank":                "",
		"data:text/html,hello":       "",
		"chrome://version":           "",
		"view-source:https://a.test": "",
		"file:///srv/a.html":         "",
	} {
		err := messages.NavigateRequest{URL: url}.Validate()
		switch {
		case want == "" && err == nil:
		case want == "" || messages.CodeOf(err) != messages.CodeInvalidArgument || !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
}

func FuzzNavigateRequest(f *testing.F) {
	for _, url := range []string{"example.com", "java\tscript:1", "//h", "view-source:view-source:JAVASCRIPT:", "https://u:p@h/?token=s3cr3t"} {
		f.Add(url, 5.0)
	}
	f.Fuzz(func(t *testing.T, url string, wait float64) {
		err := messages.NavigateRequest{URL: url, WaitS: &wait}.Validate()
		if err == nil {
			plain := strings.ToLower(strings.NewReplacer("\t", "", "\n", "", "\r", "", " ", "").Replace(url))
			if strings.HasPrefix(plain, "javascript:") || !strings.Contains(plain, ":") {
				t.Errorf("%q is taken", url)
			}
			return
		}
		if code := messages.CodeOf(err); code != messages.CodeInvalidArgument && code != messages.CodeMessageTooLarge {
			t.Errorf("%q: %v", url, err)
		}
		if len(err.Error()) > 400 {
			t.Errorf("%q: an error of %d bytes", url, len(err.Error()))
		}
	})
}
