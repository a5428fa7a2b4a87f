package api_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/messages"
)

func TestTheObserverHearsOfRequests(t *testing.T) {
	t.Parallel()
	t.Run("answered, refused, failed and unknown", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{})
		b.call("GET", "/livez", "")
		b.call("GET", "/v1/tasks", "")
		b.call("PUT", "/v1/tasks/one", `{"no such field": 1}`)
		b.call("GET", "/no/such/route/of/mine", "")
		b.node.CheckList = []messages.Check{{Name: "capacity", Reason: "full"}}
		b.call("GET", "/readyz", "")
		want := []string{
			"request health 200 false", "request read 200 false", "request life 400 false", "request other 404 false", "request health 503 false",
		}
		if got := b.failures.read(); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
	t.Run("with a body that is too large", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{})
		b.wantError(b.call("PUT", "/v1/tasks/one", `{"cdp_url":"`+strings.Repeat("x", 1<<20)+`"}`), http.StatusRequestEntityTooLarge, messages.CodeMessageTooLarge)
		if got, want := b.failures.read(), []string{"cut http_bodies", "request life 413 false"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("of a caller that hangs up", func(t *testing.T) {
		t.Parallel()
		ctx, hangUp := context.WithCancel(t.Context())
		b := setup(t, &apitest.Node{CDPFunc: func(messages.CDPRequest) (messages.CDPResult, error) {
			hangUp()
			return messages.CDPResult{}, messages.Errorf(messages.CodeDeadline, "no answer in time").WithSent(messages.SentYes)
		}})
		b.do(b.request("POST", "/v1/tasks/one/cdp", `{"method":"Runtime.evaluate"}`).WithContext(ctx))
		if got, want := b.failures.read(), []string{"request drive 499 false"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("of an event stream", func(t *testing.T) {
		t.Parallel()
		b := setupGate(t, &apitest.Node{}, func(c *gate.Config) { c.MaxStreams = 1 })
		b.call("HEAD", "/v1/tasks/one/events", "")
		if got, want := b.failures.read(), []string{"stream opened", "stream closed", "request events 200 false"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestTheObserverHearsOfConnectionsThatAreTooMany(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var heard countFailures
	l := gate.Limit(inner, 1, &heard)
	accepted := make(chan net.Conn, 2)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	dial()
	first := <-accepted
	second := dial()
	if _, err := second.Read(make([]byte, 1)); err == nil {
		t.Error("one connection too many is served")
	}
	if got, want := heard.read(), []string{"cut http_connections"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	_ = first.Close()
	_ = l.Close()
	<-ended
}
