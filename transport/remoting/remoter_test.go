package remoting_test

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/reflect/protoreflect"

	"holdfast/internal/cluster/certs"
	"holdfast/transport/remoting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is for a machine that others use too.
const patience = 20 * time.Second

// texts are the messages of these tests.
var texts = []protoreflect.FullName{"actor.Ping", "actor.Pong"}

// echo is an engine of ours, whose actor echo sends back what it gets.
type echo struct {
	*actor.Engine
	remoter  *remoting.Remoter
	living   *actor.PID
	received atomic.Int64
}

func open(t testing.TB, config *tls.Config, change func(*remoting.Options)) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{}
	o := remoting.Options{
		Address: l.Addr().String(), TLS: config, Types: texts, Log: slog.New(slog.DiscardHandler),
		Resolve: func(id string) *actor.PID {
			if id == "echo" {
				return e.living
			}
			return nil
		},
	}
	if change != nil {
		change(&o)
	}
	if e.remoter, err = remoting.New(o); err != nil {
		t.Fatal(err)
	}
	if e.Engine, err = actor.NewEngine(actor.NewEngineConfig().WithRemote(e.remoter)); err != nil {
		t.Fatal(err)
	}
	e.living = e.SpawnFunc(func(c *actor.Context) {
		if m, ok := c.Message().(*actor.Ping); ok {
			e.received.Add(1)
			if c.Sender() != nil {
				c.Respond(&actor.Pong{From: m.From})
			}
		}
	}, "echo", actor.WithID("7"))
	served := make(chan error, 1)
	go func() { served <- e.remoter.Serve(l) }()
	t.Cleanup(func() {
		e.remoter.Stop().Wait()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return e
}

func (e *echo) pid() *actor.PID { return actor.NewPID(e.Address(), "echo") }

// freeAddress is one that nothing listens on. Stock needs to know its own beforehand.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// stock is an engine on hollywood's own remote.
func stock(t testing.TB, config *tls.Config) *actor.Engine {
	t.Helper()
	c := remote.NewConfig()
	if config != nil {
		c = c.WithTLS(config)
	}
	r := remote.New(freeAddress(t), c)
	e, err := actor.NewEngine(actor.NewEngineConfig().WithRemote(r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Stop().Wait() })
	e.SpawnFunc(func(c *actor.Context) {
		if m, ok := c.Message().(*actor.Ping); ok && c.Sender() != nil {
			c.Respond(&actor.Pong{From: m.From})
		}
	}, "stock", actor.WithID("echo"))
	return e
}

// identity is that of a node of a cluster.
func identity(t testing.TB) *tls.Config {
	t.Helper()
	dir := t.TempDir()
	if _, err := certs.Init(dir, []certs.Node{{Name: "a", Addresses: []string{"127.0.0.1"}}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	c, err := certs.Files{Cert: in(certs.CertFile("a")), Key: in(certs.KeyFile("a")), CA: in(certs.CAFile)}.Config(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(e *actor.Engine, to *actor.PID, what string) error {
	got, err := e.Request(to, &actor.Ping{From: actor.NewPID(what, "x")}, patience).Result()
	if err != nil {
		return err
	}
	if m, ok := got.(*actor.Pong); !ok || m.GetFrom().GetAddress() != what {
		return fmt.Errorf("%v answers %s", got, what)
	}
	return nil
}

func eventually(t testing.TB, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !isSo(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time: " + what)
		}
	}
}

// TestStockAndOursTalkBothWays: plain and over mutual TLS, by requests and by PIDs.
func TestStockAndOursTalkBothWays(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]*tls.Config{"plain": nil, "mtls": identity(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, other, theirs := open(t, config, nil), open(t, config, nil), stock(t, config)
			for i := range 100 {
				what := fmt.Sprint("message ", i)
				for _, err := range []error{
					ask(theirs, ours.pid(), what),
					ask(ours.Engine, actor.NewPID(theirs.Address(), "stock/echo"), what),
					ask(ours.Engine, other.pid(), what),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			s := ours.remoter.Stats()
			for why, n := range s.Lost {
				if n != 0 {
					t.Errorf("%d messages: %s", n, why)
				}
			}
			if s.Received != 300 || s.Links != 2 || s.Peers != 2 {
				t.Errorf("%+v", s)
			}
			eventually(t, "all is counted as sent", func() bool { return ours.remoter.Stats().Sent == 300 })
		})
	}
}

// TestStrangersAreTurnedAway: without a certificate of the cluster nothing comes in.
func TestStrangersAreTurnedAway(t *testing.T) {
	t.Parallel()
	ours := open(t, identity(t), nil)
	c, err := net.Dial("tcp", ours.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("no handshake\n")); err != nil {
		t.Fatal(err)
	}
	stranger := open(t, identity(t), nil) // of another CA
	stranger.Send(ours.pid(), &actor.Ping{})
	eventually(t, "both are refused", func() bool { return ours.remoter.Stats().Lost[remoting.BadLink] >= 2 })
	if n := ours.received.Load(); n != 0 {
		t.Errorf("%d messages of strangers came in", n)
	}
}

// TestADeadPeerDelaysNoOther: one that refuses and one that never shakes hands stand beside one
// that lives.
func TestADeadPeerDelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]*tls.Config{"plain": nil, "mtls": identity(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, living := open(t, config, nil), open(t, config, nil)
			mute, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes its connections, and nothing more
			if err != nil {
				t.Fatal(err)
			}
			defer mute.Close()
			refused := actor.NewPID(freeAddress(t), "echo")
			var worst time.Duration
			for i := range 200 {
				ours.Send(refused, &actor.Ping{})
				ours.Send(actor.NewPID(mute.Addr().String(), "echo"), &actor.Ping{})
				start := time.Now()
				if err := ask(ours.Engine, living.pid(), fmt.Sprint(i)); err != nil {
					t.Fatal(i, err)
				}
				worst = max(worst, time.Since(start))
			}
			if worst > 2*time.Second {
				t.Errorf("the living peer waited %v", worst)
			}
			eventually(t, "what waits for the refused peer is dropped", func() bool { return ours.remoter.Stats().Lost[remoting.Unavailable] >= 200 })
		})
	}
}

// TestTheQueueOfAStoppedPeerIsBounded: what finds no room, or is too old, is told.
func TestTheQueueOfAStoppedPeerIsBounded(t *testing.T) {
	t.Parallel()
	var told atomic.Int64
	ours := open(t, nil, func(o *remoting.Options) {
		o.OnDrop = func(d remoting.Dropped) { told.Add(int64(d.Messages)) }
	})
	stopped, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Close()
	to := actor.NewPID(stopped.Addr().String(), "echo")
	big := &actor.Ping{From: actor.NewPID(string(make([]byte, 1<<20)), "x")}
	const sent = 200
	for range sent {
		ours.Send(to, big)
		if s := ours.remoter.Stats(); s.Queued > remoting.MaxQueue {
			t.Fatalf("%d bytes wait", s.Queued)
		}
	}
	if n := ours.remoter.Stats().Lost[remoting.QueueFull]; n < 100 {
		t.Errorf("%d messages of %d found no room", n, sent)
	}
	eventually(t, "all that waited is dropped and told", func() bool {
		s := ours.remoter.Stats()
		return s.Queued == 0 && told.Load()+int64(s.Sent) == sent
	})
}

// TestBadMessagesFailWithTheirSender: they harm no other message.
func TestBadMessagesFailWithTheirSender(t *testing.T) {
	t.Parallel()
	ours, other := open(t, nil, nil), open(t, nil, nil)
	for why, bad := range map[remoting.Reason][]any{
		remoting.BadMessage: {nil, 1, struct{}{}, (*actor.Ping)(nil), &actor.Ping{From: actor.NewPID("\xff", "x")}},
		remoting.TooLarge:   {&actor.Ping{From: actor.NewPID(string(make([]byte, remoting.MaxMessage)), "x")}},
	} {
		for _, m := range bad {
			if err := ours.remoter.Offer(other.pid(), m, nil); err != why {
				t.Errorf("%T: %v, want %v", m, err, why)
			}
		}
	}
	for _, address := range []string{"", "nowhere", ours.Address()} {
		if err := ours.remoter.Offer(actor.NewPID(address, "echo"), &actor.Ping{}, nil); err != remoting.BadAddress {
			t.Errorf("%q: %v", address, err)
		}
	}
	if err := ask(ours.Engine, other.pid(), "good"); err != nil {
		t.Error(err)
	}
	if s := other.remoter.Stats(); s.Received != 1 {
		t.Errorf("%+v", s)
	}
}
