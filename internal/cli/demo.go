package cli

import "holdfast/messages"

type demoCmd struct {
	browserFlags
}

// Run implements the command.
func (c *demoCmd) Run(r *run) error {
	if r.Demo == nil {
		return messages.Errorf(messages.CodeInternal, "this build has no demo")
	}
	return r.Demo(r, DemoOptions{Out: r.Stdout, ChromePath: c.Chrome, ChromeArgs: c.ChromeArg})
}
