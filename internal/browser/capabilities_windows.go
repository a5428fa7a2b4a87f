package browser

// Capabilities lists what this system allows.
func Capabilities() []Capability {
	return []Capability{
		{"pipe transport", true, "browsers are driven over pipes that no other process can reach"},
		{"orphans", true, "a browser's processes are a job, which ends with the node"},
		{"orderly end", false, "a browser is not asked to end but killed; its profile is temporary"},
		{"access lists", false, "access lists are not read: who may read the state directory and the token file is not checked"},
	}
}
