package cli

import (
	"encoding/json"
	"io"
	"strings"

	"holdfast/messages"
)

type toolCmd struct {
	ID    *taskID `arg:"" optional:"" predictor:"task" name:"task" help:"The task. Without it the tools are listed."`
	Name  string  `arg:"" optional:"" help:"The tool, such as browser_click."`
	Input string  `arg:"" optional:"" name:"input-json" help:"Its input, a JSON object. - reads it from standard input."`
	Start bool    `help:"Start the task where it does not run."`
	Full  bool    `help:"List the schemas too."`
	reaching
}

// Help implements kong.HelpProvider.
func (*toolCmd) Help() string {
	return `Examples:
  holdfast tool
  holdfast tool checkout-7 browser_snapshot
  holdfast tool checkout-7 browser_evaluate '{"expression":"document.title"}'`
}

// maxToolInput bounds an input that is read from standard input, in bytes.
const maxToolInput = 4 << 20

// Run implements the command.
func (c *toolCmd) Run(r *run) error {
	if c.ID == nil {
		return c.list(r)
	}
	if c.Name == "" {
		return usagef("name the tool as well; holdfast tool lists them")
	}
	input := []byte(c.Input)
	if c.Input == "-" {
		var err error
		if input, err = io.ReadAll(io.LimitReader(r.Stdin, maxToolInput+1)); err != nil {
			return err
		}
	}
	var object map[string]any
	if len(input) > 0 && json.Unmarshal(input, &object) != nil {
		return usagef("the input must be a JSON object")
	}
	if c.Start {
		if err := c.start(r); err != nil {
			return err
		}
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	res, err := node.CallTool(r, c.ID.TaskID, c.Name, input)
	if err != nil {
		return err
	}
	if res.Error != nil {
		return res.Error
	}
	for line := range strings.Lines(res.Text) {
		r.people("%s\n", clean(strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// start starts the task, and prints nothing of it.
func (c *toolCmd) start(r *run) error {
	node, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer node.Close()
	_, _, err = node.GetOrStart(r, c.ID.TaskID, messages.TaskSpec{})
	return err
}

// list prints the tools that the node has.
func (c *toolCmd) list(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	list, err := node.Tools(r)
	if err != nil {
		return err
	}
	for _, t := range list.Tools {
		r.people("%-26s %s\n", t.Name, clean(t.Title))
		if c.Full {
			schema, err := json.MarshalIndent(t.InputSchema, "  ", "  ")
			if err != nil {
				return err
			}
			r.people("  %s\n", schema)
		}
	}
	return nil
}
