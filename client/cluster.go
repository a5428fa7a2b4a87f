package client

import (
	"context"
	"net/http"

	"holdfast/messages"
)

// Cluster returns what the node knows of the cluster that it is part of.
func (c *Client) Cluster(ctx context.Context) (messages.Cluster, error) {
	var out messages.Cluster
	_, err := c.call(ctx, patience, http.MethodGet, []string{"v1", "cluster"}, nil, nil, &out)
	return out, err
}
