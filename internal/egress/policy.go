package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"

	"holdfast/messages"
)

// ErrDenied is the error of a connection that the policy denies.
var ErrDenied = errors.New("denied by the node's egress policy")

// DefaultSchemes are the schemes of addresses that scoped tokens may open where
// nothing else is configured.
var DefaultSchemes = []string{"http", "https", "about", "data", "blob"}

// Rules are a policy as it is configured. A host is a name, a name with a leading
// "*." for all below it, an IP address, or a CIDR prefix.
type Rules struct {
	Schemes  []string // empty: DefaultSchemes
	Allow    []string // hosts that may be reached though they are not public
	Deny     []string // hosts that may not be reached though they are public
	CDPHosts []string // hosts of browsers that tasks may attach to; a name may have a port
}

// Policy decides what a scoped token may reach. It is immutable.
type Policy struct {
	schemes     []string
	allow, deny hosts
	cdp         hosts
	public      *ssrf.Guardian
	resolver    *net.Resolver
}

// Parse returns the policy of the rules. The error names the list and the number
// of the item, never its text.
func Parse(r Rules) (*Policy, error) {
	p := &Policy{schemes: r.Schemes, resolver: net.DefaultResolver}
	if len(p.schemes) == 0 {
		p.schemes = DefaultSchemes
	}
	for i, s := range p.schemes {
		if s == "" || strings.ToLower(s) != s || strings.ContainsFunc(s, isNoScheme) {
			return nil, &RuleError{"schemes", fmt.Sprintf("item %d is no scheme: write it in small letters and without its colon", i+1)}
		}
	}
	for _, l := range []struct {
		name     string
		items    []string
		to       *hosts
		hasPorts bool
	}{{"allow", r.Allow, &p.allow, false}, {"deny", r.Deny, &p.deny, false}, {"cdp_hosts", r.CDPHosts, &p.cdp, true}} {
		for i, item := range l.items {
			if !l.to.canAdd(item, l.hasPorts) {
				return nil, &RuleError{l.name, fmt.Sprintf("item %d is neither a host name, nor an IP address, nor a CIDR prefix", i+1)}
			}
		}
	}
	var v4, v6 []netip.Prefix
	for _, prefix := range p.allow.prefixes {
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix)
		} else {
			v6 = append(v6, prefix)
		}
	}
	p.public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return p, nil
}

// RuleError says which list of the rules is wrong, and how.
type RuleError struct{ List, What string }

// Error implements error.
func (e *RuleError) Error() string { return e.List + ": " + e.What }

func isNoScheme(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
}

// hosts is a list of hosts by name and by address.
type hosts struct {
	names    []string // "a.test", "*.a.test"; with ":port" where one was given
	prefixes []netip.Prefix
}

func (h *hosts) canAdd(item string, ports bool) bool {
	if ip, err := netip.ParseAddr(item); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		h.prefixes = append(h.prefixes, netip.PrefixFrom(ip, ip.BitLen()))
		return true
	}
	if prefix, err := netip.ParsePrefix(item); err == nil && !prefix.Addr().Is4In6() {
		h.prefixes = append(h.prefixes, prefix.Masked())
		return true
	}
	name, port, hasPort := strings.Cut(item, ":")
	if hasPort {
		if n, err := strconv.ParseUint(port, 10, 16); !ports || err != nil || n == 0 {
			return false
		}
		port = ":" + port
	}
	bare := strings.TrimPrefix(name, "*.")
	ascii, err := idna.Lookup.ToASCII(bare)
	if err != nil || ascii == "" || strings.ContainsAny(ascii, "/*@ ") || isNumeric(ascii) {
		return false
	}
	h.names = append(h.names, strings.TrimSuffix(name, bare)+strings.ToLower(ascii)+port)
	return true
}

// hasName says whether the list has the name, alone or with the port.
func (h *hosts) hasName(name, port string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	return slices.ContainsFunc(h.names, func(n string) bool {
		n, at, isPort := strings.Cut(n, ":")
		if isPort && at != port {
			return false
		}
		if below, ok := strings.CutPrefix(n, "*"); ok {
			return strings.HasSuffix(name, below) && len(name) > len(below)
		}
		return n == name
	})
}

func (h *hosts) hasAddr(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	return slices.ContainsFunc(h.prefixes, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// checkAddr judges an address that a name has led to.
func (p *Policy) checkAddr(ip netip.Addr) error {
	ip = ip.Unmap()
	if ip.Zone() != "" || p.deny.hasAddr(ip) {
		return ErrDenied
	}
	if p.allow.hasAddr(ip) {
		return nil
	}
	if p.public.SafeAddr(ip) != nil || isOwnAddress(ip) {
		return ErrDenied
	}
	return nil
}

// isOwnAddress is true for the addresses of this machine, which lead to what
// listens on it as loopback does, public or not.
func isOwnAddress(ip netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return true // it cannot be ruled out
	}
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == ip
	})
}

