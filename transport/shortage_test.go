package transport_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"holdfast/messages"
	"holdfast/transport"
)

// TestAShortageOfTheNodeIsNamed, and is told from what a browser is at fault for.
func TestAShortageOfTheNodeIsNamed(t *testing.T) {
	t.Parallel()
	four, six := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, &net.TCPAddr{IP: net.IPv6loopback}
	failed := func(addr net.Addr, of error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("socket", of)}
	}
	for name, c := range map[string]struct {
		err  error
		of   transport.Shortage
		says string
	}{
		"EMFILE":                      {failed(four, transport.ErrnoProcessFiles), transport.ShortDescriptors, "this node has no file descriptor left (LimitNOFILE)"},
		"ENFILE":                      {failed(six, transport.ErrnoSystemFiles), transport.ShortDescriptors, "this node has no file descriptor left (LimitNOFILE)"},
		"the resolver without one":    {&net.DNSError{Err: "dial udp: socket: too many open files", Name: "h"}, transport.ShortDescriptors, "LimitNOFILE"},
		"no port":                     {failed(four, transport.ErrnoNoAddress), transport.ShortPorts, "no local port left"},
		"a machine without IPv6":      {failed(six, transport.ErrnoNoAddress), "", "the host is not reachable from here"},
		"ENOBUFS":                     {failed(four, transport.ErrnoNoBuffers), transport.ShortBuffers, "no memory left"},
		"a browser that is not there": {failed(four, transport.ErrnoRefused), "", "connection refused"},
		"a name that is not there":    {&net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}, "", "does not resolve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, c.err }}}
			for _, address := range []string{"http://user:planted@h:9222", "ws://user:planted@h:9222/devtools/browser/planted"} {
				_, err := transport.Dial(t.Context(), cdpURL(t, address), transport.DialOptions{HTTPClient: client})
				if messages.CodeOf(err) != messages.CodeUpstreamUnavailable || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "planted") {
					t.Errorf("%s: %v", address, err)
				}
				var short *transport.ShortageError
				if errors.As(err, &short) != (c.of != "") || short != nil && short.Of != c.of {
					t.Errorf("%s: a shortage of %v", address, short)
				}
			}
		})
	}
}
