package chromiumtest_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

func proxied(t *testing.T) (*chromiumtest.FaultProxy, *chromiumtest.Raw) {
	t.Helper()
	b := chromiumtest.Shared(t)
	p := chromiumtest.Proxy(t, b.Addr())
	return p, chromiumtest.Dial(t, p.URL(b.WS()))
}

func TestProxyKillsEveryConnection(t *testing.T) {
	t.Parallel()
	p, c := proxied(t)
	c.Must("", "Browser.getVersion", nil)
	if n := p.KillAll(); n != 1 {
		t.Errorf("killed %d connections, want 1", n)
	}
	<-c.Done()
	if p.Open() != 0 || p.Dials() != 1 {
		t.Errorf("open %d, dials %d", p.Open(), p.Dials())
	}
}

func TestProxyStallsAndResumes(t *testing.T) {
	t.Parallel()
	p, c := proxied(t)
	p.Stall()
	held := c.Send("", "Browser.getVersion", nil)
	if _, err := held.Wait(200 * time.Millisecond); err == nil {
		t.Fatal("a reply passed while stalled")
	}
	p.Resume()
	if _, err := held.Wait(chromiumtest.Patience); err != nil {
		t.Fatalf("after resume: %v", err)
	}
}

func TestProxyKillsWhileStalled(t *testing.T) {
	t.Parallel()
	p, c := proxied(t)
	p.Stall()
	c.Send("", "Browser.getVersion", nil)
	p.KillAll()
	<-c.Done()
	p.Resume()
}

func TestProxyRefuses(t *testing.T) {
	t.Parallel()
	p, c := proxied(t)
	p.Refuse()
	if conn, err := net.Dial("tcp", p.Addr()); err == nil {
		_ = conn.Close()
		t.Error("a dial succeeded while refusing")
	}
	if taken, err := net.Listen("tcp", p.Addr()); err == nil {
		_ = taken.Close()
		t.Error("somebody else was given the port while refusing")
	}
	c.Must("", "Browser.getVersion", nil) // an open connection stays open
	p.Accept(t)
	again := chromiumtest.Dial(t, p.URL(chromiumtest.Shared(t).WS()))
	again.Must("", "Browser.getVersion", nil)
	if p.Dials() != 2 || p.Open() != 2 {
		t.Errorf("dials %d, open %d, want 2 and 2", p.Dials(), p.Open())
	}
}

func TestProxyRecordsInOrder(t *testing.T) {
	t.Parallel()
	p, c := proxied(t)
	var want []string
	for i := range 50 {
		// From a few bytes to beyond the 16-bit length, to meet every header.
		filler := strings.Repeat("x", i*i*40)
		want = append(want, filler)
		c.Must("", "Browser.getVersion", map[string]any{"filler": filler})
	}
	var got []string
	replies := 0
	for _, m := range p.Messages() {
		if !m.IsFromClient {
			replies++
			continue
		}
		got = append(got, chromiumtest.Field([]byte(chromiumtest.Field(m.Payload, "params")), "filler"))
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded %d commands, want the %d sent in their order", len(got), len(want))
	}
	if replies != len(want) {
		t.Errorf("recorded %d replies, want %d", replies, len(want))
	}
	p.Forget()
	if n := len(p.Messages()); n != 0 {
		t.Errorf("%d messages after Forget", n)
	}
	if want := fmt.Sprintf("ws://%s/x", p.Addr()); p.URL("ws://10.0.0.1:1/x") != want {
		t.Errorf("URL = %s, want %s", p.URL("ws://10.0.0.1:1/x"), want)
	}
}
