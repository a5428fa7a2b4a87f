package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"holdfast/messages"
)

type clusterSnapshotCmd struct {
	File string `arg:"" help:"The file to write, which must not exist; - is standard output."`
	reaching
}

// Run implements the command.
func (c *clusterSnapshotCmd) Run(r *run) error {
	node, err := r.clientThat(nil)
	if err != nil {
		return err
	}
	defer node.Close()
	if c.File == "-" {
		_, err = node.ClusterSnapshot(r, r.Stdout)
		return err
	}
	f, err := os.OpenFile(c.File, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return usagef("%s cannot be made: %v", c.File, errors.Unwrap(err))
	}
	n, err := node.ClusterSnapshot(r, f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(c.File)
		return err
	}
	r.people("%s: %d bytes, and its hash is right\n", clean(c.File), n)
	return nil
}

// RestoreCluster makes the store of a voter of a copy, and returns the era that it has begun.
type RestoreCluster func(ctx context.Context, cfg NodeConfig, file string, known uint32) (era uint32, err error)

type clusterRestoreCmd struct {
	File string `arg:"" type:"existingfile" help:"The copy, of holdfast cluster snapshot or etcdctl snapshot save."`
	Era  uint32 `placeholder:"N" help:"The highest era that any node of the cluster has met, where that is not in this state directory: holdfast cluster status says it."`
	settings
	printing
}

// Run implements the command.
func (c *clusterRestoreCmd) Run(r *run) error {
	if r.Restore == nil {
		return messages.Errorf(messages.CodeInternal, "this build has no node")
	}
	cfg, err := c.load(r)
	if err != nil {
		return err
	}
	era, err := r.Restore(r, NodeConfig{Config: cfg.Config, Version: r.Version.Version}, c.File, c.Era)
	if err != nil {
		return messages.Errorf(messages.CodeInvalidArgument, "%v", err)
	}
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(messages.ClusterEra{Era: era})
	}
	r.people("the store is this voter's alone, and era %d has begun\n"+
		"next: start this node; then, for each other voter: delete its cluster/NAME/voter directory, run holdfast cluster replace-voter NAME, and start it\n", era)
	return nil
}

type clusterRecoverCmd struct {
	IAmTheLast bool `name:"i-am-the-last" help:"Your word that no other voter runs, or will with what it has. Without it nothing is done."`
	reaching
}

// Run implements the command.
func (c *clusterRecoverCmd) Run(r *run) error {
	if !c.IAmTheLast {
		return usagef("say --i-am-the-last: a voter that runs elsewhere, or starts again with what it has, would be a second store, and two nodes would decide for one task")
	}
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	era, err := node.RecoverCluster(r)
	if err != nil || r.IsJSON {
		return err
	}
	r.people("this node's copy is the store, and era %d has begun\n"+
		"next, for each other voter: delete its cluster/NAME/voter directory, run holdfast cluster replace-voter NAME, and start it\n", era.Era)
	return nil
}

type clusterReplaceCmd struct {
	Voter string `arg:"" help:"The voter's name, as in cluster.voters. Its node must not run."`
	reaching
}

// Run implements the command.
func (c *clusterReplaceCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	if err := node.ReplaceVoter(r, c.Voter); err != nil {
		return err
	}
	r.people("the place of voter %s is free\nnext: delete cluster/%s/voter in its state directory, if it is there, and start it\n", clean(c.Voter), clean(c.Voter))
	return nil
}

type clusterCordonCmd struct {
	Name string `arg:"" name:"node" help:"The node's name."`
	reaching
}

// Run implements the command.
func (c *clusterCordonCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	if err := node.Cordon(r, c.Name); err != nil {
		return err
	}
	r.people("%s takes no new tasks, and keeps those it has\n", clean(c.Name))
	return nil
}

type clusterUncordonCmd struct {
	Name string `arg:"" name:"node" help:"The node's name."`
	reaching
}

// Run implements the command.
func (c *clusterUncordonCmd) Run(r *run) error {
	node, err := r.client()
	if err != nil {
		return err
	}
	defer node.Close()
	if err := node.Uncordon(r, c.Name); err != nil {
		return err
	}
	r.people("%s takes new tasks again\n", clean(c.Name))
	return nil
}
