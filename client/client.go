package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdfast/internal/nodeurl"
	"holdfast/messages"
)

// Client talks to one node. It is safe for concurrent use.
type Client struct {
	node   nodeurl.Node
	token  string
	header http.Header
	http   *http.Client
	copy   func(body []byte)
}

// Options adjust a client.
type Options struct {
	// Token is the bearer token, admin or scoped.
	Token string
	// OnBody is called with every JSON body of a good answer as the node sent
	// it, and with every event's, before the call returns.
	OnBody func(body []byte)
	// Header goes with every request; nil is none.
	Header http.Header
	// DialContext makes the connections; nil is the network's. Tests dial in
	// memory with it.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Unreachable says that no node answered: the connection was refused or broke, or the
// server is not a node.
type Unreachable struct {
	Node string // the node's URL, which holds no credential; "" where none is known
	Err  error
}

// Error implements error.
func (e *Unreachable) Error() string {
	if e.Node == "" {
		return fmt.Sprintf("no node is known: %v", e.Err)
	}
	return fmt.Sprintf("the node at %s is not reachable: %v", e.Node, e.Err)
}

// Unwrap returns the reason.
func (e *Unreachable) Unwrap() error { return e.Err }

const (
	dialTimeout = 5 * time.Second
	// patience is how long a call may take that waits for no browser, and what
	// is added to the timeout of one that does.
	patience = 15 * time.Second
	// startPatience covers the launch of a browser and its attach.
	startPatience = time.Minute
	// maxAnswer is a whole CDP message and the words around it.
	maxAnswer = messages.MaxCDPMessage + 1<<20
)

// New returns a client for the node at base, such as http://127.0.0.1:7070, or
// unix:/run/holdfast.sock where the node listens on a socket of this machine.
// Nothing is dialled before the first call.
func New(base string, o Options) (*Client, error) {
	node, err := nodeurl.Parse(base)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // a token is not to be told to a proxy by surprise
	transport.DialContext = o.DialContext
	if transport.DialContext == nil {
		transport.DialContext = node.DialContext
	}
	return &Client{
		node: node, token: strings.TrimSpace(o.Token), header: o.Header, copy: o.OnBody,
		http: &http.Client{
			Transport: transport,
			// The contract has no redirects; following one would carry the
			// token to wherever it points.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// As returns a client of the same node for another caller, over the same connections: of the
// options Token, Header and OnBody count. Closing either closes the idle connections of both.
func (c *Client) As(o Options) *Client {
	other := *c
	other.token, other.header, other.copy = strings.TrimSpace(o.Token), o.Header, o.OnBody
	return &other
}

// Node is the node's URL.
func (c *Client) Node() string { return c.node.String() }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request builds one; path elements are escaped.
func (c *Client) request(ctx context.Context, method string, path []string, query url.Values, body any) (*http.Request, error) {
	var in io.Reader
	if body != nil {
		b, err := encode(body)
		if err != nil {
			return nil, messages.Errorf(messages.CodeInvalidArgument, "the request cannot be encoded")
		}
		in = bytes.NewReader(b)
	}
	for i, p := range path {
		path[i] = url.PathEscape(p)
	}
	target := c.node.Base.String() + "/" + strings.Join(path, "/")
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, target, in)
	if err != nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "the request cannot be made")
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}

// encode leaves a raw CDP command's bytes as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// call asks and decodes the answer into out, unless that is nil. It gives up
// after limit.
func (c *Client) call(ctx context.Context, limit time.Duration, method string, path []string, query url.Values, body, out any) (status int, err error) {
	status, b, err := c.ask(ctx, limit, method, path, query, body)
	switch {
	case err != nil:
		return 0, err
	case status/100 != 2:
		return status, c.errorOf(status, b)
	case status == http.StatusNoContent:
		return status, nil
	}
	return status, c.read(status, b, out)
}

// ask sends a request and returns the answer as it is. It gives up after limit.
func (c *Client) ask(ctx context.Context, limit time.Duration, method string, path []string, query url.Values, body any) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	r, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return 0, nil, err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, nil, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return 0, nil, c.unreachable(ctx, err)
	}
	if len(b) > maxAnswer {
		return 0, nil, messages.Errorf(messages.CodeMessageTooLarge, "the answer is longer than %d bytes", maxAnswer)
	}
	return res.StatusCode, b, nil
}

// read hands the body of a good answer on, and decodes it into out, unless that is nil.
func (c *Client) read(status int, b []byte, out any) error {
	if !json.Valid(b) {
		return c.stranger(status)
	}
	if c.copy != nil {
		c.copy(b)
	}
	if out != nil && json.Unmarshal(b, out) != nil {
		return c.stranger(status)
	}
	return nil
}

// errorOf reads the contract's form of an error.
func (c *Client) errorOf(status int, b []byte) error {
	var body struct {
		Error *messages.Error `json:"error"`
	}
	if json.Unmarshal(b, &body) != nil || body.Error == nil || body.Error.Code == "" {
		return c.stranger(status)
	}
	return body.Error
}

func (c *Client) stranger(status int) error {
	return &Unreachable{c.Node(), fmt.Errorf("what answers there (status %d) is no Holdfast node", status)}
}

// unreachable takes the URL out of net/http's error: the node's own is named once, and a
// URL with a query may hold a secret.
func (c *Client) unreachable(ctx context.Context, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return &Unreachable{c.Node(), err}
}
