package desk

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/messages/wire"
	"holdfast/transport/remoting"
)

// Alias is the id under which programs reach the desk.
const Alias = "registry"

const (
	// maxRequests bounds the requests that run at once.
	maxRequests = 256
	// maxWatches bounds the watches.
	maxWatches = 256
	// maxAnswer bounds an answer, in bytes: programs of stock hollywood read no longer message.
	maxAnswer = remoting.MaxMessage - 16<<10
)

// Config is what a Desk is made of.
type Config struct {
	// Listener takes the links of other processes; the desk closes it.
	Listener net.Listener
	// Address is the HOST:PORT under which they reach it.
	Address string
	// TLS is for both ends of every link; nil is without any.
	TLS *tls.Config
	// IsMember says whether an address is that of a node of the cluster.
	IsMember func(address string) bool
	// Do asks the node over HTTP, as its admin.
	Do  func(*http.Request) (*http.Response, error)
	Log *slog.Logger
}

// Desk is open until Close.
type Desk struct {
	config  Config
	remoter *remoting.Remoter
	system  *guard.System
	root    *guard.Handle
	ctx     context.Context // until Close
	cancel  context.CancelFunc
	all     sync.WaitGroup
	running atomic.Int64

	mu      sync.Mutex // protects watches
	watches map[watchKey]*watch
}

// types are the messages that are let in.
func types() []protoreflect.FullName {
	out := []protoreflect.FullName{"google.protobuf.BytesValue"}
	for _, m := range []proto.Message{
		&wire.Start{}, &wire.Stop{}, &wire.Get{}, &wire.List{}, &wire.Snapshot{}, &wire.Answer{}, &wire.Navigate{}, &wire.CDP{}, &wire.Recover{}, &wire.Watch{}, &wire.Unwatch{},
	} {
		out = append(out, m.ProtoReflect().Descriptor().FullName())
	}
	return out
}

// Open starts a desk.
func Open(c Config) (*Desk, error) {
	d := &Desk{config: c, watches: map[watchKey]*watch{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	var err error
	d.remoter, err = remoting.New(remoting.Options{
		Address: c.Address, TLS: c.TLS, IsMember: c.IsMember, Types: types(), Log: c.Log, OnDrop: d.dropped,
		Resolve: func(id string) *actor.PID {
			if id != Alias {
				return nil
			}
			return d.root.PID()
		},
	})
	if err == nil {
		d.system, err = guard.NewSystem(guard.Options{Logger: c.Log, Remote: d.remoter})
	}
	if err != nil {
		return nil, errors.Join(err, c.Listener.Close())
	}
	d.root = d.system.Root(guard.Child{Kind: Alias, Key: "desk", Mailbox: 4 * maxRequests, CanShed: true, New: func() guard.Behavior { return (*clerk)(d) }})
	d.all.Go(func() {
		if err := d.remoter.Serve(c.Listener); err != nil {
			c.Log.Error("programs on actors cannot connect any more", "err", err)
		}
	})
	return d, nil
}

// Close ends every request, every watch and every link.
func (d *Desk) Close(ctx context.Context) error {
	d.cancel()
	links := d.remoter.Stop()
	_, err := d.root.Stop(ctx)
	err = errors.Join(err, d.system.Close(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.all.Wait()
		links.Wait()
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
}

// Stats are those of its links.
func (d *Desk) Stats() remoting.Stats { return d.remoter.Stats() }

// clerk is the desk's actor. It waits for nothing.
type clerk Desk

// Init implements guard.Behavior.
func (*clerk) Init(*guard.Context) {}

// Terminate implements guard.Behavior.
func (*clerk) Terminate(*guard.Context, guard.Reason) {}

// Receive implements guard.Behavior.
func (c *clerk) Receive(ctx *guard.Context, msg any) {
	d, to := (*Desk)(c), ctx.Sender()
	if to == nil || d.ctx.Err() != nil {
		return // there is no way back
	}
	q, err := parse(msg)
	switch {
	case err != nil:
		d.send(to, q.reply(nil, err))
	case q.Ask == askUnwatch:
		d.unwatch(to, q)
	case q.Ask == askWatch:
		d.watch(to, q)
	case d.running.Add(1) > maxRequests:
		d.running.Add(-1)
		d.send(to, q.reply(nil, messages.Errorf(messages.CodeLimitReached, "%d requests run already", maxRequests).WithSent(messages.SentNo).With("retry_after_s", 1)))
	default:
		d.all.Go(func() {
			defer d.running.Add(-1)
			defer d.rescue(to, q)
			d.send(to, q.reply(d.ask(q)))
		})
	}
}

// rescue answers a request whose code panics.
func (d *Desk) rescue(to *actor.PID, q request) {
	if recover() != nil {
		d.config.Log.Error("a request of a program on actors panicked", "ask", q.Ask, "stack", string(debug.Stack()))
		d.send(to, q.reply(nil, messages.Errorf(messages.CodeInternal, "the request failed")))
	}
}

func (d *Desk) send(to *actor.PID, m proto.Message) { d.remoter.Send(to, m, d.root.PID()) }

// callTime bounds every request: the node's own bounds are shorter.
const callTime = 10 * time.Minute

// ask has the node answer a request.
func (d *Desk) ask(q request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(d.ctx, callTime)
	defer cancel()
	res, err := d.do(ctx, q)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > maxAnswer:
		return nil, messages.Errorf(messages.CodeMessageTooLarge, "the answer is longer than %d bytes: ask over HTTP", maxAnswer).WithSent(messages.SentYes)
	}
	return b, nil
}

// do sends a request. An answer that is an error becomes one.
func (d *Desk) do(ctx context.Context, q request) (*http.Response, error) {
	r, err := q.http()
	if err != nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "the request cannot be made")
	}
	res, err := d.config.Do(r.WithContext(ctx))
	if err != nil || res.StatusCode/100 == 2 {
		return res, err
	}
	defer res.Body.Close()
	var said struct {
		Error *messages.Error `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&said) != nil || said.Error == nil {
		return nil, messages.Errorf(messages.CodeInternal, "the node answers with status %d", res.StatusCode)
	}
	return nil, said.Error
}
