package messages

// Cluster is what a node knows of the cluster that it is part of.
type Cluster struct {
	// Name is the cluster's name.
	Name string `json:"name"`
	// Era is raised whenever the store may have lost its newest records; 0 while the node has
	// not read them.
	Era uint32 `json:"era"`
	// Nodes are the nodes, by name: those that have a record in the store, the voters, and
	// the one that answers.
	Nodes []ClusterNode `json:"nodes"`
	// HasQuorum says that the store answers this node.
	HasQuorum bool `json:"quorum"`
}

// ClusterNode is one node of a cluster, as the node that answers sees it.
type ClusterNode struct {
	// Node is its name.
	Node string `json:"node"`
	// State is the state of its lease.
	State LeaseState `json:"state"`
	// IsVoter says that the node keeps a copy of the store.
	IsVoter bool `json:"voter"`
	// IsCordoned says that the node takes no new tasks, by an operator's word.
	IsCordoned bool `json:"cordoned,omitempty"`
	// Term numbers the times that the node has joined; 0 while it has no record.
	Term int64 `json:"term"`
	// Tasks is the number of tasks that run on it.
	Tasks int `json:"tasks"`
	// Anchors is the number of second connections that it holds.
	Anchors int `json:"anchors"`
	// Places is the number of tasks that it could take on besides.
	Places int `json:"places"`
	// Version is the version of its program.
	Version string `json:"version"`
	// Addresses are where it answers.
	Addresses ClusterAddresses `json:"addresses"`
}

// ClusterRecovery asks a node to go on with its copy of the store alone.
type ClusterRecovery struct {
	// IAmTheLast is the caller's word that no other voter runs, or will with what it has.
	IAmTheLast bool `json:"i_am_the_last"`
}

// Validate returns an error without the caller's word.
func (r ClusterRecovery) Validate() error {
	if !r.IAmTheLast {
		return Errorf(CodeInvalidArgument, "recover wants i_am_the_last: another voter that runs, or starts again with what it has, would be a second store")
	}
	return nil
}

// ClusterEra is the era that a recovery has begun.
type ClusterEra struct {
	// Era is its number.
	Era uint32 `json:"era"`
}

// ClusterMoves are what came of giving the tasks of a node to others.
type ClusterMoves struct {
	// Moved counts those that other nodes have now.
	Moved int `json:"moved"`
	// Staying are those that the node has still, 100 at most.
	Staying []ClusterStay `json:"staying"`
}

// ClusterStay is a task that its node has kept.
type ClusterStay struct {
	// TaskID is its id.
	TaskID TaskID `json:"task_id"`
	// Why says what keeps it, for people; empty where nothing does.
	Why string `json:"why,omitempty"`
}

// ClusterAddresses are where a node of a cluster answers.
type ClusterAddresses struct {
	// HTTP is the URL that callers of its machine ask.
	HTTP string `json:"http,omitempty"`
	// Peer is the HOST:PORT that other nodes ask.
	Peer string `json:"peer,omitempty"`
}

// LeaseState says what a node of a cluster may do.
type LeaseState string

// The states of a node in a cluster.
const (
	LeaseHeld     LeaseState = "held"     // it decides for its tasks
	LeaseLapsed   LeaseState = "lapsed"   // it was not heard in time: its connections stay, it decides nothing
	LeaseDraining LeaseState = "draining" // it takes no more tasks
	LeaseGone     LeaseState = "gone"     // it has no record: it was not started yet, has left, or was given up
)

// LeaseStates are all states of a node in a cluster.
func LeaseStates() []LeaseState {
	return []LeaseState{LeaseHeld, LeaseLapsed, LeaseDraining, LeaseGone}
}
