package redact

import (
	"net/url"
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

// isPlainWord tells a readable path segment (devtools, browser, v1) from one that may be a
// session id or a token. A browser's own id is a credential: a client that knows it can
// drive the browser.
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
