package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"holdfast/messages"
	"holdfast/metrics"
)

const (
	peerDial = 2 * time.Second
	// peerPatience is how long an answer for all nodes waits for one.
	peerPatience = 2 * time.Second
	// maxPeerAnswer bounds the part of one node in an answer for all, in bytes.
	maxPeerAnswer = 64 << 20
)

// newTransport makes connections to other nodes. A certificate that the CA has not signed ends
// them before the first byte of a request.
func newTransport(c *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: peerDial}).DialContext, TLSClientConfig: c, TLSHandshakeTimeout: peerDial,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, DisableCompression: true,
	}
}

// address is where a node answers other nodes, "" where that is not known.
func (c *Cluster) address(node string) string {
	for _, n := range c.View().Nodes {
		if n.Node == node {
			return n.Addresses.Peer
		}
	}
	return ""
}

// httpAddress is where a node answers its callers, "" where that is not known.
func (c *Cluster) httpAddress(node string) string {
	for _, n := range c.View().Nodes {
		if n.Node == node {
			return n.Addresses.HTTP
		}
	}
	return ""
}

// IsActorAddress says whether a node of the cluster answers programs on actors there.
func (c *Cluster) IsActorAddress(address string) bool {
	return slices.ContainsFunc(c.View().Nodes, func(n messages.ClusterNode) bool {
		theirs, err := beside(n.Addresses.Peer, 1)
		return err == nil && theirs == address
	})
}

// ownHeaders is how the headers begin that nodes send each other. No caller may send one.
const ownHeaders = "Holdfast-"

// Forward has another node answer a request, streams and WebSockets included. What the caller
// puts into the header tells that node who asks. An error means that nothing was answered.
//
// Codes: rehoming.
func (c *Cluster) Forward(w http.ResponseWriter, r *http.Request, node string) error {
	address := c.address(node)
	if address == "" {
		return c.noAnswer(node).WithSent(messages.SentNo)
	}
	var (
		failed        error
		isMisdirected bool
	)
	proxy := httputil.ReverseProxy{
		Transport: c.transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "https", Host: address})
			p.Out.Host = p.In.Host
			p.Out.URL.RawQuery = p.In.URL.RawQuery
			if p.Out.Body != nil {
				p.Out.Body = io.NopCloser(p.Out.Body) // for another try
			}
			for name, values := range p.In.Header {
				if strings.HasPrefix(name, ownHeaders) { // a caller's Connection may have named it
					p.Out.Header[name] = values
				}
			}
			p.Out.Header.Set(greetingHeader, c.greeting())
		},
		ModifyResponse: func(res *http.Response) error {
			c.hear(res.Header)
			res.Header.Del(greetingHeader)
			if res.StatusCode == http.StatusMisdirectedRequest {
				return errMisdirected
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			switch {
			case errors.Is(err, errMisdirected):
				isMisdirected = true
				failed = messages.Errorf(messages.CodeRehoming, "node %s does not have the task any more", node).With("retry_after_s", 1).WithSent(messages.SentNo)
			case r.Context().Err() != nil:
				failed = r.Context().Err()
			default:
				dial, isDial := errors.AsType[*net.OpError](err)
				failed = c.noAnswer(node).WithSent(messages.SentIf(!(isDial && dial.Op == "dial")))
			}
			c.config.Log.Debug("another node did not answer", "node", node, "err", err)
		},
	}
	proxy.ServeHTTP(w, r)
	if r.Context().Err() == nil { // else the caller has gone
		c.counts.asked(metrics.AskForward, failed == nil || isMisdirected)
	}
	return failed
}

// errMisdirected means that the other node takes the request for one that is not for it.
var errMisdirected = errors.New("the request is not for that node")

func (c *Cluster) noAnswer(node string) *messages.Error {
	return messages.Errorf(messages.CodeRehoming, "node %s has the task and does not answer", node).With("retry_after_s", 1)
}

// Gather asks every other node that has a record for the same, and gives take each answer, on
// several goroutines. It returns the nodes that did not answer in time, sorted.
func (c *Cluster) Gather(ctx context.Context, header http.Header, target url.URL, take func(node string, body io.Reader) error) []string {
	ctx, cancel := context.WithTimeout(ctx, peerPatience)
	defer cancel()
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		missing []string
	)
	for _, n := range c.View().Nodes {
		if n.Node == c.config.Node || n.Addresses.Peer == "" || n.State == messages.LeaseGone {
			continue
		}
		all.Go(func() {
			err := c.ask(ctx, n.Addresses.Peer, header, target, func(body io.Reader) error { return take(n.Node, body) })
			c.counts.asked(metrics.AskGather, err == nil)
			if err == nil {
				return
			}
			c.config.Log.Warn("a node is missing in an answer for all nodes", "node", n.Node, "err", err)
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, n.Node)
		})
	}
	all.Wait()
	slices.Sort(missing)
	return missing
}

func (c *Cluster) ask(ctx context.Context, address string, header http.Header, target url.URL, take func(io.Reader) error) error {
	target.Scheme, target.Host = "https", address
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	r.Header = header.Clone()
	r.Header.Set(greetingHeader, c.greeting())
	res, err := c.transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	c.hear(res.Header)
	if res.StatusCode != http.StatusOK {
		return messages.Errorf(messages.CodeUpstreamUnavailable, "it answers with status %d", res.StatusCode)
	}
	return take(io.LimitReader(res.Body, maxPeerAnswer))
}
