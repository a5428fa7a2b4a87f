package metrics

import (
	"time"

	"holdfast/messages"
)

// Refusal says why a request was refused that claims to be another node's.
type Refusal string

// The reasons of a Refusal.
const (
	RefusedForged   Refusal = "forged"   // a caller sent what only nodes may send
	RefusedStranger Refusal = "stranger" // a connection without a certificate of a node of this cluster
	RefusedCluster  Refusal = "cluster"  // a node of another cluster
	RefusedEra      Refusal = "era"      // a node of an older era
	RefusedEpoch    Refusal = "epoch"    // a request for a task under another epoch
	RefusedHop      Refusal = "hop"      // a request that would have to be passed on a second time
)

// Refusals lists every reason.
func Refusals() []Refusal {
	return []Refusal{RefusedForged, RefusedStranger, RefusedCluster, RefusedEra, RefusedEpoch, RefusedHop}
}

// Cluster is how a node stands in its cluster, read on scrapes.
type Cluster struct {
	// HasQuorum says that the store answers, and IsHeld that the node has a lease.
	HasQuorum, IsHeld bool
	// Margin is what was left of the lease at the last renewal.
	Margin time.Duration
	// Nodes counts the nodes by their state.
	Nodes map[messages.LeaseState]int
	// Refused counts requests that claimed to be a node's, by why they were refused.
	Refused map[Refusal]uint64
	// Lapses, Terms, Writes and Failures count since the start of the node.
	Lapses, Terms, Writes, Failures uint64
}

// clustered are the metrics of a node in a cluster. Without one they do not exist.
func clustered() []*definition {
	return []*definition{clusterQuorum, clusterLease, clusterMargin, clusterNodes, clusterLapses, clusterTerms, clusterWrites, clusterRefused}
}

func (s scrape) cluster() {
	if s.sources.Cluster == nil {
		return
	}
	c, ok := s.sources.Cluster()
	if !ok {
		return
	}
	flag := func(d *definition, isSo bool) {
		v := 0.0
		if isSo {
			v = 1
		}
		s.put(d, v)
	}
	flag(clusterQuorum, c.HasQuorum)
	flag(clusterLease, c.IsHeld)
	s.put(clusterMargin, c.Margin.Seconds())
	for _, state := range messages.LeaseStates() {
		s.put(clusterNodes, float64(c.Nodes[state]), string(state))
	}
	s.put(clusterLapses, float64(c.Lapses))
	s.put(clusterTerms, float64(c.Terms))
	s.put(clusterWrites, float64(c.Writes-min(c.Writes, c.Failures)), "answered")
	s.put(clusterWrites, float64(c.Failures), "unknown")
	for _, why := range Refusals() {
		s.put(clusterRefused, float64(c.Refused[why]), string(why))
	}
}
