package messages

import (
	"time"
)

// TaskOption changes what is asked of a task. Its error ends the start.
type TaskOption func(*TaskSpec) error

// WithSpec lays every field that s says over what was asked before it.
func WithSpec(s TaskSpec) TaskOption {
	return func(t *TaskSpec) error {
		queue := t.QueueTimeoutS
		if s.QueueTimeoutS != nil {
			queue = s.QueueTimeoutS
		}
		*t = t.Merge(s)
		t.QueueTimeoutS = queue
		return nil
	}
}

// WithCDPURL attaches the task to the browser at a ws, wss, http or https URL.
func WithCDPURL(raw string) TaskOption {
	return func(t *TaskSpec) (err error) {
		t.CDPURL, err = ParseCDPURL(raw)
		return err
	}
}

// WithLaunch gives the task a browser of its own, which the node launches. This is the
// default of a task without [WithCDPURL].
func WithLaunch(isHeadless bool) TaskOption {
	return func(t *TaskSpec) error {
		t.Launch = &LaunchSpec{Headless: &isHeadless}
		return nil
	}
}

// WithScope says which pages of the browser are the task's.
func WithScope(s Scope) TaskOption { return set(func(t *TaskSpec) { t.Scope = s }) }

// WithTarget gives the task one existing page of the browser, and every popup it opens.
func WithTarget(id TargetID) TaskOption {
	return set(func(t *TaskSpec) { t.Scope, t.TargetID = ScopeTarget, id })
}

// WithIsolation says which browser context the task's pages are made in.
func WithIsolation(i Isolation) TaskOption { return set(func(t *TaskSpec) { t.Isolation = i }) }

// WithDialogPolicy says who answers the task's dialogs.
func WithDialogPolicy(p DialogPolicy) TaskOption {
	return set(func(t *TaskSpec) { t.DialogPolicy = p })
}

// WithDialogTimeout bounds how long a dialog waits for its answer.
func WithDialogTimeout(d time.Duration) TaskOption {
	return set(func(t *TaskSpec) { t.DialogTimeoutS = d.Seconds() })
}

// WithDialogRules says what happens to single dialogs; without a rule it takes those of a running
// task away.
func WithDialogRules(rules ...DialogRule) TaskOption {
	return set(func(t *TaskSpec) { t.DialogRules = append(DialogRules{}, rules...) })
}

// WithBeforeUnload says what happens to a beforeunload dialog.
func WithBeforeUnload(b BeforeUnload) TaskOption {
	return set(func(t *TaskSpec) { t.BeforeUnload = b })
}

// WithOnWedge says what the task does by itself about a page that has been silent for
// so long; 0 is [DefaultOnWedgeAfter].
func WithOnWedge(w OnWedge, after time.Duration) TaskOption {
	return set(func(t *TaskSpec) { t.OnWedge, t.OnWedgeAfterS = w, after.Seconds() })
}

// WithIdleTimeout ends the task when nothing has been asked of it for so long.
func WithIdleTimeout(d time.Duration) TaskOption {
	return set(func(t *TaskSpec) { t.IdleTimeoutS = d.Seconds() })
}

// WithMaxLife ends the task at this age.
func WithMaxLife(d time.Duration) TaskOption {
	return set(func(t *TaskSpec) { t.MaxLifeS = d.Seconds() })
}

// WithGiveUpAfter bounds how long the task dials a lost link before it is lost.
func WithGiveUpAfter(d time.Duration) TaskOption {
	return set(func(t *TaskSpec) { t.GiveUpAfterS = d.Seconds() })
}

// WithQueueTimeout bounds how long the start waits for a place; 0 does not wait.
func WithQueueTimeout(d time.Duration) TaskOption {
	return set(func(t *TaskSpec) { s := d.Seconds(); t.QueueTimeoutS = &s })
}

// WithLabel adds a label, by which a list of tasks can be searched.
func WithLabel(key, value string) TaskOption {
	return set(func(t *TaskSpec) {
		labels := map[string]string{key: value}
		for k, v := range t.Labels {
			if k != key {
				labels[k] = v
			}
		}
		t.Labels = labels
	})
}

func set(change func(*TaskSpec)) TaskOption {
	return func(t *TaskSpec) error {
		change(t)
		return nil
	}
}

// SpecOf is the spec that the options ask for.
func SpecOf(opts []TaskOption) (TaskSpec, error) {
	var s TaskSpec
	for _, o := range opts {
		if err := o(&s); err != nil {
			return TaskSpec{}, err
		}
	}
	return s, s.Validate()
}

// CallOption changes one call of a [Handle]. An option that does not fit the call ends
// it with [CodeInvalidArgument].
type CallOption func(*CallOptions)

// CallOptions is what the options of one call say together. A zero field is not said.
type CallOptions struct {
	Timeout    time.Duration
	Wait       *time.Duration
	TargetID   TargetID
	FrameID    FrameID
	Until      WaitUntil
	OnDialog   OnDialog
	DialogID   DialogID
	PromptText *string
	By         Answerer
	IsFull     bool
	After      *uint64
}

// OptionsOf is what the options say together.
func OptionsOf(opts []CallOption) CallOptions {
	var c CallOptions
	for _, o := range opts {
		o(&c)
	}
	return c
}

// Within bounds a navigation or a CDP command, from [MinCallTimeout] to [MaxCallTimeout].
// Without it the call has what is left of its context, or else the call's default.
func Within(d time.Duration) CallOption { return func(c *CallOptions) { c.Timeout = d } }

// AwaitLink bounds how long the call waits for a lost link before it is sent; 0 does
// not wait. Without it that is [DefaultWait].
func AwaitLink(d time.Duration) CallOption { return func(c *CallOptions) { c.Wait = &d } }

// OnPage names the page that the call is about. Without it that is the current page.
func OnPage(id TargetID) CallOption { return func(c *CallOptions) { c.TargetID = id } }

// OnFrame names the out-of-process iframe that a CDP command is for.
func OnFrame(id FrameID) CallOption { return func(c *CallOptions) { c.FrameID = id } }

// Until says when a navigation counts as done.
func Until(u WaitUntil) CallOption { return func(c *CallOptions) { c.Until = u } }

// AwaitDialog has a CDP command that a dialog holds up wait until the dialog is answered.
// Without it the command fails with [CodeBlockedByDialog].
func AwaitDialog() CallOption { return func(c *CallOptions) { c.OnDialog = OnDialogWait } }

// ToDialog names the dialog that is answered. Without it that is the only one.
func ToDialog(id DialogID) CallOption { return func(c *CallOptions) { c.DialogID = id } }

// WithPromptText is the text given to a prompt.
func WithPromptText(s string) CallOption { return func(c *CallOptions) { c.PromptText = &s } }

// ByHuman says that a person has decided on the answer.
func ByHuman() CallOption { return func(c *CallOptions) { c.By = AnswererHuman } }

// FullTree lifts the caps of a snapshot's frame tree (requirements F2, F3).
func FullTree() CallOption { return func(c *CallOptions) { c.IsFull = true } }

// AfterVersion starts the events behind this version. Without it they start with an
// [EventReset] that holds the whole state.
func AfterVersion(v uint64) CallOption { return func(c *CallOptions) { c.After = &v } }
