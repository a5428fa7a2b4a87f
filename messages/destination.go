package messages

import (
	"regexp"
	"strings"

	"holdfast/internal/redact"
)

// maxSuggested bounds an address that an error repeats, in bytes.
const maxSuggested = 200

var (
	schemeShape = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	hostShape   = regexp.MustCompile(`^(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:[/?#]|$)`)
	localShape  = regexp.MustCompile(`^(?i:localhost|127\.[0-9.]+|\[::1\])(?:[:/?#]|$)`)
)

// checkDestination refuses an address that no page can be sent to, and says which one
// was meant where that can be told. It reads what the browser would read: the URL
// standard drops spaces and control characters around an address, and tabs and line
// ends within it.
func checkDestination(raw string) error {
	address := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	address = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(address)
	if address == "" {
		return Errorf(CodeInvalidArgument, "url is missing")
	}
	for {
		rest, found := cutPrefixFold(address, "view-source:")
		if !found {
			break
		}
		address = rest
	}
	scheme := ""
	if m := schemeShape.FindStringSubmatch(address); m != nil {
		scheme = strings.ToLower(m[1])
	}
	switch {
	case scheme == "javascript":
		return Errorf(CodeInvalidArgument, "url must not be a javascript: address; run script with the raw CDP method Runtime.evaluate")
	case scheme != "" && !(hostShape.MatchString(address) && (scheme == "localhost" || strings.Contains(scheme, "."))):
		return nil
	}
	meant := strings.TrimPrefix(address, "//")
	if !hostShape.MatchString(meant) {
		return Errorf(CodeInvalidArgument, "url must begin with a scheme, as in https://example.com/")
	}
	if localShape.MatchString(meant) {
		meant = "http://" + meant
	} else {
		meant = "https://" + meant
	}
	if meant = redact.URL(meant); len(meant) > maxSuggested {
		return Errorf(CodeInvalidArgument, "url has no scheme; put https:// before it")
	}
	return Errorf(CodeInvalidArgument, "url has no scheme; did you mean %s?", meant)
}

func cutPrefixFold(s, prefix string) (rest string, found bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
