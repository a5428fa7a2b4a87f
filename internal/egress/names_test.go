package egress_test

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server: every question for a name gets the next of its addresses,
// and the last one from then on.
type names struct {
	mu   sync.Mutex
	next map[string][]string
}

func (n *names) answer(name string) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.next[name]
	if len(all) == 0 {
		return netip.Addr{}, false
	}
	if len(all) > 1 {
		n.next[name] = all[1:]
	}
	return netip.MustParseAddr(all[0]), true
}

// resolver asks a server of these names.
func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		b := make([]byte, 1024)
		for {
			size, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if reply := n.reply(b[:size]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		served.Wait()
	})
	return &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

func (n *names) reply(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	if q.Type == dnsmessage.TypeA {
		if ip, ok := n.answer(q.Name.String()); ok {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type},
				Body:   &dnsmessage.AResource{A: ip.As4()},
			}}
		} else {
			m.RCode = dnsmessage.RCodeNameError
		}
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}
