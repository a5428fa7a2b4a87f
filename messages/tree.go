package messages

// ActorState is what an actor of the supervision tree is at.
type ActorState string

// The states of an actor.
const (
	ActorStarting ActorState = "starting" // it is being started
	ActorRunning  ActorState = "running"  // it handles messages
	ActorStopping ActorState = "stopping" // it is shutting down
	ActorWaiting  ActorState = "waiting"  // it is down, and its restart waits for the backoff
)

// TreeOptions say how much of the supervision tree is wanted.
type TreeOptions struct {
	// Task is the only task to show; "" shows every one.
	Task TaskID
	// Depth bounds the levels below the registry; 0 means all.
	Depth int
	// Allows says which tasks may be shown; nil means all. It must not wait.
	Allows func(TaskID) bool
}

// Tree is the supervision tree of a node: the registry, the supervisor of each
// task, and its actors.
type Tree struct {
	// At is when it was read.
	At Seconds `json:"at"`
	// Root is the registry.
	Root TreeNode `json:"root"`
	// Truncated says that there are more than [MaxTreeActors] actors.
	Truncated bool `json:"truncated"`
	// Node is whose tree it is, where the node is part of a cluster.
	Node string `json:"node,omitempty"`
	// Others are the trees of the other nodes of the cluster, by the names of these.
	Others []Tree `json:"others,omitempty"`
	// Missing are the nodes of the cluster that did not answer within 2 s.
	Missing []string `json:"missing,omitempty"`
}

// MaxTreeActors bounds what one answer shows.
const MaxTreeActors = 20_000

// MaxTreeDepth bounds what may be asked for.
const MaxTreeDepth = 16

// TreeNode is one actor, or the empty place of one that is to be restarted.
type TreeNode struct {
	// Kind is what the actor does: registry, supervisor, dialog, anchor, browser, frame, session.
	Kind string `json:"kind"`
	// Key tells siblings apart; a supervisor's is the task's id.
	Key string `json:"key"`
	// Generation is a number that no other actor of the node has or had; absent while
	// the actor waits for its restart.
	Generation uint64 `json:"generation,omitempty"`
	// State is what the actor is at.
	State ActorState `json:"state"`
	// StartedAt is when it started; absent while it waits for its restart.
	StartedAt Seconds `json:"started_at,omitempty"`
	// Restarts is how often its supervisor has started it again.
	Restarts int `json:"restarts"`
	// Mailbox is the number of messages that wait for it.
	Mailbox int `json:"mailbox"`
	// RestartAt is when an actor that waits will be started.
	RestartAt Seconds `json:"restart_at,omitempty"`
	// Children are the actors that it supervises.
	Children []TreeNode `json:"children,omitempty"`
}
