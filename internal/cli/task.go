package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"holdfast/messages"
)

type taskCmd struct {
	Start taskStartCmd `cmd:"" help:"Start a task, or change a running one."`
	Ls    taskLsCmd    `cmd:"" help:"List tasks."`
	Show  taskShowCmd  `cmd:"" help:"Show one task."`
	Stop  taskStopCmd  `cmd:"" help:"Stop a task; one that does not run is no error."`
	Again taskAgainCmd `cmd:"" name:"restart" help:"Start a task that was lost or stopped as it was started before."`
}

type taskStartCmd struct {
	ID           taskID            `arg:"" optional:"" help:"The task's name."`
	New          bool              `help:"Let the node make up a name."`
	CDPURL       *string           `name:"cdp-url" placeholder:"URL" group:"The browser and its pages" help:"Attach to this browser instead of launching one. - reads it from standard input, where no process list shows it."`
	Launch       bool              `group:"The browser and its pages" help:"Launch a browser for the task; the default without --cdp-url."`
	Headful      bool              `group:"The browser and its pages" help:"Launch it with a window."`
	Policy       string            `predictor:"policy" placeholder:"POLICY" group:"Dialogs" help:"Who answers dialogs: must_respond, auto_dismiss or auto_accept."`
	Rules        *string           `name:"rules" placeholder:"JSON" group:"Dialogs" help:"What happens to single dialogs before the policy: a JSON array of rules, such as [{\"type\":\"confirm\",\"message\":\"*delete*\",\"action\":\"human\"}]; [] takes those of a running task away."`
	Blockers     *string           `name:"blockers" placeholder:"JSON" group:"Dialogs" help:"What happens to what pages ask their browser for besides dialogs: an object such as {\"permission\":\"ask\",\"file_chooser\":\"ask\",\"print\":\"ask\"}."`
	Timeout      seconds           `placeholder:"SECONDS" group:"Dialogs" help:"How long a dialog may wait for its answer."`
	BeforeUnload string            `name:"beforeunload" placeholder:"ANSWER" group:"Dialogs" help:"What beforeunload dialogs get: ask, accept or dismiss."`
	Bridge       string            `placeholder:"WHEN" group:"Dialogs" help:"Ask for alert, confirm and prompt in the page, where something else closes native dialogs: auto, on or off."`
	Threshold    int64             `name:"bridge-threshold" placeholder:"MS" group:"Dialogs" help:"If another client closes a native dialog faster than this, in milliseconds, --bridge auto turns the bridge on."`
	Anchor       string            `placeholder:"WHETHER" group:"Dialogs" help:"A second connection that keeps dialogs answerable: auto or off."`
	OnWedge      string            `placeholder:"ACTION" group:"When something breaks, and the end" help:"What is done unasked about a page that does not answer: report, release, reload or close."`
	OnWedgeAfter seconds           `placeholder:"SECONDS" group:"When something breaks, and the end" help:"How long a page has to be silent before --on-wedge acts on it, 5 at least. Default: 20."`
	Scope        string            `placeholder:"SCOPE" group:"The browser and its pages" help:"Which pages are the task's: own, browser or target."`
	Target       string            `placeholder:"ID" group:"The browser and its pages" help:"The page of scope target."`
	Isolation    string            `placeholder:"HOW" group:"The browser and its pages" help:"Whose cookies, storage and permissions the task has: context (its own), shared (the browser's) or auto (its own in a tab of a headless browser)."`
	IdleTimeout  seconds           `placeholder:"SECONDS" group:"When something breaks, and the end" help:"Stop the task when it gets no request for this long."`
	MaxLife      seconds           `placeholder:"SECONDS" group:"When something breaks, and the end" help:"Stop the task when it is this old."`
	GiveUpAfter  seconds           `placeholder:"SECONDS" group:"When something breaks, and the end" help:"How long a lost connection is tried for before the task is given up, 5 to 86400."`
	QueueTimeout *seconds          `placeholder:"SECONDS" group:"When something breaks, and the end" help:"How long the start may wait for a place on a node that is full; 0: not at all. Default: as long as the node lets it."`
	Label        map[string]string `placeholder:"KEY=VALUE" mapsep:"none" help:"The caller's own mark, for task ls; may be repeated."`
	reaching
}

