package messages

// ClientID names a CDP client of a task, as long as it is connected.
type ClientID string

// ClientMode says whether a task's CDP clients share it.
type ClientMode string

// The modes of a client's connection.
const (
	ClientsShared    ClientMode = "shared"    // others may be on the task as well
	ClientsExclusive ClientMode = "exclusive" // no other client is on the task
)

// ClientList is the CDP clients of a task.
type ClientList struct {
	// Mode is exclusive while a client has the task for itself.
	Mode ClientMode `json:"mode"`
	// Busy says that a further client would be refused.
	Busy bool `json:"busy"`
	// ActiveClientID is the client that has the task for itself.
	ActiveClientID ClientID `json:"active_client_id,omitempty"`
	// Clients are those that are connected, in the order in which they came.
	Clients []Client `json:"clients"`
}

// Client is one CDP client of a task.
type Client struct {
	// ClientID names it.
	ClientID ClientID `json:"client_id"`
	// Name is what it calls itself, or client-N.
	Name string `json:"name"`
	// ConnectedAt is when it came.
	ConnectedAt Seconds `json:"connected_at"`
	// Dialogs is the mode for dialogs that it asked for: holdfast, client or observe.
	Dialogs string `json:"dialogs"`
	// Sessions is how many CDP sessions it has.
	Sessions int `json:"sessions"`
	// Commands is how many commands it has sent.
	Commands int64 `json:"commands"`
	// Events is how many events it was told of.
	Events int64 `json:"events"`
	// Dropped is how many messages were dropped because it did not read them.
	Dropped int64 `json:"dropped"`
	// StalledS is for how long, in seconds, it kept messages waiting.
	StalledS float64 `json:"stalled_s"`
}

// ClientRejection says why a CDP client was refused, or cut off.
type ClientRejection string

// The reasons.
const (
	ClientRejectedBusy     ClientRejection = "busy"     // another client has the task exclusively
	ClientRejectedLimit    ClientRejection = "limit"    // the task has as many clients as it may
	ClientRejectedSlow     ClientRejection = "slow"     // its queue was full
	ClientRejectedOperator ClientRejection = "operator" // an operator has disconnected it
	ClientRejectedInvalid  ClientRejection = "invalid"  // it does not speak CDP
)

// ClientRejections lists the reasons.
func ClientRejections() []ClientRejection {
	return []ClientRejection{ClientRejectedBusy, ClientRejectedLimit, ClientRejectedSlow, ClientRejectedOperator, ClientRejectedInvalid}
}
