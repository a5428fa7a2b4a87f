package cluster

import (
	"sync/atomic"

	"holdfast/messages"
	"holdfast/metrics"
)

// counts are what a node counts of its part in a cluster.
type counts struct {
	refused map[metrics.Refusal]*atomic.Uint64
	taken   map[metrics.Taking]*atomic.Uint64
	peers   map[metrics.PeerAsk]*peerCount
	given   atomic.Uint64
}

type peerCount struct{ answered, failed atomic.Uint64 }

func newCounts() *counts {
	c := &counts{
		refused: map[metrics.Refusal]*atomic.Uint64{}, taken: map[metrics.Taking]*atomic.Uint64{}, peers: map[metrics.PeerAsk]*peerCount{},
	}
	for _, why := range metrics.Refusals() {
		c.refused[why] = &atomic.Uint64{}
	}
	for _, how := range metrics.Takings() {
		c.taken[how] = &atomic.Uint64{}
	}
	for _, ask := range metrics.PeerAsks() {
		c.peers[ask] = &peerCount{}
	}
	return c
}

// asked counts a request to another node.
func (c *counts) asked(what metrics.PeerAsk, isAnswered bool) {
	if isAnswered {
		c.peers[what].answered.Add(1)
	} else {
		c.peers[what].failed.Add(1)
	}
}

// Refused counts a request that claims to be another node's.
func (c *Cluster) Refused(why metrics.Refusal) {
	if n := c.counts.refused[why]; n != nil {
		n.Add(1)
	}
}

// Forged counts a caller's request that claims to be a node's.
func (c *Cluster) Forged() { c.Refused(metrics.RefusedForged) }

// Figures are what metrics show.
func (c *Cluster) Figures() metrics.Cluster {
	f := c.member.Figures()
	status := c.member.Status()
	out := metrics.Cluster{
		HasQuorum: c.member.HasQuorum(), IsHeld: c.member.Allows(), Margin: f.Margin, Nodes: map[messages.LeaseState]int{},
		Refused: map[metrics.Refusal]uint64{}, Lapses: f.Lapses, Terms: f.Terms, Writes: f.Writes, Failures: f.Failures,
		Fences: status.Fences, Era: status.Era, Taken: map[metrics.Taking]uint64{}, Given: c.counts.given.Load(), Standbys: c.standbys.count(),
		Store: metrics.Durations(f.Latency), Silence: f.Silence, Watches: f.Watches, Peers: map[metrics.PeerAsk]metrics.Answers{},
	}
	for _, n := range c.View().Nodes {
		out.Nodes[n.State]++
	}
	for why, n := range c.counts.refused {
		out.Refused[why] = n.Load()
	}
	for how, n := range c.counts.taken {
		out.Taken[how] = n.Load()
	}
	for what, n := range c.counts.peers {
		out.Peers[what] = metrics.Answers{Answered: n.answered.Load(), Failed: n.failed.Load()}
	}
	return out
}
