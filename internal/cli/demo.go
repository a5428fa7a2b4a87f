package cli

import "holdfast/messages"

type demoCmd struct {
	browserFlags
}

// Run implements the command.
func (c *demoCmd) Run(r *run) error { return c.tell(r, r.Demo) }

type clusterDemoCmd struct {
	browserFlags
}

// Run implements the command.
func (c *clusterDemoCmd) Run(r *run) error { return c.tell(r, r.ClusterDemo) }

// tell runs a demo with the browser of the flags.
func (f browserFlags) tell(r *run, demo TellDemo) error {
	if demo == nil {
		return messages.Errorf(messages.CodeInternal, "this build has no demo")
	}
	return demo(r, DemoOptions{Out: r.Stdout, ChromePath: f.Chrome, ChromeArgs: f.ChromeArg})
}
