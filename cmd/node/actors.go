package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"

	"holdfast/internal/cli"
	"holdfast/internal/cluster"
	"holdfast/internal/desk"
	"holdfast/metrics"
)

// actorDoor is where programs on actors reach the node.
type actorDoor struct {
	listener net.Listener
	address  string
	identity *tls.Config // nil where no certificates are wanted
	log      *slog.Logger
	desk     atomic.Pointer[desk.Desk]
}

// listenActors opens the door's listener, or none where the settings say so.
func listenActors(cfg cli.NodeConfig, listen, advertise string, identity *tls.Config) (*actorDoor, error) {
	if cfg.Cluster.Remoting == "off" {
		return nil, nil
	}
	d := &actorDoor{identity: identity, log: cfg.Logger}
	if cfg.Cluster.Remoting == "plain" {
		d.identity = nil
	}
	own, err := cluster.ActorAddress(listen)
	if err == nil {
		d.address, err = cluster.ActorAddress(advertise)
	}
	if err == nil {
		d.listener, err = net.Listen("tcp", own)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster.listen, for programs on actors: %w", err)
	}
	return d, nil
}

// open lets programs in.
func (d *actorDoor) open(c *cluster.Cluster, do func(*http.Request) (*http.Response, error)) error {
	opened, err := desk.Open(desk.Config{Listener: d.listener, Address: d.address, TLS: d.identity, IsMember: c.IsActorAddress, Do: do, Log: d.log})
	if err == nil {
		d.desk.Store(opened)
	}
	return err
}

// figures count the messages of programs.
func (d *actorDoor) figures() (out metrics.ActorMessages) {
	if d == nil || d.desk.Load() == nil {
		return out
	}
	stats := d.desk.Load().Stats()
	out.QueuedBytes = stats.Queued
	for why, n := range stats.Lost {
		if why.IsInbound() {
			out.Refused += n
		} else {
			out.Dropped += n
		}
	}
	return out
}

// close ends what programs have asked for.
func (d *actorDoor) close(ctx context.Context) error {
	if d == nil {
		return nil
	}
	if opened := d.desk.Load(); opened != nil {
		return opened.Close(ctx)
	}
	return d.listener.Close()
}