func (c *taskStartCmd) spec(stdin io.Reader) (messages.TaskSpec, error) {
	cdpURL, err := c.cdpURL(stdin)
	if err != nil {
		return messages.TaskSpec{}, err
	}
	s := messages.TaskSpec{
		CDPURL: cdpURL, Scope: messages.Scope(c.Scope), TargetID: messages.TargetID(c.Target), Isolation: messages.Isolation(c.Isolation),
		DialogPolicy: messages.DialogPolicy(c.Policy), DialogTimeoutS: float64(c.Timeout), BeforeUnload: messages.BeforeUnload(c.BeforeUnload),
		Bridge: messages.Bridge(c.Bridge), BridgeThresholdMS: c.Threshold, Anchor: messages.Anchor(c.Anchor), OnWedge: messages.OnWedge(c.OnWedge), OnWedgeAfterS: float64(c.OnWedgeAfter),
		IdleTimeoutS: float64(c.IdleTimeout), MaxLifeS: float64(c.MaxLife), GiveUpAfterS: float64(c.GiveUpAfter), Labels: c.Label,
		QueueTimeoutS: (*float64)(c.QueueTimeout),
	}
	if c.Launch || c.Headful {
		s.Launch = &messages.LaunchSpec{}
		if c.Headful {
			headless := false
			s.Launch.Headless = &headless
		}
	}
	if c.Rules != nil {
		if err := messages.DecodeStrict(strings.NewReader(*c.Rules), &s.DialogRules); err != nil {
			return s, &usageError{err: fmt.Errorf("--rules: %w", err)}
		}
	}
	if c.Blockers != nil {
		if err := messages.DecodeStrict(strings.NewReader(*c.Blockers), &s.Blockers); err != nil {
			return s, &usageError{err: fmt.Errorf("--blockers: %w", err)}
		}
	}
	if err := s.Validate(); err != nil {
		return s, &usageError{err: err}
	}
	return s, nil
}

// cdpURL refuses an empty URL: a script whose variable is not set would
// launch a browser instead of attaching to one.
func (c *taskStartCmd) cdpURL(stdin io.Reader) (messages.CDPURL, error) {
	if c.CDPURL == nil {
		return messages.CDPURL{}, nil
	}
	raw := *c.CDPURL
	if raw == "-" {
		b, err := io.ReadAll(io.LimitReader(stdin, messages.MaxCDPURLLength+2))
		if err != nil {
			return messages.CDPURL{}, err
		}
		raw = strings.TrimSpace(string(b))
	}
	u, err := messages.ParseCDPURL(raw)
	switch {
	case err != nil:
		return messages.CDPURL{}, &usageError{err: err}
	case u.IsZero():
		return messages.CDPURL{}, usagef("--cdp-url is empty")
	}
	return u, nil
}

