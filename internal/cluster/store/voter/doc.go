// Package voter runs an etcd server inside the node: one of one, three or five that keep
// the cluster's records, on a static list that all nodes have.
package voter
