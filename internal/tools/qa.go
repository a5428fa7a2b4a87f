package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdfast/internal/redact"
	"holdfast/messages"
)

// qaTool checks a page, and runs other tools before.
const qaTool = "browser_qa"

// The tool calls others, which the table's variable is made of.
func init() {
	list = append(list, define[qaInput, qaOutput](Tool{
		Name: qaTool, Title: "Check a page", Group: "reports",
		Description: "Go to url, run steps, and check the page: no uncaught exceptions, no console errors, no failed requests, and that texts and an element are shown. Stops at the first failure, which is check_failed.",
		Hints:       messages.ToolHints{Destructive: true, OpenWorld: true},
	}, runQA))
}

type qaInput struct {
	on
	URL       string               `json:"url,omitempty" maxlen:"10000" jsonschema:"default: the page as it is"`
	WaitUntil string               `json:"wait_until,omitempty" enum:"commit|domcontentloaded|load|networkidle0|networkidle2" jsonschema:"default load"`
	Steps     []messages.BatchStep `json:"steps,omitempty" jsonschema:"as in browser_batch; errors are looked for after each"`
	Texts     []string             `json:"texts,omitempty" jsonschema:"that the page has to show"`
	Selector  string               `json:"selector,omitempty" maxlen:"10000" jsonschema:"of an element that has to be visible"`
	Ignore    []string             `json:"ignore,omitempty" jsonschema:"parts of errors and addresses that do not count"`
	KeepGoing bool                 `json:"keep_going,omitempty" jsonschema:"make every check"`
	TimeoutS  float64              `json:"timeout_s,omitempty" jsonschema:"of each check and the steps, default 30"`
}

// The checks of a page.
const (
	checkExceptions = "page_errors"
	checkConsole    = "console_errors"
	checkRequests   = "failed_requests"
	checkText       = "text"
	checkElement    = "element"
)

type qaCheck struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// Found is what the check has found that should not be, or has looked for in vain.
	Found []string `json:"found,omitempty"`
}

type qaOutput struct {
	Passed bool                  `json:"passed"`
	Checks []qaCheck             `json:"checks"`
	Steps  *messages.BatchResult `json:"steps,omitempty"`
}

// The bounds of browser_qa.
const (
	maxQATexts = 20
	maxFound   = 10
)

// qa is one check of a page.
type qa struct {
	*call
	in     qaInput
	within time.Duration
	// errors and asked are what there was before.
	errors map[messages.ConsoleError]bool
	asked  map[string]bool
}

func runQA(ctx context.Context, c *call, in qaInput) (outcome, error) {
	if len(in.Texts) > maxQATexts || len(in.Ignore) > maxQATexts {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "texts and ignore: at most %d", maxQATexts)
	}
	if slices.ContainsFunc(in.Steps, func(s messages.BatchStep) bool { return s.Tool == qaTool }) {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "steps: none of them can be %s", qaTool)
	}
	steps := messages.BatchRequest{Steps: in.Steps}
	if len(in.Steps) > 0 {
		if err := steps.Validate(); err != nil {
			return outcome{}, err
		}
	}
	q := &qa{call: c, in: in, within: 30 * time.Second, errors: map[messages.ConsoleError]bool{}, asked: map[string]bool{}}
	if in.TimeoutS != 0 {
		q.within = time.Duration(clampTimeout(in.TimeoutS) * float64(time.Second))
	}
	steps.TimeoutS = q.within.Seconds()
	if err := q.remember(ctx); err != nil {
		return outcome{}, err
	}
	if in.URL != "" {
		if _, err := runNavigate(ctx, c, navigate{on: in.on, URL: in.URL, WaitUntil: in.WaitUntil, TimeoutS: q.within.Seconds()}); err != nil {
			return outcome{}, err
		}
	}
	out := qaOutput{Checks: []qaCheck{}}
	if len(in.Steps) > 0 {
		out.Steps = q.run(ctx, steps)
	}
	if out.Steps == nil || out.Steps.OK {
		var err error
		if out.Checks, err = q.checks(ctx, q.all()); err != nil {
			return outcome{}, err
		}
	}
	return q.verdict(out)
}

