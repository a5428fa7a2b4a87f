// Package cluster is a node's part in a cluster as the rest of the node sees it: it joins
// with a lease, claims tasks, passes requests on to the nodes that have theirs, and leaves.
//
//	HTTP, readiness, metrics ─▶ cluster ─▶ member ─▶ lease (pure)
//	                                          └────▶ store (etcd)
//
// Nothing here waits but Leave, Claim and what asks another node: all other answers come from
// what the node knows.
package cluster
