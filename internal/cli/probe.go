package cli

import (
	"encoding/json"

	"holdfast/client"
)

// probeCmd is what a container engine runs to see how the node is: an image
// has no other HTTP client than the node itself.
type probeCmd struct {
	What string `arg:"" optional:"" enum:"live,ready" default:"ready" help:"live: it answers. ready: it takes new tasks (${default})."`
	Node string `placeholder:"URL" group:"The node" help:"The node. Default: the one that serve runs on this machine. (HOLDFAST_NODE)"`
	printing
}

// Run implements the command. It needs no token, and so does not mind one that
// cannot be read.
func (c *probeCmd) Run(r *run) error {
	at, _, err := r.find()
	if at == "" {
		return err
	}
	node, err := client.New(at, client.Options{})
	if err != nil {
		return &usageError{err: err}
	}
	defer node.Close()
	ask := node.Ready
	if c.What == "live" {
		ask = node.Live
	}
	if err := ask(r); err != nil {
		return err
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(map[string]any{"ok": true, "probe": c.What})
	}
	r.people("%s\n", c.What)
	return nil
}
