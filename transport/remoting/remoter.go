package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/anthdm/hollywood/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Bounds of a Remoter.
const (
	// MaxMessage bounds one outbound message, in bytes: stock programs read no more than 4 MiB
	// at once.
	MaxMessage = 4<<20 - 64<<10
	// MaxQueue bounds what waits for one peer, in bytes.
	MaxQueue = 64 << 20
	// maxQueued bounds what waits for all peers together.
	maxQueued = 4 * MaxQueue
	maxPeers  = 1024
	// MaxLinks bounds the links of other processes.
	MaxLinks = 256
	// maxAsked bounds the requests of this process whose answers are let in.
	maxAsked = 1 << 14
	// askedTime is how long an answer is let in.
	askedTime = 5 * time.Minute
	// maxAge is how long a message waits for its peer.
	maxAge = 3 * time.Second
	// itemCost is what a message costs in a queue beside its bytes.
	itemCost = 256
)

// Options say who a Remoter is and whom it lets in.
type Options struct {
	// Address is the HOST:PORT under which others reach this process; it is part of every PID.
	Address string
	// TLS is for both ends of every link; nil is without any, for loopback and tests alone.
	TLS *tls.Config
	// IsMember says whether an address is one that may be dialled, whichever peer names it; nil is none.
	IsMember func(address string) bool
	// Resolve returns the living actor behind an id, nil where the id may not be reached.
	Resolve func(id string) *actor.PID
	// Types are the messages that are let in.
	Types []protoreflect.FullName
	// OnDrop hears what was dropped. It must not block.
	OnDrop func(Dropped)
	Log    *slog.Logger
}

// Dropped are messages to a peer that will not be sent.
type Dropped struct {
	Peer     string
	Reason   Reason
	Messages int
}

// Remoter is an [actor.Remoter]. Its methods are safe for concurrent use.
type Remoter struct {
	options Options
	types   map[string]protoreflect.MessageType
	none    *actor.PID      // the sender of what has none
	ctx     context.Context // until Stop
	cancel  context.CancelFunc
	all     sync.WaitGroup
	counts  counts

	mu        sync.Mutex // protects what follows
	engine    *actor.Engine
	peers     map[string]*peer
	queued    int
	asked     map[string]time.Time // answers to be let in, by the id of their PID
	links     map[net.Conn]struct{}
	isStopped bool
}

var _ actor.Remoter = (*Remoter)(nil)

// New returns a Remoter that does nothing yet.
func New(o Options) (*Remoter, error) {
	if _, _, err := net.SplitHostPort(o.Address); err != nil {
		return nil, err
	}
	if o.Log == nil || o.Resolve == nil {
		return nil, errors.New("remoting: a log and a resolver are needed")
	}
	types, err := messageTypes(o.Types)
	if err != nil {
		return nil, err
	}
	r := &Remoter{
		options: o, types: types, none: actor.NewPID(o.Address, noneID),
		peers: map[string]*peer{}, asked: map[string]time.Time{}, links: map[net.Conn]struct{}{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Address is the address of this process's actors.
func (r *Remoter) Address() string { return r.options.Address }

// Start keeps the engine. It opens no door: messages could come before the engine stands.
func (r *Remoter) Start(e *actor.Engine) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine != nil {
		return errors.New("remoting: started twice")
	}
	r.engine = e
	return nil
}

// Stop ends every link and every queue, and does not wait: the group it returns is done once
// all has ended.
func (r *Remoter) Stop() *sync.WaitGroup {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isStopped = true
	r.cancel()
	for c := range r.links {
		_ = c.Close()
	}
	return &r.all
}

// Send sends a message, or drops it.
func (r *Remoter) Send(to *actor.PID, msg any, from *actor.PID) { _ = r.Offer(to, msg, from) }

// Offer is Send that says whether the message was taken. It never blocks. What is taken may
// still be lost with its link.
func (r *Remoter) Offer(to *actor.PID, msg any, from *actor.PID) error {
	if to == nil {
		return errNoTarget
	}
	item, err := r.pack(to, msg, from)
	if err == nil {
		err = r.enqueue(item)
	}
	if reason, ok := errors.AsType[Reason](err); ok {
		r.drop(to.GetAddress(), reason, 1)
	}
	return err
}

// item is a message that waits.
type item struct {
	to, from *actor.PID
	name     string
	data     []byte
	since    time.Time
}

func (i item) cost() int { return len(i.data) + itemCost }

// pack marshals on the caller's goroutine: a bad message fails here and harms no other.
func (r *Remoter) pack(to *actor.PID, msg any, from *actor.PID) (i item, err error) {
	defer func() {
		if recover() != nil { // a message that is being changed while it is sent
			err = BadMessage
		}
	}()
	m, ok := msg.(proto.Message)
	if !ok || !m.ProtoReflect().IsValid() {
		return item{}, BadMessage
	}
	data, err := proto.Marshal(m)
	if err != nil {
		return item{}, BadMessage
	}
	if len(data) > MaxMessage {
		return item{}, TooLarge
	}
	if from == nil {
		from = r.none // stock gives a message without a sender that of another one
	}
	return item{to, from, string(m.ProtoReflect().Descriptor().FullName()), data, time.Now()}, nil
}

func (r *Remoter) enqueue(i item) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isStopped {
		return Stopped
	}
	address := i.to.GetAddress()
	p := r.peers[address]
	if p == nil {
		if _, _, err := net.SplitHostPort(address); err != nil || address == r.options.Address {
			return BadAddress
		}
		if len(r.peers) >= maxPeers {
			return QueueFull
		}
		p = &peer{remoter: r, address: address, wake: make(chan struct{}, 1)}
		r.peers[address] = p
		r.all.Go(p.run)
	}
	if p.bytes+i.cost() > MaxQueue || r.queued+i.cost() > maxQueued {
		return QueueFull
	}
	if id := i.from.GetID(); strings.HasPrefix(id, responsePrefix) && i.from.GetAddress() == r.options.Address {
		r.expect(id, i.since)
	}
	p.queue = append(p.queue, i)
	p.bytes += i.cost()
	r.queued += i.cost()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

// expect lets one answer in. Where too many are awaited, those of before askedTime go first.
func (r *Remoter) expect(id string, now time.Time) {
	if len(r.asked) >= maxAsked {
		for other, since := range r.asked {
			if now.Sub(since) > askedTime {
				delete(r.asked, other)
			}
		}
	}
	if len(r.asked) < maxAsked {
		r.asked[id] = now
	}
}

// isExpected says whether an answer may come in, and lets no second one in: it would block its
// link for ever.
func (r *Remoter) isExpected(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, ok := r.asked[id]
	delete(r.asked, id)
	return ok && time.Since(since) <= askedTime
}

// drop counts and tells.
func (r *Remoter) drop(peer string, why Reason, n int) {
	if n == 0 {
		return
	}
	r.counts.drop(why, n)
	if r.options.OnDrop != nil {
		r.options.OnDrop(Dropped{Peer: peer, Reason: why, Messages: n})
	}
}
