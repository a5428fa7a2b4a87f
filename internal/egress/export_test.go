package egress

import "net"

// Resolve has the policy resolve names by r.
func (p *Policy) Resolve(r *net.Resolver) { p.resolver = r }
