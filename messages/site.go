package messages

import (
	"net"
	"net/url"

	"golang.org/x/net/publicsuffix"
)

// SiteOf returns the site of a URL or origin, by which Chrome gives out processes: the
// scheme, and the host's registrable domain. It is "" for one that has none, such as
// about:blank.
func SiteOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	host := u.Hostname()
	if net.ParseIP(host) == nil {
		if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
			host = domain
		}
	}
	return u.Scheme + "://" + host
}
