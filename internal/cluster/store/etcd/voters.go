package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
)

// Use changes the servers that are asked.
func (s *Store) Use(endpoints []string) { s.client.SetEndpoints(endpoints...) }

// Snapshot streams a copy of the database, with its SHA-256 at its end, as etcdctl saves it.
func (s *Store) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	r, err := s.client.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return r, nil
}

// ErrRunning is the error of a voter that is to be replaced and still answers.
var ErrRunning = errors.New("the voter runs: end its node first")

// Replace gives the place of the voter at a peer URL to one that has no data yet, which is to
// start there. It copies the store first and has no vote until then.
func (s *Store) Replace(ctx context.Context, peer url.URL) error {
	list, err := s.client.MemberList(ctx)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, m := range list.Members {
		if len(m.PeerURLs) == 0 || m.PeerURLs[0] != peer.String() {
			continue
		}
		if m.IsLearner && len(m.ClientURLs) == 0 {
			return nil // it has been replaced already, and has not started yet
		}
		if _, err := s.client.MemberRemove(ctx, m.ID); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	if _, err := s.client.MemberAddAsLearner(ctx, []string{peer.String()}); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// HasVoter says whether a server answers at one of the URLs where a voter serves clients.
func (s *Store) HasVoter(ctx context.Context, endpoint string) bool {
	_, err := s.client.Status(ctx, endpoint)
	return err == nil
}
