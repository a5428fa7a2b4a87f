package browser

// Capabilities lists what this system allows.
func Capabilities() []Capability {
	return []Capability{
		{"pipe transport", true, "browsers are driven over pipes that no other process can reach"},
		{"orphans", true, "browsers of a node that was killed are ended at the next start; launchd reaps what a browser leaves"},
		{"browser memory", false, "the memory of browsers is not measured: the metric says 0"},
	}
}