// Run implements the command.
func (c *taskStartCmd) Run(r *run) error {
	if (c.ID.TaskID == "") != c.New {
		return usagef("name the task, or let --new name it")
	}
	spec, err := c.spec(r.Stdin)
	if err != nil {
		return err
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	var (
		snap    *messages.Snapshot
		started = true
	)
	if c.ID.TaskID == "" {
		snap, err = node.Start(r, spec)
	} else {
		snap, started, err = node.GetOrStart(r, c.ID.TaskID, spec)
	}
	if err != nil {
		return err
	}
	r.people("%s %s, %s, on %s\n", snap.TaskID, startWord(started), clean(string(snap.State)), clean(snap.Connection.Endpoint))
	return nil
}

type taskAgainCmd struct {
	ID taskID `arg:"" predictor:"task" help:"The task."`
	reaching
}

// Run implements the command.
func (c *taskAgainCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	snap, started, err := node.Restart(r, c.ID.TaskID)
	if err != nil {
		return err
	}
	r.people("%s %s, %s, on %s\n", snap.TaskID, startWord(started), clean(string(snap.State)), clean(snap.Connection.Endpoint))
	return nil
}

// startWord says what a start came to.
func startWord(isNew bool) string {
	if isNew {
		return "started"
	}
	return "runs already"
}

type taskLsCmd struct {
	Label map[string]string `placeholder:"KEY=VALUE" mapsep:"none" help:"Only tasks with this label; may be repeated."`
	reaching
}

// Run implements the command.
func (c *taskLsCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	list, err := node.TaskList(r, c.Label)
	if err != nil || r.IsJSON {
		return err
	}
	tasks := list.Tasks
	defer r.nameMissing(list.Missing)
	if len(tasks) == 0 {
		r.people("no tasks\n")
		return nil
	}
	t := newTable(r.screen(), "TASK", "STATE", "LINK", "PAGES", "DIALOGS", "RECONNECTS", "PAGE", "BROWSER").
		fit([]string{"BROWSER", "RECONNECTS", "LINK"}, []string{"PAGE", "TASK"}).paint("STATE", paintState).paint("LINK", paintState)
	for _, s := range tasks {
		t.row(clean(string(s.TaskID)), clean(string(s.State)), clean(string(s.Connection.Primary)), strconv.Itoa(len(s.Pages)),
			strconv.Itoa(len(s.PendingDialogs)), strconv.FormatUint(s.Connection.Reconnects, 10), clean(currentURL(s)), clean(s.Connection.Endpoint))
	}
	t.flush()
	return nil
}

// stateOf is a task's state, of one that recovers with how far that is.
func stateOf(s *messages.Snapshot, now time.Time) string {
	c := s.Connection
	if s.State != messages.StateRecovering || c.RecoveringSince == 0 {
		return string(s.State)
	}
	away := max(0, messages.SecondsOf(now)-c.RecoveringSince) // the node's clock may be another
	text := fmt.Sprintf("%s, %.0f s of %g, attempt %d", s.State, float64(away), c.GiveUpAfterS, c.Attempt)
	if why, _, _ := strings.Cut(c.LastError, ": "); why != "" {
		text += ": " + why
	}
	return text
}

// currentURL is where the task's current page is.
func currentURL(s *messages.Snapshot) string {
	for _, p := range s.Pages {
		if p.TargetID == s.PageTargetID {
			return p.URL
		}
	}
	return ""
}

type taskShowCmd struct {
	ID taskID `arg:"" predictor:"task" help:"The task."`
	reaching
}

// Run implements the command.
func (c *taskShowCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	s, err := node.Snapshot(r, c.ID.TaskID, messages.SnapshotOptions{})
	if err != nil || r.IsJSON {
		return err
	}
	printTask(r.Stdout, s)
	return nil
}

// links is how a task's two connections are.
func links(c messages.Connection) string {
	anchor := string(c.Anchor)
	if why, ok := noAnchor[c.AnchorOff]; ok {
		anchor = "off: " + why
	}
	links := "primary " + string(c.Primary) + ", anchor " + anchor + bridged(c.Bridge, c.BridgeBy)
	if c.IsolationOff == messages.IsolationOffRefused {
		links += ", not isolated: the browser makes no context"
	}
	return links
}

// bridged says what a connection or a page has of the bridge, unless its dialogs
// are native.
func bridged(how messages.Bridge, by messages.BridgeBy) string {
	switch {
	case how == "" || how == messages.BridgeNative:
		return ""
	case by != "":
		return fmt.Sprintf(", bridge %s by %s", how, by)
	}
	return ", bridge " + string(how)
}

// noAnchor says to people why a task has no anchor.
var noAnchor = map[messages.AnchorOff]string{
	messages.AnchorOffSpec:        "as the spec wants",
	messages.AnchorOffForeign:     "each connection gets a browser of its own",
	messages.AnchorOffSingle:      "the browser takes one connection at a time",
	messages.AnchorOffUnreachable: "no second connection is to be had",
}

// printTask prints what a task is, without what is on its pages.
func printTask(w io.Writer, s *messages.Snapshot) {
	state := stateOf(s, time.Now())
	if s.Reason != "" {
		state += ": " + s.Reason
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s%s\n", name, clean(fmt.Sprintf(format, args...)))
	}
	line("task", "%s", s.TaskID)
	line("state", "%s", state)
	line("version", "%d", s.Version)
	line("browser", "%s", s.Connection.Endpoint)
	line("connection", "%s, %s, last gap %d ms", links(s.Connection), count(s.Connection.Reconnects, "reconnect"), s.Connection.LastGapMS)
	line("page", "%s %s", s.PageTargetID, s.PageState)
	line("pages", "%d", len(s.Pages))
	line("dialogs", "%d waiting", len(s.PendingDialogs))
	for k, v := range s.Labels {
		line("label", "%s=%s", k, v)
	}
}

type taskStopCmd struct {
	ID taskID `arg:"" predictor:"task" help:"The task."`
	reaching
}

// Run implements the command.
func (c *taskStopCmd) Run(r *run) error {
	node, err := r.clientThat(nil) // the JSON of the outcome is made here
	if err != nil {
		return err
	}
	defer node.Close()
	// The stop itself does not tell: it succeeds for a task that does not run.
	before, err := node.Snapshot(r, c.ID.TaskID, messages.SnapshotOptions{})
	if err != nil && messages.CodeOf(err) != messages.CodeTaskNotFound {
		return err
	}
	wasRunning := err == nil && before.State != messages.StateStopped
	if err := node.StopTask(r, c.ID.TaskID); err != nil {
		return err
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(stopped{c.ID.TaskID, wasRunning})
	}
	word := "stopped"
	if !wasRunning {
		word = "was not running"
	}
	r.people("%s %s\n", c.ID.TaskID, word)
	return nil
}

// stopped is the outcome of task stop as JSON.
type stopped struct {
	TaskID     messages.TaskID `json:"task_id"`
	WasRunning bool            `json:"was_running"`
}
