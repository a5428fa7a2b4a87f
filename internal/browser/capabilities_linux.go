package browser

// Capabilities lists what this system allows.
func Capabilities() []Capability {
	return []Capability{
		{"pipe transport", true, "browsers are driven over pipes that no other process can reach"},
		{"orphans", true, "processes that a browser leaves are reaped, and browsers of a node that was killed are ended at the next start"},
	}
}
