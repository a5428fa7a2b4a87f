package messages

// Pause is what holds a page for a bridged dialog. The zero value is that of a
// native one.
type Pause struct {
	// Key tells the call from every other one, whoever tells of it.
	Key string
	// CallFrame is the function that waits, in CDP's words.
	CallFrame string
	// Request is what waits instead, in those of the browser's session on a link, the
	// only one that can answer it.
	Request   string
	Holder    Role
	HolderGen Generation
}

// Mechanism is how the bridge makes a page wait.
type Mechanism uint8

// The mechanisms, in the order in which they are tried.
const (
	ByDebugger Mechanism = iota
	ByRequest
)

func (m Mechanism) String() string { return [...]string{"debugger", "request"}[m] }
