package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"holdfast/messages"
)

// The errors of a dial are written anew, never wrapped: those of net/url,
// net/http and the WebSocket library hold the URL.

func (d *dialer) unavailable(format string, args ...any) *messages.Error {
	e := messages.Errorf(messages.CodeUpstreamUnavailable, format, args...)
	e.Message = "browser at " + d.raw.String() + ": " + e.Message
	return e
}

// networkError says what went wrong before anything was answered.
func (d *dialer) networkError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return d.unavailable("dialling was cancelled")
	}
	// The net package has the context's deadline too and may be first to act
	// on it.
	if deadline, _ := ctx.Deadline(); ctx.Err() != nil || isTimeout(err) && !time.Now().Before(deadline) {
		if d.isOwnDeadline {
			return d.unavailable("no answer within %v: does something else listen on this port?", DefaultDialTimeout)
		}
		e := d.unavailable("no answer in time: does something else listen on this port?")
		e.Code = messages.CodeDeadline
		return e
	}
	var dns *net.DNSError
	isDNS := errors.As(err, &dns)
	var unknownCA x509.UnknownAuthorityError
	var wrongHost x509.HostnameError
	var badCert *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	if of := shortageIn(err, dns); of != "" {
		return &ShortageError{Of: of, err: d.unavailable("%s", of.Sentence())}
	}
	switch {
	case errors.Is(err, errnoRefused):
		return d.unavailable("connection refused: is the browser running with --remote-debugging-port?")
	case isDNS:
		return d.unavailable("the host name does not resolve")
	case errors.Is(err, errnoHostUnreachable), errors.Is(err, errnoNetUnreachable), errors.Is(err, errnoNoAddress):
		return d.unavailable("the host is not reachable from here")
	case errors.Is(err, errRedirect):
		return d.unavailable("it answered with a redirect that is not followed: give the final address")
	case errors.As(err, &unknownCA), errors.As(err, &wrongHost), errors.As(err, &badCert):
		return d.unavailable("its TLS certificate is not valid for this host")
	case errors.As(err, &notTLS):
		return d.unavailable("it does not speak TLS: use ws:// or http://")
	case errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return d.unavailable("no answer in time: is the host reachable?")
	case errors.Is(err, errnoReset), errors.Is(err, errnoBrokenPipe):
		return d.unavailable("the connection was reset")
	}
	return d.unavailable("it does not answer like a browser's debugging port")
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// withNamed adds to a failed handshake that the browser's own answer named another
// port: behind a tunnel that is the far side's, at a broker it may be the browser's.
func (d *dialer) withNamed(err error) error {
	e, ok := errors.AsType[*messages.Error](err)
	if !ok || d.named == "" {
		return err
	}
	named := *e
	named.Message += fmt.Sprintf(
		"; %s named port %s, and port %s was dialled instead, as through a tunnel: if the browser listens on port %s, give that address as cdp_url",
		versionPath, d.named, portOf(d.asked), d.named)
	return &named
}

// statusError says what an HTTP status other than the expected one means.
func (d *dialer) statusError(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return d.unavailable("it answered %d: the credentials in cdp_url are missing or wrong", status)
	case http.StatusNotFound:
		return d.unavailable("it answered 404: there is no such browser; after a restart its id is new, so prefer http://HOST:PORT")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return d.unavailable("it answered %d: it has no room for another connection", status)
	}
	return d.unavailable("it answered %d: is this a browser's debugging port?", status)
}
