package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"

	"holdfast/messages"
)

// Cluster returns what the node knows of the cluster that it is part of.
func (c *Client) Cluster(ctx context.Context) (messages.Cluster, error) {
	var out messages.Cluster
	_, err := c.call(ctx, patience, http.MethodGet, []string{"v1", "cluster"}, nil, nil, &out)
	return out, err
}

// ClusterSnapshot writes a copy of the cluster's store to w, and returns how many bytes. It
// holds them to the SHA-256 at their end.
func (c *Client) ClusterSnapshot(ctx context.Context, w io.Writer) (int64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, filePatience, fmt.Errorf("no answer within %v", filePatience))
	defer cancel()
	r, err := c.request(ctx, http.MethodGet, []string{"v1", "cluster", "snapshot"}, nil, nil)
	if err != nil {
		return 0, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return 0, c.unreachable(ctx, err)
		}
		return 0, c.errorOf(res.StatusCode, b)
	}
	ending := &hashed{sum: sha256.New()}
	n, err := io.Copy(io.MultiWriter(w, ending), res.Body)
	if err != nil {
		return n, c.unreachable(ctx, err)
	}
	if !bytes.Equal(ending.sum.Sum(nil), ending.tail) {
		return n, &Unreachable{c.Node(), errors.New("the copy of the store does not end with its hash")}
	}
	return n, nil
}

// hashed hashes all that is written to it but the last bytes, which have the hash.
type hashed struct {
	sum  hash.Hash
	tail []byte
}

// Write implements io.Writer.
func (h *hashed) Write(b []byte) (int, error) {
	h.tail = append(h.tail, b...)
	if over := len(h.tail) - sha256.Size; over > 0 {
		_, _ = h.sum.Write(h.tail[:over]) // a hash takes everything
		h.tail = append(h.tail[:0], h.tail[over:]...)
	}
	return len(b), nil
}

// RecoverCluster has a voter go on with its copy of the store alone, and returns the new era.
// The caller says that no other voter runs, or will with what it has.
func (c *Client) RecoverCluster(ctx context.Context) (messages.ClusterEra, error) {
	var out messages.ClusterEra
	_, err := c.call(ctx, patience, http.MethodPost, []string{"v1", "cluster", "recover"}, nil, messages.ClusterRecovery{IAmTheLast: true}, &out)
	return out, err
}

// ReplaceVoter gives the place of a voter that has lost its data to one without data.
func (c *Client) ReplaceVoter(ctx context.Context, node string) error {
	_, err := c.call(ctx, patience, http.MethodPost, []string{"v1", "cluster", "voters", node, "replace"}, nil, nil, nil)
	return err
}

// DrainNode keeps new tasks from a node and gives those it has to other nodes.
func (c *Client) DrainNode(ctx context.Context, node string) (messages.ClusterMoves, error) {
	return c.moves(ctx, node, "drain")
}

// Rebalance gives tasks of a node to the nodes on which they would be placed now.
func (c *Client) Rebalance(ctx context.Context, node string) (messages.ClusterMoves, error) {
	return c.moves(ctx, node, "rebalance")
}

func (c *Client) moves(ctx context.Context, node, what string) (out messages.ClusterMoves, err error) {
	_, err = c.call(ctx, patience, http.MethodPost, []string{"v1", "cluster", "nodes", node, what}, nil, nil, &out)
	return out, err
}

// Cordon keeps new tasks from a node.
func (c *Client) Cordon(ctx context.Context, node string) error {
	_, err := c.call(ctx, patience, http.MethodPut, []string{"v1", "cluster", "nodes", node, "cordon"}, nil, nil, nil)
	return err
}

// Uncordon lets a node take new tasks again.
func (c *Client) Uncordon(ctx context.Context, node string) error {
	_, err := c.call(ctx, patience, http.MethodDelete, []string{"v1", "cluster", "nodes", node, "cordon"}, nil, nil, nil)
	return err
}
