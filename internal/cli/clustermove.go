package cli

import (
	"context"

	"holdfast/client"
	"holdfast/messages"
)

type clusterDrainCmd struct {
	Name string `arg:"" name:"node" help:"The node's name."`
	reaching
}

// Run implements the command.
func (c *clusterDrainCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	moves, err := node.DrainNode(r, c.Name)
	if err != nil || r.IsJSON {
		return err
	}
	r.showMoves(c.Name, moves)
	return nil
}

type clusterRebalanceCmd struct {
	Names []string `arg:"" optional:"" name:"node" help:"The nodes whose tasks are looked at; without one, all that have a lease."`
	reaching
}

// Run implements the command. One node after another gives tasks away, so that it is not more than
// one hand-over's load at a time.
func (c *clusterRebalanceCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	if len(c.Names) == 0 {
		if c.Names, err = holders(r, node); err != nil {
			return err
		}
	}
	for _, name := range c.Names {
		moves, err := node.Rebalance(r, name)
		if err != nil {
			return err
		}
		if !r.IsJSON {
			r.people("%s: %d tasks have moved\n", clean(name), moves.Moved)
		}
	}
	return nil
}

// holders are the nodes that have a lease.
func holders(ctx context.Context, node *client.Client) (names []string, err error) {
	cluster, err := node.Cluster(ctx)
	for _, n := range cluster.Nodes {
		if n.State == messages.LeaseHeld {
			names = append(names, n.Node)
		}
	}
	return names, err
}

// showMoves says what came of giving a node's tasks away.
func (r *run) showMoves(name string, moves messages.ClusterMoves) {
	r.people("%s: %d tasks have moved, and it takes no new ones\n", clean(name), moves.Moved)
	for _, stay := range moves.Staying {
		r.people("%s stays: %s\n", clean(string(stay.TaskID)), clean(stay.Why))
	}
}
