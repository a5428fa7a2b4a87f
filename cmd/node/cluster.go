package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"holdfast/internal/cli"
	"holdfast/internal/cluster"
	"holdfast/internal/cluster/certs"
	"holdfast/internal/cluster/instance"
	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/seal"
	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/etcd"
	"holdfast/internal/cluster/store/voter"
	"holdfast/internal/node"
	"holdfast/messages"

	"holdfast/metrics"
)

// clustered is what a node has started of its cluster, in the order of its start.
type clustered struct {
	claim   *instance.Claim
	keeper  *voter.Keeper // nil on a node that keeps no store
	store   store.Store
	peers   net.Listener
	cluster *cluster.Cluster
	actors  *actorDoor // nil where programs on actors may not ask
}

// member is a node whose tasks are the cluster's: it starts none that another node has.
type member struct {
	*node.Node
	joined   *atomic.Pointer[clustered]
	override messages.CDPURL
	// move disconnects the CDP clients of a task, and tells them where it is.
	move func(id messages.TaskID, address string)
	log  *slog.Logger
}

// GetOrStart claims the task first.
func (m member) GetOrStart(ctx context.Context, id messages.TaskID, spec messages.TaskSpec) (*messages.Snapshot, bool, error) {
	if c := m.joined.Load(); c != nil {
		// A record is what a task is taken over from, without a check of its caller: a start that is refused
		// leaves none.
		if err := m.CheckStart(ctx, spec); err != nil {
			return nil, false, err
		}
		release, err := c.cluster.Claim(ctx, id, m.asked(ctx, spec))
		if err != nil {
			return nil, false, err
		}
		defer release()
		defer c.cluster.Remember(ctx, id)
	}
	return m.Node.GetOrStart(ctx, id, spec)
}

// asked is the spec that a start comes to.
func (m member) asked(ctx context.Context, spec messages.TaskSpec) messages.TaskSpec {
	spec = spec.Normalized()
	spec.QueueTimeoutS, spec.IsRestricted = nil, messages.CallerOf(ctx).IsScoped
	if !m.override.IsZero() {
		spec.CDPURL, spec.Launch = m.override, nil
	}
	return spec.WithDefaults()
}

// Restart claims the task first.
func (m member) Restart(ctx context.Context, id messages.TaskID) (*messages.Snapshot, bool, error) {
	if c := m.joined.Load(); c != nil {
		spec, ok := m.SpecOf(id)
		if !ok {
			return m.Node.Restart(ctx, id)
		}
		if err := m.CheckStart(ctx, spec); err != nil {
			return nil, false, err
		}
		release, err := c.cluster.Claim(ctx, id, m.asked(ctx, spec))
		if err != nil {
			return nil, false, err
		}
		defer release()
	}
	return m.Node.Restart(ctx, id)
}

// specified passes on with what a task is to be started elsewhere.
func specified(joined *atomic.Pointer[clustered], id messages.TaskID, spec messages.TaskSpec) {
	if c := joined.Load(); c != nil {
		c.cluster.Specified(id, spec)
	}
}

// Running lists the tasks that run here, or were lost here.
func (m member) Running() []messages.TaskID {
	var ids []messages.TaskID
	for _, t := range m.Tasks() {
		ids = append(ids, t.TaskID)
	}
	return ids
}

// Lease says whether the node may decide for its tasks.
func (m member) Lease(isHeld bool) { m.SetLease(isHeld) }

// TaskLease says whether it may decide for one of them.
func (m member) TaskLease(id messages.TaskID, isHeld bool) { m.SetTaskLease(id, isHeld) }

// permission returns what the links of a task ask last before they write what decides something.
func permission(joined *atomic.Pointer[clustered], id messages.TaskID) func() error {
	return func() error {
		if c := joined.Load(); c != nil {
			return c.cluster.MayDecide(id)
		}
		return messages.Errorf(messages.CodeLeaseLapsed, "the node has not joined its cluster yet").WithSent(messages.SentNo)
	}
}

// Yield ends a task that another node has.
func (m member) Yield(id messages.TaskID) {
	go func() {
		if err := m.StopTask(context.Background(), id); err != nil {
			m.log.Warn("a task that another node has did not end", "task", id, "err", err)
		}
	}()
}

// StandBy begins a standby of a task of another node.
func (m member) StandBy(ctx context.Context, id messages.TaskID, spec messages.TaskSpec, news cluster.StandbyNews) (cluster.Standby, error) {
	s, err := m.Node.StandBy(ctx, id, spec, news)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Followed has the standby on another node follow a task of this one.
func (m member) Followed(id messages.TaskID, by string, changed func()) (cluster.Follower, bool) {
	f, ok := m.Node.Followed(id, by, changed)
	if !ok {
		return nil, false
	}
	return f, true
}

// Moved ends a task that has been given to another node.
func (m member) Moved(id messages.TaskID, address string) {
	m.move(id, address)
	m.Yield(id)
}

// nodeName is the name of the node in its cluster.
func nodeName(cfg cli.NodeConfig) (string, error) {
	name := cfg.NodeName
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			return "", fmt.Errorf("cluster: the host has no name: %w", err)
		}
		name = strings.ToLower(host)
	}
	if err := lease.ValidName(name); err != nil {
		return "", fmt.Errorf("cluster: %w: set node_name", err)
	}
	return name, nil
}

