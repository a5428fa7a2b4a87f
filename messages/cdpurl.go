package messages

import (
	"log/slog"
	"net/url"

	"holdfast/internal/redact"
)

// CDPURL is the address of a browser and at the same time its key: a client that knows it
// can drive the browser. The zero value means "none". However it is printed, logged or
// encoded it shows its redacted form; only [CDPURL.Reveal] gives the raw one, and only the
// dialer calls it. Compare with [CDPURL.Equal].
//
// The raw URL stands behind a pointer because fmt prints unexported fields of
// other structs without asking their methods: there it shows an address.
type CDPURL struct{ raw *string }

// MaxCDPURLLength bounds a CDP URL, in bytes.
const MaxCDPURLLength = 8192

// ParseCDPURL accepts ws, wss, http and https URLs with a host. An empty
// string is the zero value. The error never repeats the URL.
func ParseCDPURL(s string) (CDPURL, error) {
	if s == "" {
		return CDPURL{}, nil
	}
	if len(s) > MaxCDPURLLength {
		return CDPURL{}, Errorf(CodeInvalidArgument, "cdp_url is longer than %d bytes", MaxCDPURLLength)
	}
	u, err := url.Parse(s)
	if err != nil {
		return CDPURL{}, Errorf(CodeInvalidArgument, "cdp_url is not a URL")
	}
	switch u.Scheme {
	case "ws", "wss", "http", "https":
	default:
		return CDPURL{}, Errorf(CodeInvalidArgument, "cdp_url must begin with ws://, wss://, http:// or https://")
	}
	if u.Hostname() == "" {
		return CDPURL{}, Errorf(CodeInvalidArgument, "cdp_url has no host")
	}
	return CDPURL{raw: &s}, nil
}

// Reveal returns the raw URL. For the dialer only.
func (u CDPURL) Reveal() string {
	if u.raw == nil {
		return ""
	}
	return *u.raw
}

// Equal says whether both are the same raw URL.
func (u CDPURL) Equal(v CDPURL) bool { return u.Reveal() == v.Reveal() }

// IsZero says whether there is no URL.
func (u CDPURL) IsZero() bool { return u.raw == nil }

// String returns the redacted form.
func (u CDPURL) String() string { return redact.URL(u.Reveal()) }

// GoString keeps %#v from showing the field.
func (u CDPURL) GoString() string { return "CDPURL(" + u.String() + ")" }

// LogValue implements slog.LogValuer.
func (u CDPURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText writes the redacted form; it makes encoding/json safe.
func (u CDPURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads and checks a raw URL. One that is empty is refused: a caller whose
// variable is not set would have a browser launched instead of attaching to its own.
func (u *CDPURL) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		return Errorf(CodeInvalidArgument, "cdp_url is empty: leave it out to have a browser launched")
	}
	parsed, err := ParseCDPURL(string(b))
	if err != nil {
		return err
	}
	*u = parsed
	return nil
}
