package messages

// ActorState is what an actor of the supervision tree is at.
type ActorState string

// The states of an actor.
const (
	ActorStarting ActorState = "starting"
	ActorRunning  ActorState = "running"
	ActorStopping ActorState = "stopping"
	ActorWaiting  ActorState = "waiting" // down; its restart waits for the backoff
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
	At   Seconds  `json:"at"`
	Root TreeNode `json:"root"`
	// Truncated says that there are more than [MaxTreeActors].
	Truncated bool `json:"truncated"`
}

// MaxTreeActors bounds what one answer shows.
const MaxTreeActors = 20_000

// MaxTreeDepth bounds what may be asked for.
const MaxTreeDepth = 16

// TreeNode is one actor, or the empty place of one that is to be restarted.
type TreeNode struct {
	Kind string `json:"kind"`
	// Key tells siblings apart; a supervisor's is the task's id.
	Key string `json:"key"`
	// Generation grows with every actor of the node; none has it twice. Like
	// StartedAt it is absent while the actor is waiting.
	Generation uint64     `json:"generation,omitempty"`
	State      ActorState `json:"state"`
	StartedAt  Seconds    `json:"started_at,omitempty"`
	// Restarts is how often its supervisor has started it again.
	Restarts int `json:"restarts"`
	// Mailbox is how many messages wait for it.
	Mailbox int `json:"mailbox"`
	// RestartAt is when one that is waiting will be.
	RestartAt Seconds    `json:"restart_at,omitempty"`
	Children  []TreeNode `json:"children,omitempty"`
}