// joinCluster starts the node's part in the cluster that its settings name. It waits for no
// other node.
func joinCluster(cfg cli.NodeConfig, n member) (*clustered, error) {
	name, err := nodeName(cfg)
	if err != nil {
		return nil, err
	}
	files := certs.Files{Cert: cfg.Cluster.Cert, Key: cfg.Cluster.Key, CA: cfg.Cluster.CA}
	identity, err := files.Config(cfg.Cluster.AllowedNames)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	voters, err := cfg.Cluster.VoterList()
	if err != nil {
		return nil, fmt.Errorf("cluster.voters: %w", err)
	}
	listen, advertise := cfg.Cluster.Addresses(name)
	peer, err := cluster.PeerAddress(advertise)
	if err != nil {
		return nil, fmt.Errorf("cluster: %s is not among cluster.voters, and cluster.listen is not set: %w", name, err)
	}
	var sealer *seal.Sealer
	if cfg.Cluster.SealKey == "" {
		cfg.Logger.Warn("cluster.seal_key_file is not set: tasks are not taken over when their node is lost")
	} else if sealer, err = seal.Load(cfg.Cluster.SealKey); err != nil {
		return nil, fmt.Errorf("cluster.seal_key_file: %w", err)
	}
	dir := filepath.Join(cfg.StateDir, "cluster", name)
	c := &clustered{}
	if c.claim, err = instance.Take(dir); err != nil {
		return nil, err
	}
	door, err := cluster.PeerAddress(listen)
	if err == nil {
		c.peers, err = net.Listen("tcp", door)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cluster.listen: %w", err), c.leave(context.Background()))
	}
	c.peers = tls.NewListener(c.peers, certs.Door(identity, func() {
		if c.cluster != nil { // it is set before the first connection is accepted
			c.cluster.Refused(metrics.RefusedStranger)
		}
	}))
	if c.actors, err = listenActors(cfg, listen, advertise, identity); err != nil {
		return nil, errors.Join(err, c.leave(context.Background()))
	}
	where := etcd.Config{Cluster: cfg.Cluster.Name, Log: cfg.Logger}
	if cfg.Cluster.IsEmbedded() {
		if where.Endpoints, err = voter.Endpoints(voters, true); err != nil {
			return nil, errors.Join(err, c.leave(context.Background()))
		}
	} else {
		where.Endpoints = cfg.Cluster.Endpoints()
		voters = nil
	}
	if slices.ContainsFunc(where.Endpoints, func(e string) bool { return strings.HasPrefix(e, "https:") }) {
		where.TLS = identity
	}
	records, err := etcd.Open(where)
	if err != nil {
		return nil, errors.Join(err, c.leave(context.Background()))
	}
	c.store = records
	part := cluster.Config{
		Name: cfg.Cluster.Name, Node: name, Instance: c.claim.Name, Predecessor: c.claim.Predecessor,
		Store: c.store, Voters: voters, Version: cfg.Version, Notes: c.claim, Era: c.claim.Era, IsCordoned: c.claim.IsCordoned,
		Addresses: messages.ClusterAddresses{HTTP: cfg.URL, Peer: peer},
		TLS:       identity, Tasks: n, Seal: sealer,
		Load: func() cluster.Load { return loadOf(n.Node) }, Log: cfg.Logger,
	}
	if len(voters) > 0 {
		part.Servers = records
	}
	if voters[name] != "" {
		asker := cluster.NewAsker(cfg.Cluster.Name, identity)
		c.keeper, err = voter.Keep(voter.Config{
			Name: name, Cluster: cfg.Cluster.Name, Dir: filepath.Join(dir, "voter"), Voters: voters, Listen: listen,
			CertFile: files.Cert, KeyFile: files.Key, CAFile: files.CA, AllowedNames: cfg.Cluster.AllowedNames, Log: cfg.Logger,
		}, voter.Duties{
			Ask: func(ctx context.Context, other string) (voter.Standing, error) {
				address, err := cluster.PeerAddress(voters[other])
				if err != nil {
					return voter.Standing{}, err
				}
				return asker.Standing(ctx, address)
			},
			Serving: records.Use,
			Close:   asker.Close,
		})
		if err != nil {
			return nil, errors.Join(err, c.leave(context.Background()))
		}
		part.Keeper = c.keeper
	}
	if c.cluster, err = cluster.Join(part); err != nil {
		return nil, errors.Join(err, c.leave(context.Background()))
	}
	return c, nil
}

// failed has the reason once the node cannot be part of its cluster any more.
func (c *clustered) failed() <-chan error {
	if c.keeper == nil {
		return nil
	}
	return c.keeper.Failed()
}

// drain gives the node's tasks to others. It returns once none is left that can be given, or the
// context ends.
func (c *clustered) drain(ctx context.Context, log *slog.Logger) {
	moves := c.cluster.Drain(ctx)
	log.Info("tasks have been given to other nodes", "tasks", moves.Moved, "left", len(moves.Staying))
	for _, stay := range moves.Staying {
		log.Info("a task stays to the end of the node", "task", stay.TaskID, "reason", stay.Why)
	}
}

// leave ends the node's part, in the reverse order of its start.
func (c *clustered) leave(ctx context.Context) error {
	err := c.actors.close(ctx)
	if c.cluster != nil {
		err = errors.Join(err, c.cluster.Leave(ctx))
	}
	if c.peers != nil {
		_ = c.peers.Close() // the server that has it may have closed it
	}
	if c.store != nil {
		err = errors.Join(err, c.store.Close())
	}
	if c.keeper != nil {
		c.keeper.Close()
	}
	return errors.Join(err, c.claim.Release())
}

// loadOf counts what runs on the node.
func loadOf(n *node.Node) cluster.Load {
	p := n.Pressure()
	load := cluster.Load{Tasks: p.Running}
	if !p.Draining {
		load.Places = max(0, p.Limits.Tasks-p.Running)
	}
	for _, t := range n.Tasks() {
		if t.Connection.Anchor == messages.LinkUp {
			load.Anchors++
		}
	}
	return load
}
