package redact

import "strings"

// marks are kinds of characters that stand in a text.
type marks uint8

const (
	dash marks = 1 << iota
	underscore
	dot
	assigns // a colon, or an equals sign
	space
	bigA
)

var markOf = [256]marks{
	'-': dash, '_': underscore, '.': dot, ':': assigns, '=': assigns, 'A': bigA,
	' ': space, '\t': space, '\n': space, '\f': space, '\r': space,
}

// marksOf looks at a text once: what is short and plain is done with then.
func marksOf(s string) (m marks) {
	for i := range len(s) {
		m |= markOf[s[i]]
	}
	return m
}

func contains(what string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, what) }
}

var (
	mayBeKeyBlock = contains("-----BEGIN ")
	mayBeWebToken = contains("eyJ")
)

// hasMatch calls found for every c in s until it returns true, and says whether it
// did.
func hasMatch(s string, c byte, found func(s string, at int) bool) bool {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], c)
		if n < 0 {
			return false
		}
		if i += n; found(s, i) {
			return true
		}
	}
}

func mayBeSecretKey(s string) bool {
	return hasMatch(s, 'k', func(s string, i int) bool {
		return i > 0 && i+1 < len(s) && (s[i+1] == '-' || s[i+1] == '_') && (s[i-1] == 's' || s[i-1] == 'p' || s[i-1] == 'r')
	})
}

func mayBeVendors(s string) bool {
	return hasMatch(s, '_', func(s string, i int) bool {
		return hasAnySuffix(s[:i], "ghp", "gho", "ghu", "ghs", "ghr", "github", "npm", "hf", "gsk", "dop", "bb")
	}) || hasMatch(s, '-', func(s string, i int) bool {
		return hasAnySuffix(s[:i], "glpat", "xapp", "xai") || i >= 4 && s[i-4:i-1] == "xox"
	}) || strings.Contains(s, "SG.")
}

func hasAnySuffix(s string, ends ...string) bool {
	for _, end := range ends {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}

func mayBeAmazons(s string) bool {
	return hasMatch(s, 'A', func(s string, i int) bool {
		if len(s)-i < 20 {
			return false
		}
		switch s[i : i+4] {
		case "AKIA", "ASIA", "AGPA", "AIDA", "AROA":
			return true
		}
		return false
	})
}

// hasOddLetter says whether s has one of the two characters that are an ASCII letter to
// a regular expression that does not tell upper from lower case, though they are
// none: the long s and the Kelvin sign.
func hasOddLetter(s string) bool {
	return strings.Contains(s, "\u017f") || strings.Contains(s, "\u212a")
}

func mayBeAuthorization(s string) bool {
	begins := func(s string, i int) bool { return hasPrefixFold(s[i:], "bearer") || hasPrefixFold(s[i:], "basic") }
	return hasMatch(s, 'b', begins) || hasMatch(s, 'B', begins) || hasOddLetter(s)
}

func mayBeNamed(s string) bool {
	return hasMatch(s, ':', isNamed) || hasMatch(s, '=', isNamed) || hasOddLetter(s)
}

// isNamed says whether a name of secrets stands before the colon, or the like,
// at s[i].
func isNamed(s string, i int) bool {
	i = backOverSpace(s, i)
	if i > 0 && (s[i-1] == '"' || s[i-1] == '\'') {
		i--
	}
	for _, name := range []string{"key", "token", "secret", "password", "passwd", "pwd"} {
		if hasPrefixFold(s[max(i-len(name), 0):i], name) {
			return true
		}
	}
	return false
}

// mayBeQuery says whether a pair of an address's query or fragment is in s.
func mayBeQuery(s string) bool {
	const longest = 60
	return hasMatch(s, '=', func(s string, i int) bool {
		from := i - 1
		for from >= 0 && i-from <= longest && isOfName(s[from]) {
			from--
		}
		return from >= 0 && from < i-1 && strings.IndexByte("?&#;", s[from]) >= 0
	})
}

// isOfName says whether a name in a query may have the character.
func isOfName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.%[]-", c) >= 0
}

func backOverSpace(s string, i int) int {
	for i > 0 {
		switch s[i-1] {
		case ' ', '\t', '\n', '\f', '\r':
			i--
		default:
			return i
		}
	}
	return i
}

func mayBeCredentialURL(s string) bool {
	return hasMatch(s, ':', func(s string, i int) bool {
		if !strings.HasPrefix(s[i:], "://") {
			return false
		}
		switch {
		case hasPrefixFold(s[max(i-2, 0):i], "ws"), hasPrefixFold(s[max(i-3, 0):i], "wss"):
			return true
		}
		return strings.IndexByte(s[i:], '@') > 0
	}) || hasOddLetter(s)
}

// hasPrefixFold is strings.HasPrefix without regard to the case of ASCII
// letters. Prefix is in lower case.
func hasPrefixFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}
