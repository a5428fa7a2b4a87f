package messages

// Pressure is how close a node is to its limits, for whoever decides where the
// next task goes. It names no task.
type Pressure struct {
	// Available says that a task would start now; Reason is what it would wait
	// for or be refused for otherwise. A task that attaches may start all the same
	// where only browsers are short.
	Available bool        `json:"available"`
	Reason    LimitReason `json:"reason,omitempty"`
	// RetryAfterS is after how many seconds to ask again is worth it; 0 while
	// Available.
	RetryAfterS int  `json:"retry_after_s"`
	Draining    bool `json:"draining"`

	Running  int `json:"running"`  // tasks that have a place
	Browsers int `json:"browsers"` // those of them that launch one
	Queued   int `json:"queued"`   // starts that wait for a place
	// OldestWaitS is how long the first of them has waited.
	OldestWaitS float64 `json:"oldest_wait_s"`
	// RejectedLastMinute counts the callers that were refused in the last sixty
	// seconds; every reason is there.
	RejectedLastMinute map[LimitReason]uint64 `json:"rejected_last_minute"`

	Limits PressureLimits `json:"limits"`
	Memory Load           `json:"memory"`
	CPU    Load           `json:"cpu"`
}

// PressureLimits are a node's limits as callers see them. What is off is 0.
type PressureLimits struct {
	Tasks         int     `json:"tasks"`
	TenantTasks   int     `json:"tenant_tasks"`
	Browsers      int     `json:"browsers"`
	QueueLength   int     `json:"queue_length"`
	QueueTimeoutS float64 `json:"queue_timeout_s"`
	IdleTimeoutS  float64 `json:"idle_timeout_s"`
	MaxLifeS      float64 `json:"max_life_s"`
	GiveUpAfterS  float64 `json:"give_up_after_s"`
}

// LoadState says whether a resource lets tasks start.
type LoadState string

// The states of a resource.
const (
	LoadOK      LoadState = "ok"
	LoadHigh    LoadState = "high"    // no task starts until it has fallen to the lower threshold
	LoadUnknown LoadState = "unknown" // it cannot be read: tasks start
	LoadOff     LoadState = "off"     // nobody wants it looked at
)

// Load is how much of a resource is in use, as shares of 1.
type Load struct {
	State LoadState `json:"state"`
	Used  float64   `json:"used"`
	High  float64   `json:"high"`
	Low   float64   `json:"low"`
	// UsedBytes and LimitBytes are there of memory; Source says whose they are:
	// cgroup2, cgroup or host.
	UsedBytes  uint64 `json:"used_bytes,omitempty"`
	LimitBytes uint64 `json:"limit_bytes,omitempty"`
	Source     string `json:"source,omitempty"`
}

// Check is one part of a node's health.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Reason is why it is not ok. The route is open: it holds nothing that is not
	// for everybody.
	Reason string `json:"reason,omitempty"`
	// Advisory says that it is told and does not decide.
	Advisory bool `json:"advisory,omitempty"`
}