// remember notes what was there before: it is not what this check is about. Without an address the
// page is checked as it is, with all that it has brought.
func (q *qa) remember(ctx context.Context) error {
	if q.in.URL == "" && len(q.in.Steps) == 0 {
		return nil
	}
	snap, err := q.snapshot()
	if err != nil {
		return err
	}
	for _, e := range snap.ConsoleErrors {
		q.errors[e] = true
	}
	if q.in.URL != "" || len(snap.Pages) == 0 {
		return nil // the new document has a timeline of its own
	}
	before, err := q.requests(ctx)
	for _, r := range before {
		q.asked[r.key()] = true
	}
	return err
}

// key tells a request from others of its page.
func (r networkRequest) key() string { return fmt.Sprint(r.Start, " ", r.URL) }

// run runs the steps, and looks for errors after each.
func (q *qa) run(ctx context.Context, steps messages.BatchRequest) *messages.BatchResult {
	for i, s := range steps.Steps {
		if _, isNamed := s.Input["tab"]; !isNamed && q.in.Tab != "" {
			steps.Steps[i].Input = messages.ToolInput{"tab": q.in.Tab}
			for name, v := range s.Input {
				steps.Steps[i].Input[name] = v
			}
		}
	}
	return q.batch(ctx, q.by, q.task, steps, func(step int, _ *messages.ToolResult) *messages.ToolResult {
		if q.in.KeepGoing {
			return nil // they are all named at the end
		}
		checks, err := q.checks(ctx, q.silent())
		if err == nil {
			for _, one := range checks {
				if !one.Passed {
					err = one.failure()
				}
			}
		}
		if err == nil {
			return nil
		}
		return q.notRun(ctx, steps.Steps[step], q.by, q.task, q.failure(ctx, err))
	})
}

// check looks at one thing of the page.
type check struct {
	name string
	// look returns what is not as it should be.
	look func(ctx context.Context) (found []string, err error)
}

// silent are the checks for errors, which need nothing of the page.
func (q *qa) silent() []check {
	return []check{
		{checkExceptions, func(context.Context) ([]string, error) { return q.newErrors(true) }},
		{checkConsole, func(context.Context) ([]string, error) { return q.newErrors(false) }},
		{checkRequests, q.failedRequests},
	}
}

// all are the checks that the input asks for. What the page has to show is waited for first: what
// goes wrong on the way there is an error as well.
func (q *qa) all() (out []check) {
	for _, text := range q.in.Texts {
		out = append(out, check{checkText, func(ctx context.Context) ([]string, error) {
			_, err := runWait(ctx, q.call, waitInput{on: q.in.on, Text: text, TimeoutS: q.within.Seconds()})
			return missing(ctx, text, err)
		}})
	}
	if q.in.Selector != "" {
		out = append(out, check{checkElement, q.element})
	}
	return append(out, q.silent()...)
}

// missing says that something is not there, where the error is of that kind.
func missing(ctx context.Context, what string, err error) ([]string, error) {
	switch code := messages.CodeOf(err); {
	case ctx.Err() != nil:
	case code == messages.CodeDeadline, code == messages.CodeElementNotFound, code == messages.CodeNotActionable:
		return []string{redact.Text(what)}, nil
	}
	return nil, err
}

// element waits for the element to be visible.
func (q *qa) element(ctx context.Context) ([]string, error) {
	for began := time.Now(); ; {
		e, err := q.call.element(ctx, pointer{Selector: q.in.Selector})
		if err == nil {
			_, err = q.actionable(ctx, e, "look", q.within-time.Since(began))
		}
		code := messages.CodeOf(err)
		if code != messages.CodeElementNotFound && code != messages.CodeStaleRef || time.Since(began) > q.within {
			return missing(ctx, q.in.Selector, err)
		}
		if err := pause(ctx, waitPoll); err != nil {
			return nil, err
		}
	}
}

