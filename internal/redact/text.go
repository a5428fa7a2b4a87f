package redact

import (
	"regexp"
	"strings"
)

// shape is one form of secret.
type shape struct {
	// needs are marks of which every match has one.
	needs marks
	// may says whether re can match s at all. It looks for what every match has,
	// and is a hundred times as fast: a page that complains to its console as
	// fast as it can is read with regular expressions only where one can match.
	may func(s string) bool
	re  *regexp.Regexp
	// mask returns s without the secrets.
	mask func(re *regexp.Regexp, s string) string
}

// shapes are the forms of credential that page text is searched for, in this
// order. The list errs on the side of well-known prefixes: a false hit costs the
// agent a word, a miss costs the user a key.
var shapes = []shape{
	// Private keys, whole block or its beginning.
	{dash, mayBeKeyBlock, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`), hide},
	// JSON web tokens.
	{dot, mayBeWebToken, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), hide},
	// Vendor prefixes: OpenAI, Anthropic, Stripe, GitHub, GitLab, Slack, AWS, Google, npm, Hugging Face, SendGrid, xAI, Groq.
	{dash | underscore, mayBeSecretKey, regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}`), hide},
	{dash | underscore | dot, mayBeVendors, regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|hf_|xai-|gsk_|SG\.|dop_v1_|bb_(?:live|test)_)[A-Za-z0-9_.-]{12,}`), hide},
	{bigA, mayBeAmazons, regexp.MustCompile(`\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b`), hide},
	{bigA, contains("AIza"), regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`), hide},
	{dot, contains("ya29."), regexp.MustCompile(`\bya29\.[A-Za-z0-9_-]{16,}`), hide},
	// Authorization values.
	{space, mayBeAuthorization, regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/_.=-]{12,}`), hide},
	// `password: hunter2` and its relatives (csrf_token, DB_PASSWORD), however
	// their names begin; only the value is masked, so that the text stays
	// understandable.
	{
		assigns, mayBeNamed,
		regexp.MustCompile(`(?i)((?:api|access|auth|secret|private|client|session|refresh|id)[-_ ]?key|\bkey|token|secret|password|passwd|pwd)(["']?\s*[:=]\s*["']?)([^\s"'&,;<>]{6,})`),
		func(re *regexp.Regexp, s string) string { return re.ReplaceAllString(s, "${1}${2}"+Mask) },
	},
	// Values of addresses whose names say so, as [PageURL] knows them: a text may hold an address
	// without its beginning.
	{
		assigns, mayBeQuery,
		regexp.MustCompile(`[?&#;][A-Za-z0-9_.%\[\]-]{1,60}=[^\s"'<>&#;?]+`),
		func(re *regexp.Regexp, s string) string { return re.ReplaceAllStringFunc(s, maskPair) },
	},
	// URLs that carry a user, a password or a CDP endpoint.
	{
		assigns, mayBeCredentialURL,
		regexp.MustCompile(`(?i)\b(?:wss?://[^\s"'<>]+|https?://[^\s"'<>/@]+:[^\s"'<>/@]+@[^\s"'<>]+)`),
		func(re *regexp.Regexp, s string) string { return re.ReplaceAllStringFunc(s, URL) },
	},
}

// maskPair masks the value of a pair with its separator in front, if its name is one of secrets.
func maskPair(pair string) string {
	name, _, _ := strings.Cut(pair[1:], "=")
	if !isSecretName(name) {
		return pair
	}
	return pair[:1] + name + "=" + Mask
}

func hide(re *regexp.Regexp, s string) string { return re.ReplaceAllLiteralString(s, Mask) }

// Text returns s with everything that looks like a secret masked: vendor
// keys, JSON web tokens, private keys, authorization values, `name=value`
// pairs whose name says secret, such values of addresses, WebSocket URLs and URLs with a password.
// It is safe for concurrent use.
func Text(s string) string {
	if len(s) < 8 {
		return s
	}
	has := marksOf(s)
	for i := range shapes {
		if f := &shapes[i]; f.needs&has != 0 && f.may(s) {
			s = f.mask(f.re, s)
			has = marksOf(s)
		}
	}
	return s
}
