package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"holdfast/internal/cluster/certs"
	"holdfast/messages"
)

type clusterCmd struct {
	Demo    clusterDemoCmd    `cmd:"" help:"Three nodes and a real browser on this machine: one node is killed, and another one answers."`
	Init    clusterInitCmd    `cmd:"" help:"Make a CA, and a certificate for each node."`
	Status  clusterStatusCmd  `cmd:"" help:"Show the cluster that a node is part of, and all its nodes."`
	Members clusterMembersCmd `cmd:"" help:"List the nodes of the cluster that a node is part of."`

	Cordon    clusterCordonCmd    `cmd:"" help:"Keep new tasks from a node, over its restarts."`
	Drain     clusterDrainCmd     `cmd:"" help:"Give the tasks of a node to others, and keep new ones from it."`
	Rebalance clusterRebalanceCmd `cmd:"" help:"Give tasks to the nodes on which they would be placed now."`
	Uncordon  clusterUncordonCmd  `cmd:"" help:"Let a node take new tasks again."`

	Snapshot clusterSnapshotCmd `cmd:"" help:"Copy the cluster's store into a file."`
	Restore  clusterRestoreCmd  `cmd:"" help:"Make the store of a voter that does not run of such a file."`
	Recover  clusterRecoverCmd  `cmd:"" help:"Have a voter go on alone, after a majority of voters is lost for good."`
	Replace  clusterReplaceCmd  `cmd:"" name:"replace-voter" help:"Give the place of a voter that has lost its data to one without data."`
}

type clusterInitCmd struct {
	Dir   string   `arg:"" type:"path" help:"The directory of the files. It is made where there is none."`
	Nodes []string `arg:"" optional:"" name:"node" placeholder:"NODE" help:"A node: its name, or NAME=ADDRESS,ADDRESS with the host names and IP addresses at which it is dialled. Loopback addresses need not be named. Default: a, b and c."`
	printing
}

// Run implements the command.
func (c *clusterInitCmd) Run(r *run) error {
	given := c.Nodes
	if len(given) == 0 {
		given = []string{"a", "b", "c"}
	}
	var nodes []certs.Node
	for _, g := range given {
		name, addresses, _ := strings.Cut(g, "=")
		n := certs.Node{Name: name, Addresses: []string{"localhost", "127.0.0.1", "::1"}}
		if addresses != "" {
			n.Addresses = append(n.Addresses, strings.Split(addresses, ",")...)
		}
		if err := n.Validate(); err != nil {
			return &usageError{err: err}
		}
		nodes = append(nodes, n)
	}
	written, err := certs.Init(c.Dir, nodes, time.Now())
	if err != nil {
		return messages.Errorf(messages.CodeInvalidArgument, "%v", err)
	}
	if r.IsJSON {
		if written == nil {
			written = []string{}
		}
		return json.NewEncoder(r.Stdout).Encode(map[string]any{"files": written})
	}
	for _, file := range written {
		r.people("%s\n", clean(file))
	}
	if len(written) == 0 {
		r.people("all files are there already\n")
	}
	return nil
}

type clusterStatusCmd struct{ reaching }

// Run implements the command.
func (*clusterStatusCmd) Run(r *run) error {
	c, err := r.cluster()
	if err != nil || r.IsJSON {
		return err
	}
	word := "the store answers"
	if !c.HasQuorum {
		word = "the store does not answer"
	}
	r.people("cluster %s, era %d: %s\n", clean(c.Name), c.Era, word)
	return r.listNodes(c)
}

type clusterMembersCmd struct{ reaching }

// Run implements the command.
func (*clusterMembersCmd) Run(r *run) error {
	c, err := r.cluster()
	if err != nil || r.IsJSON {
		return err
	}
	return r.listNodes(c)
}

// nameMissing says which nodes of the cluster did not answer in time.
func (r *run) nameMissing(nodes []string) {
	for _, n := range nodes {
		r.people("node %s does not answer: what it has is not shown\n", clean(n))
	}
}

// cluster asks the node for its cluster.
func (r *run) cluster() (messages.Cluster, error) {
	node, err := r.client()
	if err != nil {
		return messages.Cluster{}, err
	}
	defer node.Close()
	return node.Cluster(r)
}

func (r *run) listNodes(c messages.Cluster) error {
	w := tabwriter.NewWriter(r.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE\tSTATE\tVOTER\tTERM\tTASKS\tANCHORS\tPLACES\tVERSION\tADDRESS")
	for _, n := range c.Nodes {
		isVoter := "no"
		if n.IsVoter {
			isVoter = "yes"
		}
		state := string(n.State)
		if n.IsCordoned {
			state += ", cordoned"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", clean(n.Node), state, isVoter, n.Term, n.Tasks, n.Anchors, n.Places, clean(n.Version), clean(n.Addresses.HTTP))
	}
	return w.Flush()
}
