package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"holdfast/internal/cli"
	"holdfast/internal/cluster"
	"holdfast/internal/cluster/certs"
	"holdfast/internal/cluster/instance"
	"holdfast/internal/cluster/store/etcd"
	"holdfast/internal/cluster/store/voter"
)

// restore makes the store of the node that the settings describe, which must not run, of a copy,
// and begins an era in it above every one that is known.
func restore(ctx context.Context, cfg cli.NodeConfig, file string, known uint32) (era uint32, err error) {
	if !cfg.Cluster.Enabled || !cfg.Cluster.IsEmbedded() {
		return 0, errors.New("the settings name no store that the nodes keep: an etcd that others run is restored with its own tools")
	}
	name, err := nodeName(cfg)
	if err != nil {
		return 0, err
	}
	voters, err := cfg.Cluster.VoterList()
	if err != nil {
		return 0, fmt.Errorf("cluster.voters: %w", err)
	}
	files := certs.Files{Cert: cfg.Cluster.Cert, Key: cfg.Cluster.Key, CA: cfg.Cluster.CA}
	identity, err := files.Config(cfg.Cluster.AllowedNames)
	if err != nil {
		return 0, fmt.Errorf("cluster: %w", err)
	}
	listen, _ := cfg.Cluster.Addresses(name)
	dir := filepath.Join(cfg.StateDir, "cluster", name)
	claim, err := instance.Take(dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, claim.Release()) }()
	err = voter.Restore(ctx, voter.Config{
		Name: name, Cluster: cfg.Cluster.Name, Dir: filepath.Join(dir, "voter"), Voters: voters, Listen: listen,
		CertFile: files.Cert, KeyFile: files.Key, CAFile: files.CA, AllowedNames: cfg.Cluster.AllowedNames,
	}, file, func(ctx context.Context, endpoints []string) error {
		records, err := etcd.Open(etcd.Config{Cluster: cfg.Cluster.Name, Endpoints: endpoints, TLS: identity})
		if err != nil {
			return err
		}
		era, err = cluster.RaiseEra(ctx, records, max(known, claim.Era))
		return errors.Join(err, records.Close())
	})
	if err != nil {
		return 0, err
	}
	return era, claim.SetEra(era)
}
