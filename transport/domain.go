package transport

import "strings"

// domains are those whose commands are told apart in metrics: what agents do
// most. The last one stands for all others.
var domains = [...]string{"Input", "Page", "Runtime", "other"}

// Domains lists the domains that [CommandTimes] tells apart.
func Domains() []string { return domains[:] }

// domainOf returns the index in domains of a method's.
func domainOf(method string) int {
	name, _, _ := strings.Cut(method, ".")
	for i, d := range domains[:len(domains)-1] {
		if name == d {
			return i
		}
	}
	return len(domains) - 1
}
