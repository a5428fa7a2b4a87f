package remoting_test

import (
	"context"
	"math"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"
	"google.golang.org/protobuf/proto"
	"storj.io/drpc/drpcconn"

	"holdfast/transport/remoting"
)

// hostile are envelopes that no peer of good will sends, and one that is good.
func hostile(own string) []*remote.Envelope {
	ping, err := proto.Marshal(&actor.Ping{From: actor.NewPID("x", "y")})
	if err != nil {
		panic(err)
	}
	names := func(n ...string) []string { return n }
	pids := func(p ...*actor.PID) []*actor.PID { return p }
	target, sender := actor.NewPID(own, "echo"), actor.NewPID("127.0.0.1:9", "x")
	with := func(m *remote.Message, change ...func(*remote.Envelope)) *remote.Envelope {
		if m.Data == nil {
			m.Data = ping
		}
		e := &remote.Envelope{TypeNames: names("actor.Ping"), Targets: pids(target), Senders: pids(sender), Messages: []*remote.Message{m}}
		for _, c := range change {
			c(e)
		}
		return e
	}
	to := func(id string) func(*remote.Envelope) {
		return func(e *remote.Envelope) { e.Targets = pids(actor.NewPID(own, id)) }
	}
	from := func(address, id string) func(*remote.Envelope) {
		return func(e *remote.Envelope) { e.Senders = pids(actor.NewPID(address, id)) }
	}
	out := []*remote.Envelope{
		with(&remote.Message{}),
		{},
		{TypeNames: names("holdfast.v1/ping")},
		with(&remote.Message{}, from(own, "echo/7")),
		with(&remote.Message{}, from("198.51.100.7:4000", "x")),
		with(&remote.Message{}, from("localhost.example.org:4000", "x")),
		with(&remote.Message{}, from("", "x")),
		with(&remote.Message{}, from(string(make([]byte, 1<<10)), "x")),
		with(&remote.Message{}, func(e *remote.Envelope) { e.Senders = pids(nil) }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.Senders = nil }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.Targets = pids(nil) }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.Targets = nil }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.TypeNames = nil }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.TypeNames = names("google.protobuf.Struct") }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.TypeNames = names("no.such.Type") }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.TypeNames = names("") }),
		with(&remote.Message{}, func(e *remote.Envelope) { e.Messages = append(e.Messages, nil) }),
		with(&remote.Message{Data: []byte{0xff, 0xff, 0xff}}),
		with(&remote.Message{Data: []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}}),
		with(&remote.Message{}, to("eventstream/1")), with(&remote.Message{}, to("echo/7")), with(&remote.Message{}, to("router/1")),
		with(&remote.Message{}, to("stream/"+own)), with(&remote.Message{}, to("response/1")), with(&remote.Message{}, to("response/")), with(&remote.Message{}, to("")),
		with(&remote.Message{}, func(e *remote.Envelope) { e.TypeNames = make([]string, 1<<14) }),
		with(&remote.Message{}, func(e *remote.Envelope) {
			for range 1 << 14 {
				e.Messages = append(e.Messages, &remote.Message{})
			}
		}),
	}
	for _, i := range []int32{-1, 1, math.MinInt32, math.MaxInt32} {
		out = append(out, with(&remote.Message{TypeNameIndex: i}), with(&remote.Message{TargetIndex: i}), with(&remote.Message{SenderIndex: i}))
	}
	return out
}

// stream opens a stream to a process as any client of the service can.
func stream(t *testing.T, address string) remote.DRPCRemote_ReceiveClient {
	t.Helper()
	raw, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	conn := drpcconn.New(raw)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); _ = conn.Close() })
	s, err := remote.NewDRPCRemoteClient(conn).Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHostilePeers: envelopes and bytes that are no envelopes harm nothing, reach nothing, and
