package wanted

import (
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"

	"holdfast/messages"
)

// siteOf is the scheme with the domain that can be registered, which is what
// Chrome tells processes apart by.
func siteOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		host = domain
	}
	return u.Scheme + "://" + host
}

// isFrame says whether p is a frame's session.
func (p Place) isFrame() bool { return p.Target != p.Page && p.Target != "" }

// site is where what is set now belongs, "" for what follows its tab.
func (p Place) site() string {
	if !p.isFrame() {
		return ""
	}
	return p.Site.Name()
}

// doesFit says whether the item may be given to the session.
func (i *item) doesFit(p Place) bool { return !p.isFrame() || i.site != "" && i.site == p.site() }

// PlaceOf is the place of a page's or a frame's session.
func PlaceOf(page, target messages.TargetID, session messages.SessionID, site *Site) Place {
	return Place{Page: page, Target: target, Session: session, Site: site}
}
