package config

import (
	"errors"

	"holdfast/internal/egress"
)

// Egress is where the holders of scoped tokens may go.
type Egress struct {
	Schemes  []string `key:"schemes" flag:"egress-scheme" empty:"http, https, about, data, blob" help:"Schemes of addresses that scoped tokens may open; of about that is about:blank alone."`
	Allow    []string `key:"allow" flag:"egress-allow" empty:"public addresses alone" help:"Hosts that are not public and may be reached all the same: names, *.NAME for all below it, IP addresses, CIDR prefixes."`
	Deny     []string `key:"deny" flag:"egress-deny" empty:"none" help:"Hosts that may not be reached, written the same way. It wins over egress.allow."`
	CDPHosts []string `key:"cdp_hosts" flag:"egress-cdp-host" empty:"none" help:"Hosts that a scoped token's cdp_url may name, written the same way; a name may have a port. It does not hold for cdp_url_override."`
	Proxy    string   `key:"proxy" flag:"egress-proxy" default:"scoped" enum:"scoped,all" help:"Which launched browsers get the proxy that enforces this: those that a scoped token has launched, or all. Without it a page of the admin's that a scoped token drives is held to the addresses the token names."`
}

// Rules are the policy that the settings say.
func (e Egress) Rules() egress.Rules {
	return egress.Rules{Schemes: e.Schemes, Allow: e.Allow, Deny: e.Deny, CDPHosts: e.CDPHosts}
}

// problem returns the key that is wrong and how, "" where none is.
func (e Egress) problem() (path, what string) {
	_, err := egress.Parse(e.Rules())
	if r, ok := errors.AsType[*egress.RuleError](err); ok {
		return "egress." + r.List, r.What
	}
	return "", ""
}
