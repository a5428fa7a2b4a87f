package voter

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/etcd/etcdutl/v3/snapshot"

	"holdfast/internal/cluster/store/etcdlog"
)

// revisionBump is added to the revisions of a copy, so that none is used twice that the store
// had after the copy was made.
const revisionBump = 1_000_000_000

// Restore makes the data of a voter of a copy of the store. The store is that voter's alone
// then, and has nothing of what came after the copy. It runs while the work does, with the
// URLs at which it serves clients; no server is left behind.
func Restore(ctx context.Context, c Config, file string, work func(context.Context, []string) error) (err error) {
	if err := c.Validate(); err != nil {
		return err
	}
	if _, err := os.Stat(c.Dir); err == nil {
		return fmt.Errorf("%s exists: a copy is restored by a voter without data; move it away first", c.Dir)
	}
	ctx, cancel := context.WithTimeout(ctx, recoverTime)
	defer cancel()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(c.Dir))
		}
	}()
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("voter: %w", err)
	}
	c.join = map[string]string{c.Name: c.Voters[c.Name]}
	e, err := c.embed()
	if err != nil {
		return err
	}
	if err := snapshot.NewV3(etcdlog.New(c.Log)).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, Name: c.Name, OutputDataDir: e.Dir, PeerURLs: []string{e.AdvertisePeerUrls[0].String()},
		InitialCluster: e.InitialCluster, InitialClusterToken: e.InitialClusterToken,
		RevisionBump: revisionBump, MarkCompacted: true,
	}); err != nil {
		return fmt.Errorf("voter: %s could not be restored: %w", file, err)
	}
	v, err := Start(c)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := v.Ready(ctx); err != nil {
		return err
	}
	return work(ctx, v.endpoints())
}
