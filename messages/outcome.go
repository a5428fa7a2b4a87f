package messages

// TaskOutcome says how a task ended.
type TaskOutcome string

// The outcomes.
const (
	OutcomeStopped TaskOutcome = "stopped" // by request
	OutcomeIdle    TaskOutcome = "idle_timeout"
	OutcomeMaxLife TaskOutcome = "max_life"
	OutcomeRebound TaskOutcome = "rebound" // to another browser, under the same name
	OutcomeDrained TaskOutcome = "drained" // the node has ended
	OutcomeFailed  TaskOutcome = "failed"  // it never attached
	OutcomeLost    TaskOutcome = "lost"    // it had, and could not be kept
)

// TaskOutcomes lists them.
func TaskOutcomes() []TaskOutcome {
	return []TaskOutcome{OutcomeStopped, OutcomeIdle, OutcomeMaxLife, OutcomeRebound, OutcomeDrained, OutcomeFailed, OutcomeLost}
}
