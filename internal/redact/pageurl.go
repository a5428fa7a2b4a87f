package redact

import (
	"net/url"
	"strings"
)

// PageURL returns the address of a page with its secrets masked. Secrets are user
// information, and values of query and fragment whose names say so. The rest stays as it
// was, so the address stays readable. An address without such a part is returned as it is,
// at the cost of three searches.
func PageURL(raw string) string {
	hasUser := strings.IndexByte(raw, '@') >= 0
	if !hasUser && strings.IndexByte(raw, '=') < 0 {
		return raw
	}
	begin := strings.Index(raw, "://")
	if begin < 0 {
		return raw // data:, about: and their like have neither
	}
	begin += len("://")
	end := len(raw)
	if i := strings.IndexAny(raw[begin:], "/?#\\"); i >= 0 {
		end = begin + i
	}
	var b strings.Builder
	b.WriteString(raw[:begin])
	if at := strings.LastIndexByte(raw[begin:end], '@'); at >= 0 {
		b.WriteString(Mask)
		begin += at
	}
	b.WriteString(raw[begin:end])
	rest := raw[end:]
	query := strings.IndexAny(rest, "?#")
	if query < 0 {
		b.WriteString(rest)
		return b.String()
	}
	b.WriteString(rest[:query])
	for rest = rest[query:]; rest != ""; {
		// One separator, and what goes up to the next.
		next := strings.IndexAny(rest[1:], "?#&;")
		pair := rest[1:]
		if next >= 0 {
			pair = rest[1 : 1+next]
		}
		b.WriteByte(rest[0])
		rest = rest[1+len(pair):]
		name, value, ok := strings.Cut(pair, "=")
		if ok && value != "" && isSecretName(name) {
			b.WriteString(name + "=" + Mask)
		} else {
			b.WriteString(pair)
		}
	}
	return b.String()
}

// secretNames are words that names of secrets hold, without what parts words.
var secretNames = []string{
	"token", "secret", "password", "passwd", "pwd", "apikey", "accesskey", "authkey", "privatekey", "clientkey", "sessionkey", "credential",
	"signature", "jwt", "bearer", "sessionid", "authorization",
}

// isSecretName says whether the value beside such a name is likely a secret.
func isSecretName(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_' || r == '.' || r == ' ' || r == '[' || r == ']' || r == '/' || r == '!':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
	switch name {
	case "key", "sig", "sid", "auth", "pass", "otp", "pin":
		return true
	}
	for _, s := range secretNames {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}
