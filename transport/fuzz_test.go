package transport_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/transport"
)

// startsOdd takes some events for unwanted, of whatever method.
func startsOdd(_ string, head []byte) bool { return len(head) > 1 && head[1]%2 == 1 }

// FuzzReader lets a link read arbitrary bytes, as WebSocket frames and as the
// payload of a text frame. Whatever comes, every call gets one outcome and the
// link ends once.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		reply110, `{"id":1,"result":{}}`, `{"id":2,"error":5}`, attachS1, detachS1, eventOf("S1", 1), noID, "\x00", "[]",
		"\x81\x02{}\x88\x02\x03\xe8", "\x89\x00\x8a\x00", "\x01\x01{\x80\x01}", "\xff\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, b []byte, text bool) {
		if text {
			b = append(frame(string(b)), frame(string(b))...)
		}
		var closes, told, heard atomic.Int64
		m := newRawBrowser(t, func(c net.Conn) {
			read := make(chan struct{})
			go func() { defer close(read); _, _ = io.Copy(io.Discard, c) }()
			_, _ = c.Write(b)
			_ = c.Close()
			<-read
		}).dial(t, transport.DialOptions{MaxMessage: 1 << 10, Events: testEvents, Unwanted: startsOdd, OnClose: func(error) { closes.Add(1) }})
		gathering := transport.Gathering{
			Sink: func(transport.Event) { heard.Add(1) }, Settle: func() {},
			Unread: func(e transport.Event) bool { heard.Add(1); return len(transport.Whole(e))%2 == 1 },
		}
		m.Bind("", func(e transport.Event) { heard.Add(1); m.Gather("S1", gathering) })
		const calls = 3
		for range calls {
			m.Start(transport.Call{SessionID: "S1", Method: "A.b", Done: func(transport.Reply) { told.Add(1) }})
		}
		select {
		case <-m.Closed():
		case <-time.After(20 * time.Second):
			t.Fatal("the link did not end")
		}
		if closes.Load() != 1 || told.Load() != calls {
			t.Errorf("OnClose %d times, %d outcomes of %d", closes.Load(), told.Load(), calls)
		}
	})
}
