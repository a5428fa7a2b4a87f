package messages

// Pressure is how close a node is to its limits. It names no task.
type Pressure struct {
	// Available says that a task would start now. Where only browsers are short, a task
	// that attaches to its own may start all the same.
	Available bool `json:"available"`
	// Reason is what a task would wait for, or be refused for.
	Reason LimitReason `json:"reason,omitempty"`
	// RetryAfterS is the seconds after which to ask again; 0 while a task would start.
	RetryAfterS int `json:"retry_after_s"`
	// Draining says that the node is about to end.
	Draining bool `json:"draining"`

	// Running is the number of tasks that have a place.
	Running int `json:"running"`
	// Browsers is the number of those whose browser the node launches.
	Browsers int `json:"browsers"`
	// Queued is the number of starts that wait for a place.
	Queued int `json:"queued"`
	// OldestWaitS is how long the first of them has waited, in seconds.
	OldestWaitS float64 `json:"oldest_wait_s"`
	// RejectedLastMinute counts the callers refused in the last sixty seconds, by every reason.
	RejectedLastMinute map[LimitReason]uint64 `json:"rejected_last_minute"`

	// Limits are the node's limits.
	Limits PressureLimits `json:"limits"`
	// Memory is the memory in use.
	Memory Load `json:"memory"`
	// CPU is the time that work waits for a processor.
	CPU Load `json:"cpu"`

	// Node is whose pressure it is, where the node is part of a cluster.
	Node string `json:"node,omitempty"`
	// Others is that of the other nodes of the cluster, by their names.
	Others []Pressure `json:"others,omitempty"`
	// Missing are the nodes of the cluster that did not answer within 2 s.
	Missing []string `json:"missing,omitempty"`
}

// PressureLimits are a node's limits. A limit that is off is 0.
type PressureLimits struct {
	// Tasks bounds the tasks that run.
	Tasks int `json:"tasks"`
	// TenantTasks bounds the tasks of one tenant.
	TenantTasks int `json:"tenant_tasks"`
	// Browsers bounds the browsers that the node launches.
	Browsers int `json:"browsers"`
	// QueueLength bounds the starts that wait.
	QueueLength int `json:"queue_length"`
	// QueueTimeoutS is the longest that a start waits, in seconds.
	QueueTimeoutS float64 `json:"queue_timeout_s"`
	// IdleTimeoutS is the idle timeout of a task whose spec has none, in seconds.
	IdleTimeoutS float64 `json:"idle_timeout_s"`
	// MaxLifeS is the longest life of a task whose spec has none, in seconds.
	MaxLifeS float64 `json:"max_life_s"`
	// GiveUpAfterS is how long a lost connection is dialled for, in seconds.
	GiveUpAfterS float64 `json:"give_up_after_s"`
}

// LoadState says whether a resource lets tasks start.
type LoadState string

// The states of a resource.
const (
	LoadOK      LoadState = "ok"      // tasks start
	LoadHigh    LoadState = "high"    // no task starts until it has fallen to the lower threshold
	LoadUnknown LoadState = "unknown" // it cannot be read: tasks start
	LoadOff     LoadState = "off"     // the configuration turns it off
)

// Load is how much of a resource is in use, as shares of 1.
type Load struct {
	// State says whether the resource lets tasks start.
	State LoadState `json:"state"`
	// Used is the share in use.
	Used float64 `json:"used"`
	// High is the share from which on no task is started.
	High float64 `json:"high"`
	// Low is the share to which it has to fall before tasks start again.
	Low float64 `json:"low"`
	// UsedBytes is the memory in use, in bytes.
	UsedBytes uint64 `json:"used_bytes,omitempty"`
	// LimitBytes is the memory there is, in bytes.
	LimitBytes uint64 `json:"limit_bytes,omitempty"`
	// Source says where it is read: cgroup2, cgroup or host.
	Source string `json:"source,omitempty"`
}

// Check is one part of a node's health.
type Check struct {
	// Name is the part: registry, draining, capacity, sockets, memory or browser.
	Name string `json:"name"`
	// OK says that the check passed.
	OK bool `json:"ok"`
	// Reason is why it did not. The route needs no token: it holds nothing confidential.
	Reason string `json:"reason,omitempty"`
	// Advisory says that the check is for information and does not decide.
	Advisory bool `json:"advisory,omitempty"`
}
