package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/voter"
	"holdfast/messages"
)

const (
	// operateTime bounds one change of the store by an operator.
	operateTime = 14 * time.Second
	// insistEvery is the pause between two attempts.
	insistEvery = 200 * time.Millisecond
)

// Keeper is the voter of a node.
type Keeper interface {
	// Standing is what the voter tells one that has no data.
	Standing(context.Context) voter.Standing
	// Recover makes the node's copy the whole store.
	Recover(context.Context) error
}

// Servers are the servers of a store that the nodes keep themselves.
type Servers interface {
	// Snapshot streams a copy of the store.
	Snapshot(context.Context) (io.ReadCloser, error)
	// Replace gives the place of the voter at a peer URL to one without data.
	Replace(context.Context, url.URL) error
	// HasVoter says whether a voter serves clients at a URL.
	HasVoter(ctx context.Context, endpoint string) bool
}

// Notes is what a node keeps of the cluster over its restarts.
type Notes interface {
	// SetEra keeps the highest era that the node has met.
	SetEra(uint32) error
	// SetCordoned keeps whether the node takes no tasks.
	SetCordoned(bool) error
}

// servers are those of the store, or an error where others run it.
func (c *Cluster) servers() (Servers, error) {
	if c.config.Servers == nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "the store is an etcd that others run: its own tools copy, restore and repair it")
	}
	return c.config.Servers, nil
}

// Snapshot streams a copy of the store.
//
// Codes: invalid_argument, no_quorum.
func (c *Cluster) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	s, err := c.servers()
	if err != nil {
		return nil, err
	}
	r, err := s.Snapshot(ctx)
	if err != nil {
		return nil, c.noStore("copy the store", err)
	}
	return r, nil
}

// Replace gives the place of a voter whose data is lost to one without data under its name.
//
// Codes: invalid_argument, no_quorum.
func (c *Cluster) Replace(ctx context.Context, name string) error {
	s, err := c.servers()
	if err != nil {
		return err
	}
	address, ok := c.config.Voters[name]
	switch {
	case !ok:
		return messages.Errorf(messages.CodeInvalidArgument, "%s is none of cluster.voters", name)
	case name == c.config.Node:
		return messages.Errorf(messages.CodeInvalidArgument, "this node is %s: ask another node", name)
	}
	ctx, cancel := context.WithTimeout(ctx, operateTime)
	defer cancel()
	list, err := voter.Endpoints(map[string]string{name: address}, c.config.TLS != nil)
	if err != nil {
		return err
	}
	probe, end := context.WithTimeout(ctx, peerDial)
	defer end()
	if s.HasVoter(probe, list[0]) {
		return messages.Errorf(messages.CodeInvalidArgument, "voter %s runs: end its node first", name)
	}
	peer := url.URL{Scheme: "https", Host: address}
	if c.config.TLS == nil {
		peer.Scheme = "http"
	}
	// Voters take no change of the list until the others have stood for some seconds.
	if err := insist(ctx, func() error { return s.Replace(ctx, peer) }); err != nil {
		return c.noStore("replace voter "+name, err)
	}
	c.config.Log.Warn("a voter's place is free for one without data", "voter", name)
	return nil
}

// Recover makes this node's copy of the store the whole of it, and begins a new era.
//
// Codes: invalid_argument, no_quorum.
func (c *Cluster) Recover(ctx context.Context) (uint32, error) {
	if _, err := c.servers(); err != nil {
		return 0, err
	}
	if c.config.Keeper == nil {
		return 0, messages.Errorf(messages.CodeInvalidArgument, "node %s is no voter: ask the one that is left", c.config.Node)
	}
	ctx, cancel := context.WithTimeout(ctx, operateTime)
	defer cancel()
	c.config.Log.Warn("an operator says that this node is the last: its copy becomes the store", "node", c.config.Node)
	if err := c.config.Keeper.Recover(ctx); err != nil {
		return 0, c.noStore("recover the store", err)
	}
	era, err := RaiseEra(ctx, c.config.Store, c.member.Era())
	if err != nil {
		return 0, c.noStore("begin a new era", err)
	}
	if err := c.config.Notes.SetEra(era); err != nil {
		return 0, err
	}
	return era, nil
}

// RaiseEra begins a new era in a store, above the one that is known.
func RaiseEra(ctx context.Context, s store.Store, known uint32) (uint32, error) {
	var era uint32
	err := insist(ctx, func() (err error) {
		era, err = raiseOnce(ctx, s, known)
		return err
	})
	return era, err
}

// insist repeats what can be repeated until it is done. It returns the last error where the
// context ends first.
func insist(ctx context.Context, do func() error) error {
	ticker := time.NewTicker(insistEvery)
	defer ticker.Stop()
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

func raiseOnce(ctx context.Context, s store.Store, known uint32) (uint32, error) {
	attempt, cancel := context.WithTimeout(ctx, peerPatience)
	defer cancel()
	l, err := s.List(attempt)
	if err != nil {
		return 0, err
	}
	txn, era, err := lease.RaiseEra(l, known)
	if err != nil {
		return 0, err
	}
	r, err := s.Commit(attempt, txn)
	if err == nil && !r.IsDone {
		err = errors.New("the record of the cluster has changed meanwhile")
	}
	return era, err
}

// Cordon has this node take no new tasks, over its restarts too; or it takes that back.
func (c *Cluster) Cordon(isCordoned bool) error {
	if err := c.config.Notes.SetCordoned(isCordoned); err != nil {
		return err
	}
	c.isCordoned.Store(isCordoned)
	c.member.Cordon(isCordoned)
	return nil
}

// keepEra writes down an era that the node has not met before.
func (c *Cluster) keepEra() {
	era := c.member.Era()
	if era == c.keptEra {
		return
	}
	if err := c.config.Notes.SetEra(era); err != nil {
		c.config.Log.Warn("the era of the cluster could not be kept", "err", err)
		return
	}
	c.keptEra = era
}

// noStore says what the store did not do; the log has the reason.
func (c *Cluster) noStore(what string, err error) error {
	c.config.Log.Warn("the store could not "+what, "err", err)
	return messages.Errorf(messages.CodeNoQuorum, "the store did not %s: %s", what, reason(err)).With("retry_after_s", 1)
}

// reason is what an error of the store says; it has addresses and names, and no record.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no quorum of voters has answered in time"
	}
	return fmt.Sprint(err)
}
