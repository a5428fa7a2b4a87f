package logs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/logs"
	"holdfast/messages"
)

func open(t *testing.T, format string) (*slog.Logger, *bytes.Buffer, *slog.LevelVar) {
	t.Helper()
	var out bytes.Buffer
	level := new(slog.LevelVar)
	level.Set(slog.LevelDebug)
	return logs.New(&out, format, level), &out, level
}

// holder is a value with a secret inside, as structs of the house have.
type holder struct{ Header string }

// lazy resolves to text with a secret.
type lazy struct{}

func (lazy) LogValue() slog.Value { return slog.StringValue("password=hunter2hunter2") }

// broken panics when it is printed.
type broken struct{}

func (broken) Error() string { panic("ghp_abcdefghijklmnopqrst0123456789") }

func TestNothingSecretPasses(t *testing.T) {
	t.Parallel()
	u, err := messages.ParseCDPURL("wss://user:hunter2hunter2@cdp.example.com/devtools/browser/hunter2hunter2?token=hunter2hunter2")
	if err != nil {
		t.Fatal(err)
	}
	const secret = "hunter2hunter2"
	for name, write := range map[string]func(*slog.Logger){
		"message": func(l *slog.Logger) { l.Info("password=" + secret) },
		"string":  func(l *slog.Logger) { l.Info("m", "what", "token: "+secret) },
		"error":   func(l *slog.Logger) { l.Info("m", "err", errors.New("api_key="+secret)) },
		"wrapped URL error": func(l *slog.Logger) {
			l.Info("m", "err", &url.Error{Op: "Get", URL: "https://a:" + secret + "@h/x", Err: errors.New("x")})
		},
		"struct":         func(l *slog.Logger) { l.Info("m", "what", holder{"Authorization: Bearer " + secret}) },
		"pointer":        func(l *slog.Logger) { l.Info("m", "what", &holder{"Authorization: Bearer " + secret}) },
		"slice":          func(l *slog.Logger) { l.Info("m", "what", []string{"password=" + secret}) },
		"map":            func(l *slog.Logger) { l.Info("m", "what", map[string]any{"a": "secret: " + secret}) },
		"log valuer":     func(l *slog.Logger) { l.Info("m", "what", lazy{}) },
		"group":          func(l *slog.Logger) { l.Info("m", slog.Group("g", "what", "pwd="+secret)) },
		"With":           func(l *slog.Logger) { l.With("what", "token="+secret).Info("m") },
		"WithGroup":      func(l *slog.Logger) { l.WithGroup("g").With("what", "token="+secret).Info("m") },
		"cookies":        func(l *slog.Logger) { l.Info("m", "what", "Set-Cookie: sid="+secret+"; Path=/\nok") },
		"cookie in JSON": func(l *slog.Logger) { l.Info("m", "what", `{"Cookie":"a=`+secret+`"}`) },
		"bytes":          func(l *slog.Logger) { l.Info("m", "what", []byte(secret)) },
		"raw JSON":       func(l *slog.Logger) { l.Info("m", "what", json.RawMessage(`"`+secret+`"`)) },
		"a key that says so": func(l *slog.Logger) {
			for _, k := range []string{"token", "Token", "params", "result", "prompt_text", "text", "cookies", "cdp_url"} {
				l.Info("m", k, secret)
			}
		},
		"a CDP URL":             func(l *slog.Logger) { l.Info("m", "browser", u) },
		"a CDP URL in an error": func(l *slog.Logger) { l.Info("m", "err", fmt.Errorf("dial %s: refused", u.Reveal())) },
		"WebSocket URL":         func(l *slog.Logger) { l.Info("ws://h/devtools/browser/" + secret + "?k=" + secret) },
		"behind a long text": func(l *slog.Logger) {
			for n := 1000; n < 1030; n++ {
				l.Info("m", "what", strings.Repeat("x", n)+" password="+secret)
			}
			for n := 4080; n < 4100; n += 4 {
				l.Info("m", "what", "-----BEGIN RSA PRIVATE KEY-----"+strings.Repeat("y", n-1000)+"-----END RSA PRIVATE KEY-----"+strings.Repeat("x", 900)+" password="+secret)
			}
		},
	} {
		for _, format := range []string{"text", logs.JSON} {
			t.Run(name+" as "+format, func(t *testing.T) {
				t.Parallel()
				l, out, _ := open(t, format)
				write(l)
				if s := out.String(); s == "" || strings.Contains(s, secret) || strings.Contains(s, secret[:9]) {
					t.Errorf("%q", s)
				}
			})
		}
	}
}

func TestPlainValuesStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	l, out, _ := open(t, logs.JSON)
	l.Info("hello", "n", 7, "yes", true, "took", 1500*time.Millisecond, "task", "checkout-7", "err", error(nil),
		"stack", strings.Repeat("s", 5000), "long", strings.Repeat("é", 5000), "bad", broken{}, "utf", "a\xffb")
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for key, want := range map[string]any{
		"msg": "hello", "n": 7.0, "yes": true, "took_s": 1.5, "task": "checkout-7", "err": "", "utf": "a?b",
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	if n := len(line["stack"].(string)); n != 5000 {
		t.Errorf("%d bytes of a stack", n)
	}
	if s := line["long"].(string); len(s) > 1040 || !strings.HasSuffix(s, "é…") {
		t.Errorf("%d bytes of a long text: …%q", len(s), s[len(s)-10:])
	}
	if strings.Contains(out.String(), "ghp_abcdef") {
		t.Error(out)
	}
}

func TestLevelAndFormat(t *testing.T) {
	t.Parallel()
	l, out, level := open(t, "text")
	level.Set(slog.LevelWarn)
	l.Info("not said")
	level.Set(slog.LevelInfo) // as a reload does
	l.Info("said", "a", 1)
	if s := out.String(); strings.Contains(s, "not said") || !strings.Contains(s, "level=INFO msg=said a=1\n") {
		t.Errorf("%q", s)
	}
	if guarded := logs.Guard(l); guarded != l {
		t.Error("guarded twice")
	}
}

func TestWarningsThatGoOn(t *testing.T) {
	t.Parallel()

	t.Run("are said once, then once a minute with how many were not", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l, out, _ := open(t, "text")
			for range 3600 {
				l.Warn("it fails", "task", "a", "attempt", time.Now())
				time.Sleep(time.Second)
			}
			if n := strings.Count(out.String(), "it fails"); n != 60 {
				t.Errorf("%d lines in an hour", n)
			}
			if n := strings.Count(out.String(), "suppressed=59"); n != 59 {
				t.Errorf("%d lines say how many were left out", n)
			}
		})
	})

	t.Run("of each task and actor by itself", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l, out, _ := open(t, "text")
			for range 10 {
				for _, task := range []string{"a", "b", "c"} {
					l.Warn("it fails", "task", task)
					l.With("task", task).Warn("it fails too")
					l.With("task", task).Error("it fails too", "actor", "session")
				}
			}
			if n := strings.Count(out.String(), "\n"); n != 9 {
				t.Errorf("%d lines: %s", n, out)
			}
		})
	})

	t.Run("but no state change is ever left out, and no information", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l, out, _ := open(t, "text")
			for range 10 {
				l.Warn("task is recovering", "task", "a", "state", "recovering")
				l.With("state", "lost").Error("task is lost", "task", "a")
				l.Info("by the way")
			}
			if n := strings.Count(out.String(), "\n"); n != 30 {
				t.Errorf("%d lines: %s", n, out)
			}
		})
	})
}

func FuzzText(f *testing.F) {
	f.Add("password=hunter22 sk-abcdefghijklmnopqrstuv ws://h/x", "k")
	f.Add(strings.Repeat("é", 3000), "stack")
	f.Add("Cookie: \xff\xfe", "\x00")
	f.Fuzz(func(t *testing.T, text, key string) {
		l, out, _ := open(t, logs.JSON)
		l.Info(text, key, text, "e", errors.New(text))
		if out.Len() == 0 || out.Bytes()[out.Len()-1] != '\n' || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
			t.Fatalf("%q", out)
		}
		if !json.Valid(out.Bytes()) {
			t.Fatalf("no JSON: %q", out)
		}
	})
}
