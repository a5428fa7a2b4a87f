package messages

import "time"

// Limits are the bounds that a node holds its tasks to. Of every field 0 is the
// default; what a value below 0 means is said with the field, and elsewhere it
// is an error. All of them can be changed while the node runs: lowering one ends
// nothing that runs, raising one lets those start who wait.
type Limits struct {
	// MaxTasks bounds the tasks that run at once.
	MaxTasks int
	// MaxTenantTasks bounds the tasks of one tenant that run or wait for a place; 0
	// and below it there is no such bound. A task's tenant is what stands before the
	// first colon of its id; without a colon it has none.
	MaxTenantTasks int
	// MaxBrowsers bounds those of them whose browser the node has launched. The
	// default is one for every BrowserMemory of the memory the node may use; below
	// 0 only MaxTasks holds.
	MaxBrowsers int
	// QueueLength bounds the starts that wait for a place; below 0 none may wait.
	QueueLength int
	// QueueTimeout is how long a caller waits for a place who does not say, and
	// the longest that one who does may.
	QueueTimeout time.Duration
	// IdleTimeout ends a task without requests, MaxLife any task. A task's own spec can say
	// otherwise.
	IdleTimeout, MaxLife time.Duration
	// GiveUpAfter is how long a task tries to bring back a link that was lost, unless
	// its own spec says otherwise. A task keeps the one of its start.
	GiveUpAfter time.Duration
	// MemoryHigh is the share of the memory in use, of 1, from which on no task is
	// started, until it has fallen to MemoryLow; below 0 memory is not looked at.
	MemoryHigh, MemoryLow float64
	// CPUHigh and CPULow are the same for the share of time that some thread waits
	// for a processor (the kernel's pressure stall information, over ten
	// seconds). The default of CPUHigh is not to look: a busy node is slow, one
	// without memory is dead.
	CPUHigh, CPULow float64
}

// The defaults: limits are on unless they are turned off.
const (
	DefaultMaxTasks     = 5000
	DefaultQueueLength  = 100
	DefaultQueueTimeout = 30 * time.Second
	DefaultIdleTimeout  = time.Hour
	DefaultMaxLife      = 24 * time.Hour
	DefaultMemoryHigh   = 0.90
	// BrowserMemory is what a launched browser is reckoned to need, in bytes: one
	// with a blank page has 235 MiB to itself, and pages are not blank.
	BrowserMemory = 512 << 20
	// hysteresis is how far below the upper threshold the lower one is by default.
	hysteresis = 0.05
)

// The bounds of the bounds.
const (
	MaxMaxTasks     = 1_000_000
	MaxQueueLength  = 10_000
	MaxQueueTimeout = 5 * time.Minute
)

// Validate checks every field. The error is an [*Error] with
// [CodeInvalidArgument] and names the field as the HTTP interface does.
func (l Limits) Validate() error {
	switch {
	case l.MaxTasks < 0 || l.MaxTasks > MaxMaxTasks:
		return Errorf(CodeInvalidArgument, "max_tasks must be between 0 and %d", MaxMaxTasks)
	case l.MaxTenantTasks > MaxMaxTasks:
		return Errorf(CodeInvalidArgument, "max_tenant_tasks must be at most %d", MaxMaxTasks)
	case l.MaxBrowsers > MaxMaxTasks:
		return Errorf(CodeInvalidArgument, "max_browsers must be at most %d", MaxMaxTasks)
	case l.QueueLength > MaxQueueLength:
		return Errorf(CodeInvalidArgument, "queue_length must be at most %d", MaxQueueLength)
	case l.QueueTimeout < 0 || l.QueueTimeout > MaxQueueTimeout:
		return Errorf(CodeInvalidArgument, "queue_timeout must be between 0 and %s", MaxQueueTimeout)
	case l.IdleTimeout < 0 || l.MaxLife < 0:
		return Errorf(CodeInvalidArgument, "idle_timeout and max_life must not be negative")
	case l.GiveUpAfter != 0 && (l.GiveUpAfter < MinGiveUpAfter || l.GiveUpAfter > MaxGiveUpAfter):
		return Errorf(CodeInvalidArgument, "give_up_after must be between %s and %s", MinGiveUpAfter, MaxGiveUpAfter)
	}
	if err := checkThresholds("memory", l.MemoryHigh, l.MemoryLow, DefaultMemoryHigh); err != nil {
		return err
	}
	return checkThresholds("cpu", l.CPUHigh, l.CPULow, 0)
}

