package apitest

import "holdfast/messages"

// Cluster is a cluster of one node.
type Cluster struct{}

// View implements api.Cluster.
func (Cluster) View() messages.Cluster {
	return messages.Cluster{Name: "test", Era: 1, HasQuorum: true, Nodes: []messages.ClusterNode{{
		Node: "a", State: messages.LeaseHeld, IsVoter: true, Term: 7, Places: 3, Version: "test",
		Addresses: messages.ClusterAddresses{HTTP: "http://127.0.0.1:7070", Peer: "127.0.0.1:7073"},
	}}}
}

// Check implements api.Cluster.
func (Cluster) Check() messages.Check { return messages.Check{Name: "cluster", OK: true} }