// control is a net.Dialer's: it judges the address that is about to be connected to.
func (p *Policy) control(network, address string, _ syscall.RawConn) error {
	return judge(network, address, p.checkAddr)
}

func judge(network, address string, check func(netip.Addr) error) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" {
		return ErrDenied
	}
	return check(at.Addr())
}

const (
	dialTimeout    = 20 * time.Second
	resolveTimeout = 3 * time.Second
)

// Dial connects to a host that a page asks for. Its error is [ErrDenied] or a
// network's own.
func (p *Policy) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || p.deny.hasName(host, port) {
		return nil, ErrDenied
	}
	d := net.Dialer{Timeout: dialTimeout, Resolver: p.resolver}
	if !p.allow.hasName(host, port) {
		d.Control = p.control
	}
	return d.DialContext(ctx, network, address)
}

// CheckURL judges the scheme of an address that a caller names, and its host where
// that is an address. What it cannot see is where a name leads: see [Policy.CheckPage].
func (p *Policy) CheckURL(raw string) error {
	_, err := p.checkURL(raw)
	return err
}

// CheckPage is CheckURL, and judges every address that the host's name leads to
// from here. A name that does not resolve is denied, unless the browser isProxied:
// then the proxy judges it again. Without a proxy the name may lead elsewhere a
// moment later, or from where the browser is.
func (p *Policy) CheckPage(ctx context.Context, raw string, isProxied bool) error {
	host, err := p.checkURL(raw)
	if err != nil || host == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := p.resolver.LookupNetIP(ctx, "ip", host)
	if (err != nil || len(found) == 0) && !isProxied {
		return forbidden("the address's host does not resolve from the node, so that it cannot be judged; the operator can allow it with egress.allow")
	}
	for _, ip := range found {
		if p.checkAddr(ip) != nil {
			return deniedHost()
		}
	}
	return nil
}

// checkURL returns the name that is left to resolve, "" for none. It takes only
// what Go and a browser read alike.
func (p *Policy) checkURL(raw string) (name string, err error) {
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", messages.Errorf(messages.CodeInvalidArgument, "the address holds a blank or a control character")
	}
	scheme, rest, ok := strings.Cut(raw, ":")
	scheme = strings.ToLower(scheme)
	if !ok || !slices.Contains(p.schemes, scheme) {
		return "", forbidden("this token may open addresses of these schemes alone: " + strings.Join(p.schemes, ", ") + " (egress.schemes)")
	}
	switch scheme {
	case "about":
		if page, _, _ := strings.Cut(strings.ToLower(rest), "#"); page != "blank" {
			return "", forbidden("of about: addresses this token may open about:blank alone")
		}
		return "", nil
	case "http", "https", "ws", "wss", "ftp":
	default:
		return "", nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || strings.ContainsRune(raw, '\\') {
		return "", messages.Errorf(messages.CodeInvalidArgument, "the address must be written as %s://HOST/PATH", scheme)
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		if p.checkAddr(ip) != nil {
			return "", deniedHost()
		}
		return "", nil
	}
	host, err = idna.Lookup.ToASCII(host)
	if err != nil || isNumeric(host) {
		return "", messages.Errorf(messages.CodeInvalidArgument, "the address's host is neither a name nor an address in four decimal numbers")
	}
	switch {
	case p.deny.hasName(host, u.Port()):
		return "", deniedHost()
	case p.allow.hasName(host, u.Port()):
		return "", nil
	case isLocalName(host):
		return "", p.checkLocal()
	}
	return host, nil
}

// checkLocal judges the names that a browser takes for this machine without asking.
func (p *Policy) checkLocal() error {
	if p.checkAddr(netip.AddrFrom4([4]byte{127, 0, 0, 1})) != nil {
		return deniedHost()
	}
	return nil
}

func isLocalName(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// isNumeric is the URL standard's test for a host that is read as an IPv4
// address, whatever it looks like: 127.1, 0x7f000001, 2130706433.
func isNumeric(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return true
	}
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(strings.ToLower(last), "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

func forbidden(why string) *messages.Error {
	return messages.Errorf(messages.CodeForbidden, "%s", why)
}

func deniedHost() *messages.Error {
	return forbidden("this token may not open addresses of this host: it is not public, or denied (egress.allow, egress.deny)")
}