func checkThresholds(what string, high, low, def float64) error {
	if high < 0 {
		return nil // off
	}
	if high == 0 {
		high = def
	}
	switch {
	case !(high <= 1): // as floats: NaN is no threshold
		return Errorf(CodeInvalidArgument, "%s_high must be at most 1", what)
	case !(low >= 0):
		return Errorf(CodeInvalidArgument, "%s_low must not be negative", what)
	case low > 0 && !(low < high):
		return Errorf(CodeInvalidArgument, "%s_low must be below %s_high", what, what)
	}
	return nil
}

// WithDefaults returns l with every bound set, but for MaxBrowsers, which
// depends on the machine: where it is not set MaxTasks holds. What is off is
// below 0.
func (l Limits) WithDefaults() Limits {
	setDefault(&l.MaxTasks, DefaultMaxTasks)
	if l.MaxBrowsers <= 0 {
		l.MaxBrowsers = l.MaxTasks
	}
	setDefault(&l.QueueLength, DefaultQueueLength)
	setDefault(&l.QueueTimeout, DefaultQueueTimeout)
	setDefault(&l.IdleTimeout, DefaultIdleTimeout)
	setDefault(&l.MaxLife, DefaultMaxLife)
	setDefault(&l.GiveUpAfter, DefaultGiveUpAfter)
	setDefault(&l.MemoryHigh, DefaultMemoryHigh)
	setDefault(&l.MemoryLow, lower(l.MemoryHigh))
	setDefault(&l.CPUHigh, -1)
	setDefault(&l.CPULow, lower(l.CPUHigh))
	return l
}

func lower(high float64) float64 { return max(high-hysteresis, high/2) }

func setDefault[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}

// DefaultMaxBrowsers is the default of [Limits.MaxBrowsers] on a node that may
// use so many bytes of memory; 0 stands for unknown.
func DefaultMaxBrowsers(memory uint64) int {
	if memory == 0 {
		return DefaultMaxTasks
	}
	return int(min(max(memory/BrowserMemory, 1), DefaultMaxTasks))
}

// LimitReason says what a start was refused for.
type LimitReason string

// The reasons. The first four are what can keep a start waiting; the detail
// waiting_for names one of them where the reason is about the queue.
const (
	LimitTasks         LimitReason = "tasks"          // as many tasks run as may
	LimitBrowsers      LimitReason = "browsers"       // as many browsers run as may
	LimitMemory        LimitReason = "memory"         // too much memory is in use
	LimitCPU           LimitReason = "cpu"            // too much work waits for a processor
	LimitQuota         LimitReason = "quota"          // the tenant has as many tasks as it may
	LimitQueueFull     LimitReason = "queue_full"     // as many starts wait as may
	LimitQueueDeadline LimitReason = "queue_deadline" // no place came free in time
	LimitDraining      LimitReason = "draining"       // the node is about to end
	LimitCordoned      LimitReason = "cordoned"       // an operator keeps new tasks from the node
)

// LimitReasons lists every reason.
func LimitReasons() []LimitReason {
	return []LimitReason{
		LimitTasks, LimitBrowsers, LimitMemory, LimitCPU, LimitQuota, LimitQueueFull, LimitQueueDeadline, LimitDraining, LimitCordoned,
	}
}
