package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

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

// Taking says how a node has come to supervise a task of another node, or of its own earlier run.
type Taking string

// The ways of a Taking.
const (
	TakenByStandby Taking = "standby"  // it had a connection to the pages already
	TakenByAttach  Taking = "attached" // it attached to them anew
	TakenLost      Taking = "lost"     // the task's browser was the dead node's, or may not run here
)

// Takings lists every way.
func Takings() []Taking { return []Taking{TakenByStandby, TakenByAttach, TakenLost} }

// PeerAsk says what a node asks others for.
type PeerAsk string

// The kinds of a PeerAsk.
const (
	AskForward PeerAsk = "forward" // a caller's request for a task that the other node has
	AskGather  PeerAsk = "gather"  // the other node's part of an answer for all nodes
)

// PeerAsks lists every kind.
func PeerAsks() []PeerAsk { return []PeerAsk{AskForward, AskGather} }

// Answers counts what was asked of others, by whether they answered.
type Answers struct{ Answered, Failed uint64 }

// Durations is a histogram: how many there were, and how many of them within each bound.
type Durations struct {
	Within map[time.Duration]uint64
	Count  uint64
	Sum    time.Duration
}

// ActorMessages are those that programs on actors and the node send each other.
type ActorMessages struct {
	// QueuedBytes is what waits for programs.
	QueuedBytes int
	// Dropped counts messages to them that were not sent, and Refused those of theirs that were not let in.
	Dropped, Refused uint64
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
	// Lapses, Terms, Writes, Failures and Fences count since the start of the node.
	Lapses, Terms, Writes, Failures, Fences uint64
	// Era is that of the store.
	Era uint32
	// Taken counts tasks that this node has come to supervise, and Given those that it has given away.
	Taken map[Taking]uint64
	Given uint64
	// Standbys is how many tasks of other nodes this one stands by for.
	Standbys int
	// Store is how long the store took for its answers. Silence is for how long its watch has brought
	// nothing, and Watches counts those that have begun.
	Store   Durations
	Silence time.Duration
	Watches uint64
	// Peers counts what was asked of other nodes.
	Peers map[PeerAsk]Answers
	// Actors is zero where programs on actors may not ask.
	Actors ActorMessages
}

// clustered are the metrics of a node in a cluster. Without one they do not exist.
func clustered() []*definition {
	return []*definition{
		clusterQuorum, clusterLease, clusterMargin, clusterNodes, clusterLapses, clusterTerms, clusterWrites, clusterRefused,
		clusterEra, clusterFences, clusterTaken, clusterGiven, clusterStandbys, clusterStore, clusterSilence, clusterWatches, clusterPeers, clusterActorQueue, clusterActorLost,
	}
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
	s.put(clusterEra, float64(c.Era))
	s.put(clusterFences, float64(c.Fences))
	for _, how := range Takings() {
		s.put(clusterTaken, float64(c.Taken[how]), string(how))
	}
	s.put(clusterGiven, float64(c.Given))
	s.put(clusterStandbys, float64(c.Standbys))
	s.durations(clusterStore, c.Store)
	s.put(clusterSilence, c.Silence.Seconds())
	s.put(clusterWatches, float64(c.Watches))
	for _, ask := range PeerAsks() {
		s.put(clusterPeers, float64(c.Peers[ask].Answered), string(ask), "answered")
		s.put(clusterPeers, float64(c.Peers[ask].Failed), string(ask), "failed")
	}
	s.put(clusterActorQueue, float64(c.Actors.QueuedBytes))
	s.put(clusterActorLost, float64(c.Actors.Dropped), "dropped")
	s.put(clusterActorLost, float64(c.Actors.Refused), "refused")
}

func (s scrape) durations(d *definition, h Durations) {
	within := map[float64]uint64{}
	for bound, n := range h.Within {
		within[bound.Seconds()] = n
	}
	s.out <- prometheus.MustNewConstHistogram(s.descs[d], h.Count, h.Sum.Seconds(), within)
}
