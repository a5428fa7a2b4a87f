package logs

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"unicode/utf8"

	"holdfast/internal/redact"
)

// What is left of a text, in bytes: of a message or an attribute, and of a
// goroutine's stack.
const (
	maxText  = 1024
	maxStack = 8192
	keyStack = "stack"
)

// secretKeys name what is never shown, whatever it looks like: no call site
// has a reason to log it.
var secretKeys = map[string]bool{
	"token": true, "password": true, "authorization": true, "cookie": true, "cookies": true, "secret": true,
	"cdp_url": true, "params": true, "result": true, "body": true, "prompt_text": true, "default_prompt": true,
	"text": true, "user_input": true,
}

// clean returns a as it may be written. What is no plain value becomes text:
// only of that it can be told what is in it.
func clean(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	if secretKeys[strings.ToLower(a.Key)] {
		return slog.String(a.Key, redact.Mask)
	}
	limit := maxText
	if a.Key == keyStack {
		limit = maxStack
	}
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, text(v.String(), limit))
	case slog.KindGroup:
		members := make([]slog.Attr, len(v.Group()))
		for i, m := range v.Group() {
			members[i] = clean(m)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(members...)}
	case slog.KindDuration:
		return slog.Float64(inSeconds(a.Key), v.Duration().Seconds())
	case slog.KindAny:
		return slog.String(a.Key, text(describe(v.Any()), limit))
	default:
		return slog.Attr{Key: a.Key, Value: v}
	}
}

// inSeconds is the key of a duration: every one is written in seconds, as the API
// does it.
func inSeconds(key string) string {
	if strings.HasSuffix(key, "_s") {
		return key
	}
	return key + "_s"
}

// describe prints a value. Bytes are data, so it prints only their number.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case error:
		return fmt.Sprint(v) // survives an Error method that panics
	case fmt.Stringer:
		return fmt.Sprint(v)
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case json.RawMessage:
		return fmt.Sprintf("%d bytes", len(v))
	}
	return fmt.Sprint(v)
}

// cookies finds header lines whose every value is a secret.
var cookies = regexp.MustCompile(`(?i)\b((?:set-)?cookie["']?\s*[:=]\s*)[^\r\n]{4,}`)

// text masks before it cuts, so that no half of a secret is missed.
func text(s string, limit int) string {
	scan := 4 * limit // masking is linear in the text
	partial := len(s) > scan
	if partial {
		s = cut(s, scan)
	}
	s = redact.Text(s)
	s = cookies.ReplaceAllString(s, "${1}"+redact.Mask)
	if partial && len(s) <= limit {
		// So much was masked that the cut shows, and what it went through may not
		// have been known for what it was.
		s = s[:max(0, strings.LastIndexAny(s, " \t\r\n"))] + "…"
	}
	if len(s) > limit {
		s = cut(s, limit) + "…"
	}
	return strings.ToValidUTF8(s, "?")
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
