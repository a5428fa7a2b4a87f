// Package cluster is a node's part in a cluster as the rest of the node sees it: it joins
// with a lease, says how the cluster stands, and leaves.
//
//	HTTP, readiness, metrics ─▶ cluster ─▶ member ─▶ lease (pure)
//	                                          └────▶ store (etcd)
//
// Nothing here waits for the store but Leave: all answers come from what the node knows.
package cluster
