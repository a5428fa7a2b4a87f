package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"holdfast/messages"
)

type navigateCmd struct {
	ID      taskID  `arg:"" predictor:"task" help:"The task."`
	URL     string  `arg:"" help:"Where to."`
	Target  string  `placeholder:"ID" help:"Which page; the current one when not given."`
	Wait    string  `placeholder:"MOMENT" help:"When it counts as done: commit, domcontentloaded, load, networkidle0 or networkidle2."`
	Timeout seconds `placeholder:"SECONDS" help:"How long it may take."`

	LinkWait *seconds `name:"wait-link" placeholder:"SECONDS" help:"How long it waits for a lost connection to the browser; 0: not at all. Default: 5."`
	reaching
}

// Run implements the command.
func (c *navigateCmd) Run(r *run) error {
	req := messages.NavigateRequest{URL: c.URL, TargetID: messages.TargetID(c.Target), WaitUntil: messages.WaitUntil(c.Wait), TimeoutS: float64(c.Timeout), WaitS: (*float64)(c.LinkWait)}
	if err := req.Validate(); err != nil {
		return &usageError{err: err}
	}
	var err error
	if req.TargetID, _, err = r.named(c.ID.TaskID, c.Target, "", ""); err != nil {
		return err
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	res, err := node.Navigate(r, c.ID.TaskID, req)
	if err != nil {
		return err
	}
	word := "at"
	if res.Download {
		word = "a download; the page stays at"
	}
	r.people("%s %s\n", word, clean(res.URL))
	return nil
}

type cdpCmd struct {
	ID       taskID   `arg:"" predictor:"task" help:"The task."`
	Method   string   `arg:"" help:"The method, such as Runtime.evaluate."`
	Params   string   `arg:"" optional:"" name:"params-json" help:"Its parameters, a JSON object. - reads them from standard input."`
	Frame    string   `placeholder:"ID" help:"An out-of-process iframe to run it in; the beginning of its id is enough."`
	FrameURL string   `name:"frame-url" placeholder:"PART" help:"The same, by a part of its URL."`
	Target   string   `placeholder:"ID" help:"A page to run it in; the current one when not given."`
	Timeout  seconds  `placeholder:"SECONDS" help:"How long it may take."`
	Wait     *seconds `aliases:"wait-link" placeholder:"SECONDS" help:"How long it waits for a lost connection to the browser; 0: not at all. Default: 5."`
	OnDialog string   `placeholder:"WHAT" help:"What a dialog that holds it up means: fail (at once; the default), or wait (for its answer, as long as --timeout lets it)."`
	reaching
}

// Run implements the command.
func (c *cdpCmd) Run(r *run) error {
	params := []byte(c.Params)
	if c.Params == "-" {
		var err error
		if params, err = io.ReadAll(io.LimitReader(r.Stdin, messages.MaxCDPMessage+1)); err != nil {
			return err
		}
	}
	req := messages.CDPRequest{Method: c.Method, FrameID: messages.FrameID(c.Frame), TargetID: messages.TargetID(c.Target), TimeoutS: float64(c.Timeout), WaitS: (*float64)(c.Wait), OnDialog: messages.OnDialog(c.OnDialog)}
	if len(bytes.TrimSpace(params)) > 0 {
		req.Params = params
	}
	if err := req.Validate(); err != nil {
		return &usageError{err: err}
	}
	var err error
	if req.TargetID, req.FrameID, err = r.named(c.ID.TaskID, c.Target, c.Frame, c.FrameURL); err != nil {
		return err
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	res, err := node.CDP(r, c.ID.TaskID, req)
	if err != nil || r.IsJSON {
		return err
	}
	// The result is JSON for people too, only indented; control characters are
	// escaped in it already, but for the C1 ones.
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, res.Result, "", "  "); err != nil {
		return err
	}
	for _, line := range bytes.Split(pretty.Bytes(), []byte("\n")) {
		r.people("%s\n", clean(string(line)))
	}
	return nil
}
