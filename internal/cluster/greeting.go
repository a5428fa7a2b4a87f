package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdfast/internal/cluster/store/voter"
	"holdfast/messages"
	"holdfast/metrics"
)

const (
	// greetingHeader names the cluster of a node and the highest era that it has met, in every
	// request between nodes and every answer.
	greetingHeader = "Holdfast-Cluster"
	// standingPath is where a voter without data asks the others how they stand.
	standingPath = "/cluster/standing"
	// helloPath is where nodes greet each other though there is nothing to ask.
	helloPath = "/cluster/hello"
	// helloEvery is the pause between two greetings.
	helloEvery = 2 * time.Second
)

// greeting is what this node says of itself.
func (c *Cluster) greeting() string {
	return c.config.Name + "/" + strconv.FormatUint(uint64(c.member.Era()), 10)
}

// IsServed answers a request of another node that no caller can make, and refuses one of
// another cluster or of an older era. It is false for a caller's request, which that node
// passes on and which is not answered here.
func (c *Cluster) IsServed(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set(greetingHeader, c.greeting())
	err := c.greet(r.Header.Get(greetingHeader), r.URL.Path != standingPath)
	switch {
	case err != nil:
		answer(w, err.Code.Status(), messages.ErrorReply{Error: err})
	case r.URL.Path == helloPath:
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Path == standbysPath && r.Method == http.MethodPost:
		c.serveStandbys(w, r)
	case r.URL.Path != standingPath:
		return false
	case c.config.Keeper == nil:
		answer(w, http.StatusNotFound, messages.ErrorReply{Error: messages.Errorf(messages.CodeNotFound, "node %s is no voter", c.config.Node)})
	default:
		answer(w, http.StatusOK, c.config.Keeper.Standing(r.Context()))
	}
	return true
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asks may have gone
}

// greet compares what another node says of itself with this one. A newer era ends this node's
// part in the cluster: it is of a store that was left behind.
func (c *Cluster) greet(said string, needsEra bool) *messages.Error {
	name, era, err := parseGreeting(said)
	own := c.member.Era()
	switch {
	case err != nil || name != c.config.Name:
		c.Refused(metrics.RefusedCluster)
		return messages.Errorf(messages.CodeWrongCluster, "node %s is of cluster %s", c.config.Node, c.config.Name)
	case era > own:
		c.member.MetEra(era)
		if needsEra {
			return messages.Errorf(messages.CodeWrongCluster, "node %s is of era %d, which has ended", c.config.Node, own)
		}
	case era < own && needsEra:
		if era != 0 { // else it has only just started, and has not read the store yet
			c.Refused(metrics.RefusedEra)
		}
		return messages.Errorf(messages.CodeWrongCluster, "node %s is of era %d: that of the request has ended", c.config.Node, own)
	}
	return nil
}

// parseGreeting reads NAME/ERA.
func parseGreeting(said string) (name string, era uint32, err error) {
	name, number, _ := strings.Cut(said, "/")
	n, err := strconv.ParseUint(number, 10, 24)
	if err != nil || name == "" {
		return "", 0, fmt.Errorf("%q is no greeting", said)
	}
	return name, uint32(n), nil
}

// greetVoters greets the voters from time to time: so a node whose store was left behind hears of
// the era that has begun, as soon as it reaches a node of it.
func (c *Cluster) greetVoters(ctx context.Context) {
	ticker := time.NewTicker(helloEvery)
	defer ticker.Stop()
	for {
		var all sync.WaitGroup
		for name, address := range c.config.Voters {
			if name != c.config.Node {
				all.Go(func() { c.hello(ctx, address) })
			}
		}
		all.Wait()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// hello greets the node of a voter. Its answer is in the header, whatever the status.
func (c *Cluster) hello(ctx context.Context, voterAddress string) {
	ctx, cancel := context.WithTimeout(ctx, peerPatience)
	defer cancel()
	address, err := PeerAddress(voterAddress)
	if err != nil {
		return
	}
	u := url.URL{Scheme: "https", Host: address, Path: helloPath}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return
	}
	r.Header.Set(greetingHeader, c.greeting())
	res, err := c.transport.RoundTrip(r)
	if err != nil {
		return
	}
	_ = res.Body.Close()
	c.hear(res.Header)
}

// peerPort is what a node adds to the port of its cluster address to get that for other nodes'
// requests.
const peerPort = 2

// PeerAddress is where the node at an address of the cluster answers others' requests.
func PeerAddress(address string) (string, error) { return beside(address, peerPort) }

// ActorAddress is where the same node answers programs on actors.
func ActorAddress(address string) (string, error) { return beside(address, peerPort+1) }

// beside adds to the port of an address.
func beside(address string, add int) (string, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(port+add)), nil
}

// hear takes in what another node says of itself in an answer.
func (c *Cluster) hear(h http.Header) {
	if name, era, err := parseGreeting(h.Get(greetingHeader)); err == nil && name == c.config.Name && era > c.member.Era() {
		c.member.MetEra(era)
	}
}

// hearsayTime is how long a request waits for the record to which another node has passed it on.
const hearsayTime = time.Second

// Misdirected is the error of a request that was passed on to the wrong node, nil for any other:
// the node has to have the task, under the epoch that the other one knows. It waits a while where
// that is a later one than this node knows.
//
// Codes: wrong_cluster.
func (c *Cluster) Misdirected(ctx context.Context, id messages.TaskID, epoch string) *messages.Error {
	node, known, ok := c.Place(id)
	if later, err := strconv.ParseUint(epoch, 10, 64); err == nil && later > known {
		c.awaitEpoch(ctx, id, later)
		node, known, ok = c.Place(id)
	}
	switch {
	case ok && node != c.config.Node:
		c.Refused(metrics.RefusedHop)
		return messages.Errorf(messages.CodeWrongCluster, "task %s is node %s's, and a request is passed on once", id, node)
	case epoch != "" && (!ok || strconv.FormatUint(known, 10) != epoch):
		c.Refused(metrics.RefusedEpoch)
		return messages.Errorf(messages.CodeWrongCluster, "node %s has task %s under another epoch, or not at all", c.config.Node, id)
	}
	return nil
}

// Asker asks other voters how they stand, before this node is part of the cluster.
type Asker struct {
	name      string
	transport *http.Transport
}

// NewAsker makes an Asker for a cluster of that name.
func NewAsker(name string, c *tls.Config) *Asker { return &Asker{name, newTransport(c)} }

// Close ends its connections.
func (a *Asker) Close() { a.transport.CloseIdleConnections() }

// maxStanding bounds the answer of a voter, in bytes.
const maxStanding = 64 << 10

// Standing asks the voter whose node answers others at an address.
func (a *Asker) Standing(ctx context.Context, address string) (voter.Standing, error) {
	var s voter.Standing
	u := url.URL{Scheme: "https", Host: address, Path: standingPath}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return s, err
	}
	r.Header.Set(greetingHeader, a.name+"/0")
	res, err := a.transport.RoundTrip(r)
	if err != nil {
		return s, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return s, fmt.Errorf("it answers with status %d", res.StatusCode)
	}
	err = json.NewDecoder(io.LimitReader(res.Body, maxStanding)).Decode(&s)
	return s, err
}
