// Package nodeurl reads where a node is: http://HOST:PORT, https://HOST:PORT or unix:PATH.
package nodeurl

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"holdfast/messages"
)

const (
	unixPrefix = "unix:"
	// maxPath is what the shortest sockaddr_un of the systems served has room for, less its
	// end, in bytes.
	maxPath = 103

	dialTimeout = 5 * time.Second
)

// Node is where a node is. The zero value is nowhere.
type Node struct {
	// Base is what the paths of requests are appended to.
	Base *url.URL
	// Socket is the path of the node's Unix socket; "" where it is reached over TCP.
	Socket string
}

// Parse reads a node's URL. The error's code is invalid_argument.
func Parse(s string) (Node, error) {
	if path, ok := SocketPath(s); ok {
		if what := WrongPath(path); what != "" {
			return Node{}, messages.Errorf(messages.CodeInvalidArgument, "the node's socket %s", what)
		}
		return Node{Base: &url.URL{Scheme: "http", Host: "localhost"}, Socket: path}, nil
	}
	u, err := url.Parse(s)
	if err != nil {
		return Node{}, messages.Errorf(messages.CodeInvalidArgument, "the node's URL is malformed")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Node{}, messages.Errorf(messages.CodeInvalidArgument, "the node's URL must be http://HOST:PORT or https://HOST:PORT, without a user or a query, or unix:PATH")
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return Node{Base: u}, nil
}

// SocketPath returns the path of unix:PATH, and whether s begins like that.
func SocketPath(s string) (path string, ok bool) { return strings.CutPrefix(s, unixPrefix) }

// WrongPath says what is wrong with the path of a Unix socket; "" is nothing.
func WrongPath(path string) string {
	switch {
	case !filepath.IsAbs(path) || strings.ContainsRune(path, 0):
		return "must be unix: and an absolute path"
	case len(path) > maxPath:
		return "must have a path of at most 103 bytes"
	}
	return ""
}

// String returns the node's URL, which holds no credential.
func (n Node) String() string {
	if n.Socket != "" {
		return unixPrefix + n.Socket
	}
	if n.Base == nil {
		return ""
	}
	return n.Base.String()
}

// DialContext connects to the node, or over TCP to any address that is asked for. It is safe
// for concurrent use.
func (n Node) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if n.Socket != "" {
		network, addr = "unix", n.Socket
	}
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, addr)
}
