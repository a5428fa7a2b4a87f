package messages

// The bounds of a batch.
const (
	MaxBatchSteps = 50
	// DefaultBatchTimeout and MaxBatchTimeout bound all steps together.
	DefaultBatchTimeout = MaxCallTimeout
	MaxBatchTimeout     = 2 * MaxCallTimeout
)

// OnError is what a batch does after a step that failed.
type OnError string

// What a batch does after a step that failed.
const (
	OnErrorStop     OnError = "stop"     // the rest is skipped
	OnErrorContinue OnError = "continue" // the next step is tried
)

// BatchRequest is the body of a batch: tools to run one after the other.
type BatchRequest struct {
	// Steps are the calls, from 1 to 50.
	Steps []BatchStep `json:"steps"`
	// OnError is what is done after a step that failed. Default: stop.
	OnError OnError `json:"on_error,omitempty"`
	// TimeoutS bounds all steps together, in seconds; by default [DefaultBatchTimeout].
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"minimum=0.01,maximum=600"`
}

// BatchStep is one call of a batch.
type BatchStep struct {
	// Tool is the name of the tool.
	Tool string `json:"tool"`
	// Input is the tool's input.
	Input ToolInput `json:"input,omitempty"`
}

// Validate refuses a batch that cannot be run. The error is an [*Error] with the code
// invalid_argument.
func (r BatchRequest) Validate() error {
	switch {
	case len(r.Steps) == 0 || len(r.Steps) > MaxBatchSteps:
		return Errorf(CodeInvalidArgument, "a batch has from 1 to %d steps", MaxBatchSteps)
	case r.OnError != "" && r.OnError != OnErrorStop && r.OnError != OnErrorContinue:
		return Errorf(CodeInvalidArgument, "on_error must be stop or continue")
	case r.TimeoutS != 0 && !(r.TimeoutS >= MinCallTimeout.Seconds() && r.TimeoutS <= MaxBatchTimeout.Seconds()):
		return Errorf(CodeInvalidArgument, "timeout_s must be from %g to %g", MinCallTimeout.Seconds(), MaxBatchTimeout.Seconds())
	}
	return nil
}

// BatchResult is what became of a batch.
type BatchResult struct {
	// OK says that every step did what it was asked for.
	OK bool `json:"ok"`
	// Results are the steps, in their order.
	Results []BatchStepResult `json:"results"`
	// Completed is how many steps did what they were asked for.
	Completed int `json:"completed"`
	// FailedStep is the first step that failed or was blocked, counted from 0; absent where none did.
	FailedStep *int `json:"failed_step,omitempty"`
	// Code is the code of that step's failure.
	Code Code `json:"code,omitempty"`
	// NextActions are those of that step.
	NextActions []NextAction `json:"next_actions"`
}

// StepState is what became of a step.
type StepState string

// What becomes of a step.
const (
	StepDone    StepState = "done"    // it did what it was asked for
	StepFailed  StepState = "failed"  // it ran and failed
	StepBlocked StepState = "blocked" // it was not run: a step before it may have made its refs stale
	StepSkipped StepState = "skipped" // it was not run: a step before it failed, or the time was up
)

// BatchStepResult is what became of one step.
type BatchStepResult struct {
	// Tool is the name of the tool.
	Tool string `json:"tool"`
	// State is what became of the step.
	State StepState `json:"state"`
	// Result is what the tool answered; absent of a step that was skipped.
	Result *ToolResult `json:"result,omitempty"`
}
