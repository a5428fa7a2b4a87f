package redact

import (
	"net/url"
	"regexp"
	"strings"
)

// Mask replaces whatever was hidden.
const Mask = "***"

// URL returns raw with user information, query, fragment and every path
// segment that looks like a token masked. The scheme, the host, the port and
// the plain words of the path stay readable. A URL that does not parse is
// hidden whole, since there is no telling what is in it.
func URL(raw string) string {
	if raw == "" {
		return ""
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return Mask
	}
	var b strings.Builder
	b.WriteString(u.Scheme)
	b.WriteString("://")
	if u.User != nil {
		b.WriteString(Mask + "@")
	}
	b.WriteString(u.Host)
	path := strings.Split(u.Path, "/")
	for i, seg := range path {
		if i > 0 {
			b.WriteByte('/')
		}
		// What follows /devtools/browser or /devtools/page is an id, whatever it
		// looks like.
		isID := i > 1 && path[i-2] == "devtools" && seg != ""
		if isPlainWord(seg) && !isID {
			b.WriteString(seg)
		} else {
			b.WriteString(Mask)
		}
	}
	if u.RawQuery != "" || u.ForceQuery {
		b.WriteString("?" + Mask)
	}
	if u.Fragment != "" {
		b.WriteString("#" + Mask)
	}
	return b.String()
}

// isPlainWord tells a readable path segment (devtools, browser, v1) from one
// that may be a session id or a token. A browser's own id is a credential:
// whoever knows it drives the browser.
func isPlainWord(seg string) bool {
	if len(seg) > 16 {
		return false
	}
	digits := 0
	for _, r := range seg {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '_', r == '.':
		case r >= '0' && r <= '9':
			digits++
		default:
			return false
		}
	}
	return digits <= 2
}

// secretShapes are the forms of credential that page text is searched for.
// The list errs on the side of well-known prefixes: a false hit costs the
// agent a word, a miss costs the user a key.
var secretShapes = []*regexp.Regexp{
	// Private keys, whole block or its beginning.
	regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`),
	// JSON web tokens.
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`),
	// Vendor prefixes: OpenAI, Anthropic, Stripe, GitHub, GitLab, Slack, AWS, Google, npm, Hugging Face, SendGrid, xAI, Groq.
	regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|hf_|xai-|gsk_|SG\.|dop_v1_|bb_(?:live|test)_)[A-Za-z0-9_.-]{12,}`),
	regexp.MustCompile(`\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b`),
	regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`),
	regexp.MustCompile(`\bya29\.[A-Za-z0-9_-]{16,}`),
	// Authorization values.
	regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/_.=-]{12,}`),
}

// namedSecret finds `password: hunter2` and its relatives (csrf_token, DB_PASSWORD),
// however their names begin; only the value is
// masked, so that the text stays understandable.
var namedSecret = regexp.MustCompile(`(?i)((?:api|access|auth|secret|private|client|session|refresh|id)[-_ ]?key|\bkey|token|secret|password|passwd|pwd)(["']?\s*[:=]\s*["']?)([^\s"'&,;<>]{6,})`)

// credentialURL finds URLs that carry a user, a password or a CDP endpoint.
var credentialURL = regexp.MustCompile(`(?i)\b(?:wss?://[^\s"'<>]+|https?://[^\s"'<>/@]+:[^\s"'<>/@]+@[^\s"'<>]+)`)

// Text returns s with everything that looks like a secret masked: vendor
// keys, JSON web tokens, private keys, authorization values, `name=value`
// pairs whose name says secret, WebSocket URLs and URLs with a password.
// It is safe for concurrent use.
func Text(s string) string {
	if len(s) < 8 {
		return s
	}
	for _, re := range secretShapes {
		s = re.ReplaceAllLiteralString(s, Mask)
	}
	s = namedSecret.ReplaceAllString(s, "${1}${2}"+Mask)
	return credentialURL.ReplaceAllStringFunc(s, URL)
}
