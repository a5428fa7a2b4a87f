package gate

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"holdfast/messages"
)

// Hosts is the set of names a request may be addressed to, besides the loopback ones. A page that a
// browser loaded from elsewhere can reach a loopback port by rebinding its own
// name to 127.0.0.1, but it cannot change the Host header that goes with it
// (X14).
type Hosts map[string]bool

// NewHosts returns the set of the names and addresses, whose ports do not count.
func NewHosts(allowed []string) Hosts {
	h := make(Hosts, len(allowed))
	for _, name := range allowed {
		// A bare IPv6 address, as a container is told its own, is all colons.
		if _, err := netip.ParseAddr(name); err != nil {
			name, _ = splitPort(name)
		}
		h[strings.ToLower(name)] = true
	}
	return h
}

// Check refuses a request for another host, or from a page of another origin. A WebSocket's
// upgrade is held to the same rule. The error's code is forbidden; nil is none.
func (h Hosts) Check(r *http.Request) *messages.Error {
	if !h.allow(r.Host) {
		return messages.Errorf(messages.CodeForbidden, "this Host is not served: use a loopback address, or allow the name")
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	// A page of https asks a node without TLS through a proxy that ends it: one that
	// serves a name which the operator has allowed, and not loopback.
	name, _ := splitPort(r.Host)
	isStranger := r.TLS == nil && strings.HasPrefix(origins[0], "https:") && !h[strings.ToLower(name)]
	if len(origins) > 1 || isStranger || !isSameHost(origins[0], r.Host) {
		return messages.Errorf(messages.CodeForbidden, "requests from other origins are refused")
	}
	return nil
}

func (h Hosts) allow(hostport string) bool {
	name, ok := splitPort(hostport)
	if !ok {
		return false
	}
	if h[strings.ToLower(name)] {
		return true
	}
	return isLoopback(name)
}

// isLoopback says whether a host name or address, without a port, is one that
// only this machine reaches.
func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// splitPort parts a host from its port, where it has one, and takes the
// brackets off an IPv6 address. It is stricter than net.SplitHostPort about
// what a port is and laxer about its absence.
func splitPort(hostport string) (name string, ok bool) {
	name, port := hostport, ""
	if strings.HasPrefix(hostport, "[") {
		end := strings.IndexByte(hostport, ']')
		if end < 0 {
			return "", false
		}
		name, port = hostport[1:end], hostport[end+1:]
		if _, err := netip.ParseAddr(name); err != nil {
			return "", false
		}
	} else if colon := strings.IndexByte(hostport, ':'); colon >= 0 {
		name, port = hostport[:colon], hostport[colon:]
	}
	if name == "" {
		return "", false
	}
	if port == "" {
		return name, true
	}
	if port[0] != ':' || len(port) > 6 {
		return "", false
	}
	for _, c := range port[1:] {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return name, true
}

// isSameHost says whether an Origin is that of the host itself, ports included. "null", which
// a sandboxed page sends, never is.
func isSameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	var port string
	switch u.Scheme {
	case "http":
		port = ":80"
	case "https":
		port = ":443"
	default:
		return false
	}
	withPort := func(s string) string {
		if name, ok := splitPort(s); ok && (s == name || s == "["+name+"]") {
			return s + port
		}
		return s
	}
	return u.Host != "" && strings.EqualFold(withPort(u.Host), withPort(host))
}

// IsCrossSite says whether a browser sends the request for a page of another site: as
// an image, a script, or by fetch with no-cors, which have no Origin. Programs that
// are no browsers send no such header.
func IsCrossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return true
}
