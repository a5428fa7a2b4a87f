package browser

// Capability is something that a node does for its browsers and that not every system
// allows.
type Capability struct {
	Name    string // for a table, in lower case
	IsThere bool
	Note    string // what is done, or what is missing and what follows
}
