package egress

import (
	"context"
	"net"
	"net/netip"
	"syscall"

	"holdfast/messages"
)

// MayNameBrowsers says whether the policy allows any browser to be named.
func (p *Policy) MayNameBrowsers() bool { return len(p.cdp.names)+len(p.cdp.prefixes) > 0 }

// DialBrowser connects to the host of a cdp_url that a scoped token has named. Redirects
// from it and endpoints that it names count too. It fits [net/http.Transport]'s
// DialContext.
func (p *Policy) DialBrowser(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrDenied
	}
	d := net.Dialer{Timeout: dialTimeout, Resolver: p.resolver}
	if !p.cdp.hasName(host, port) {
		d.Control = func(network, address string, _ syscall.RawConn) error {
			return judge(network, address, func(ip netip.Addr) error {
				if p.cdp.hasAddr(ip) {
					return nil
				}
				return ErrDenied
			})
		}
	}
	return d.DialContext(ctx, network, address)
}

// AllowsBrowser judges a cdp_url by its text: false where no connection could be
// allowed, whatever its host resolves to.
func (p *Policy) AllowsBrowser(host, port string) bool {
	if p.cdp.hasName(host, port) {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return p.cdp.hasAddr(ip)
	}
	return len(p.cdp.prefixes) > 0
}

// ErrBrowserDenied is the one answer to a scoped token whose cdp_url leads to no
// browser: what went wrong would tell what listens there.
func ErrBrowserDenied() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable,
		"no browser can be attached at this cdp_url; the node's log has the reason, and its operator allows hosts with egress.cdp_hosts")
}