// checks makes checks, up to the first that fails unless all are wanted.
func (q *qa) checks(ctx context.Context, all []check) ([]qaCheck, error) {
	out := []qaCheck{}
	for _, one := range all {
		if one.name == checkExceptions {
			// What is shown by now may still bring errors. A page that is busy on and on is checked all the same.
			if _, err := q.awaitQuiet(ctx); ctx.Err() != nil {
				return out, silence(ctx, err)
			}
		}
		found, err := one.look(ctx)
		if err != nil {
			return out, err
		}
		found = slices.DeleteFunc(found, func(s string) bool {
			return slices.ContainsFunc(q.in.Ignore, func(part string) bool { return part != "" && strings.Contains(s, part) })
		})
		if out = append(out, qaCheck{one.name, len(found) == 0, found[:min(len(found), maxFound)]}); len(found) > 0 && !q.in.KeepGoing {
			break
		}
	}
	return out, nil
}

// newErrors are the exceptions, or the other errors, that the task's pages have reported meanwhile.
func (q *qa) newErrors(areExceptions bool) (found []string, err error) {
	snap, err := q.snapshot()
	if err != nil {
		return nil, err
	}
	for _, e := range snap.ConsoleErrors {
		if (e.Level == messages.ConsoleException) == areExceptions && !q.errors[e] {
			found = append(found, fmt.Sprintf("%s (%s)", cut(e.Text, 300), cut(e.URL, 200)))
		}
	}
	return found, nil
}

// failedRequests are those that the page has sent meanwhile.
func (q *qa) failedRequests(ctx context.Context) (found []string, err error) {
	all, err := q.requests(ctx)
	for _, r := range all {
		isIcon := r.Kind == "other" && strings.HasSuffix(r.URL, "/favicon.ico") // the browser's own idea
		if r.hasFailed() && !isIcon && !q.asked[r.key()] {
			found = append(found, r.words())
		}
	}
	return found, err
}

// failure is the error of a check that did not pass.
func (k qaCheck) failure() *messages.Error {
	return messages.Errorf(messages.CodeCheckFailed, "%s: %s", k.Name, redact.Text(strings.Join(k.Found, "; "))).With("check", k.Name)
}

// verdict is the result.
func (q *qa) verdict(out qaOutput) (outcome, error) {
	var text strings.Builder
	var failed error
	if out.Steps != nil {
		fmt.Fprintf(&text, "%d of %d steps done\n", out.Steps.Completed, len(out.Steps.Results))
		if !out.Steps.OK {
			at := *out.Steps.FailedStep
			bad := out.Steps.Results[at]
			why := messages.Errorf(out.Steps.Code, "step %d, %s: %s", at, bad.Tool, bad.Result.Error.Message)
			if name, ok := bad.Result.Error.Details["check"]; ok {
				why = why.With("check", name)
			}
			failed = why
		}
	}
	for _, one := range out.Checks {
		if one.Passed {
			text.WriteString("ok " + one.Name + "\n")
			continue
		}
		fmt.Fprintf(&text, "FAILED %s\n", one.Name)
		for _, f := range one.Found {
			text.WriteString("- " + f + "\n")
		}
		if failed == nil {
			failed = one.failure()
		}
	}
	out.Passed = failed == nil
	done := outcome{text: cutMarked(strings.TrimSpace(text.String()), maxText), data: out, isOfPage: true, category: "inspection"}
	if out.Steps != nil {
		for _, s := range out.Steps.Results {
			if s.Result != nil {
				done.files = append(done.files, s.Result.Artifacts...)
			}
		}
	}
	return done, failed
}

// afterCheck are the calls that show more of what a check has found.
func (c *call) afterCheck(err *messages.Error) []messages.NextAction {
	switch err.Details["check"] {
	case checkRequests:
		return []messages.NextAction{c.onPage("browser_network_requests", "the requests that failed", messages.ToolInput{"failed": true})}
	case checkText, checkElement:
		return []messages.NextAction{c.onPage("browser_snapshot", "what the page shows", nil)}
	}
	return []messages.NextAction{c.onPage("browser_console_messages", "the errors", nil)}
}