// have no address dialled. A good message behind them arrives.
func TestHostilePeers(t *testing.T) {
	ours := open(t, nil, nil)
	goroutines := runtime.NumGoroutine()
	s := stream(t, ours.Address())
	for _, e := range hostile(ours.Address()) {
		if err := s.Send(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Recv(); err != nil { // what was asked for, and nothing else
		t.Fatal(err)
	}
	roll := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<12)
	for range 100 {
		for i := range noise {
			noise[i] = byte(roll.Uint32())
		}
		c, err := net.Dial("tcp", ours.Address())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(noise)
		_ = c.Close()
	}
	eventually(t, "the first message has arrived", func() bool { return ours.received.Load() >= 1 })
	other := open(t, nil, nil)
	if err := ask(other.Engine, ours.pid(), "still there"); err != nil {
		t.Fatal(err)
	}
	lost := ours.remoter.Stats().Lost
	for _, why := range []remoting.Reason{remoting.BadEnvelope, remoting.BadTarget, remoting.BadType, remoting.BadData, remoting.BadSender} {
		if lost[why] == 0 {
			t.Errorf("nothing was refused as %s", why)
		}
	}
	if lost[remoting.Panicked] != 0 {
		t.Error("something panicked")
	}
	_ = s.Close()
	eventually(t, "links and goroutines of others have ended", func() bool {
		return ours.remoter.Stats().Links <= 2 && runtime.NumGoroutine() < goroutines+24
	})
}

// TestOneAnswerIsLetIn: a second one to the same request would block the link.
func TestOneAnswerIsLetIn(t *testing.T) {
	t.Parallel()
	ours := open(t, nil, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked := ours.Request(actor.NewPID(l.Addr().String(), "echo"), &actor.Ping{}, patience)
	_ = l.Close()
	s := stream(t, ours.Address())
	for range 3 {
		e := hostile(ours.Address())[0]
		e.Targets = []*actor.PID{actor.NewPID(ours.Address(), asked.PID().GetID())}
		if err := s.Send(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := asked.Result(); err != nil {
		t.Error(err)
	}
	eventually(t, "the others are refused", func() bool { return ours.remoter.Stats().Lost[remoting.BadTarget] == 2 })
}

// TestAForgedSenderIsNotDialled: only members, and the host that the link comes from.
func TestAForgedSenderIsNotDialled(t *testing.T) {
	t.Parallel()
	member := "203.0.113.9:4000"
	ours := open(t, nil, func(o *remoting.Options) { o.IsMember = func(a string) bool { return a == member } })
	s := stream(t, ours.Address())
	for _, address := range []string{"198.51.100.7:4000", "example.org:4000", ours.Address(), member, "127.0.0.1:9"} {
		e := hostile(ours.Address())[0]
		e.Senders = []*actor.PID{actor.NewPID(address, "x")}
		if err := s.Send(e); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all have arrived", func() bool { return ours.received.Load() == 5 })
	eventually(t, "two of five are answered", func() bool { return ours.remoter.Stats().Peers == 2 })
	if n := ours.remoter.Stats().Lost[remoting.BadSender]; n != 3 {
		t.Errorf("%d senders were taken away, want 3", n)
	}
}

// FuzzEnvelope: whatever a peer sends, nothing panics and nothing else than the echo is reached.
func FuzzEnvelope(f *testing.F) {
	ours := open(f, nil, nil)
	for _, e := range hostile(ours.Address()) {
		if len(e.Messages) > 1000 || len(e.TypeNames) > 1000 {
			continue
		}
		b, err := e.MarshalVT()
		if err != nil {
			continue // one that cannot be written
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e remote.Envelope
		if e.UnmarshalVT(b) != nil {
			return
		}
		start := time.Now()
		ours.remoter.Receive(&e, func(string) bool { return false })
		if ours.remoter.Stats().Lost[remoting.Panicked] != 0 {
			t.Fatal("it panicked")
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Fatalf("it took %v", d)
		}
	})
}
