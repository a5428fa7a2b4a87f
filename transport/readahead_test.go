package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"holdfast/transport"
)

// TestFloodOverSocket sends messages in pieces of every size over a real socket,
// which is read in larger pieces than the WebSocket asks for.
func TestFloodOverSocket(t *testing.T) {
	t.Parallel()
	const events = 5000
	random := rand.New(rand.NewPCG(1, 2))
	var flood bytes.Buffer
	for i := range events {
		text := bytes.Repeat([]byte{'x'}, random.IntN(1200))
		if i%500 == 0 {
			text = bytes.Repeat([]byte{'y'}, 100_000)
		}
		flood.Write(frame(fmt.Sprintf(`{"method":"A.event","params":{"n":%d,"text":"%s"}}`, i, text)))
	}
	var stats transport.Stats
	done := make(chan struct{})
	next := 0
	sink := func(e transport.Event) {
		if head := fmt.Sprintf(`{"n":%d,`, next); !bytes.HasPrefix(e.Params, []byte(head)) {
			t.Errorf("%.40s came where %s should", e.Params, head)
		}
		if next++; next == events {
			close(done)
		}
	}
	addr := listenRaw(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1)) // the go-ahead
		rest := flood.Bytes()
		for len(rest) > 0 {
			n := min(len(rest), 1+random.IntN(200_000))
			if _, err := c.Write(rest[:n]); err != nil {
				t.Error(err)
				return
			}
			rest = rest[n:]
		}
		_, _ = io.Copy(io.Discard, c)
	})
	m, err := transport.Dial(within(t), cdpURL(t, addr), transport.DialOptions{Events: []string{"A.event"}, Stats: &stats})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { m.Close(); <-m.Closed() }()
	m.Bind("", sink)
	m.Start(transport.Call{Method: "A.go"})
	select {
	case <-done:
	case <-within(t).Done():
		t.Fatalf("%d of %d events came: %v", stats.EventsDelivered.Load()+stats.EventsShed.Load(), events, m.Err())
	}
}
