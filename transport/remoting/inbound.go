package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"runtime/debug"
	"time"

	"github.com/anthdm/hollywood/remote"
	"storj.io/drpc/drpcctx"
	"storj.io/drpc/drpcmux"
	"storj.io/drpc/drpcserver"
)

// Serve opens the door: it takes links from a listener until Stop, or until the listener fails,
// and closes it. The engine has to stand. TLS is the Remoter's to do.
func (r *Remoter) Serve(l net.Listener) error {
	r.mu.Lock()
	if r.engine == nil || r.isStopped {
		r.mu.Unlock()
		return errors.Join(errors.New("remoting: served before its start or after its end"), l.Close())
	}
	r.all.Add(1) // within the lock: Stop may be waited for from now on
	r.mu.Unlock()
	defer r.all.Done()
	mux := drpcmux.New()
	if err := remote.DRPCRegisterRemote(mux, receiver{remoter: r}); err != nil {
		return errors.Join(err, l.Close())
	}
	server := drpcserver.NewWithOptions(mux, drpcserver.Options{Manager: manager()})
	defer context.AfterFunc(r.ctx, func() { _ = l.Close() })()
	defer func() { _ = l.Close() }()
	for {
		c, err := l.Accept()
		if err != nil {
			if r.ctx.Err() != nil {
				return nil
			}
			if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
				continue
			}
			return err
		}
		if !r.hasRoom(c) {
			r.counts.drop(BadLink, 1)
			_ = c.Close()
			continue
		}
		go func() {
			defer r.all.Done()
			defer r.exit(c)
			r.link(server, c)
		}()
	}
}

// hasRoom counts a link in, unless there are too many.
func (r *Remoter) hasRoom(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isStopped || len(r.links) >= MaxLinks {
		return false
	}
	r.links[c] = struct{}{}
	r.all.Add(1)
	return true
}

func (r *Remoter) exit(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.links, c)
}

// link serves one connection until it ends.
func (r *Remoter) link(server *drpcserver.Server, c net.Conn) {
	if r.options.TLS != nil {
		within, cancel := context.WithTimeout(r.ctx, dialTime)
		secured := tls.Server(c, r.options.TLS)
		err := secured.HandshakeContext(within)
		cancel()
		if err != nil {
			r.counts.drop(BadLink, 1)
			r.options.Log.Debug("a link was refused", "from", c.RemoteAddr().String(), "err", err)
			return
		}
		c = secured
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	v := &visitor{Conn: c, end: time.AfterFunc(streamTime, cancel)}
	defer v.end.Stop()
	err := server.ServeOne(drpcctx.WithTransport(ctx, v), v)
	r.options.Log.Debug("a link has ended", "from", c.RemoteAddr().String(), "err", err)
}

// streamTime is how long a link may be without a stream. What is no invocation of one has the
// manager of drpc wait for ever, also past the end of the connection.
const streamTime = 5 * time.Second

// visitor is the connection of a link, with the clock that ends it while it has no stream.
type visitor struct {
	net.Conn
	end *time.Timer
}

// receiver is the service that the generated stubs call.
type receiver struct {
	remote.DRPCRemoteUnimplementedServer
	remoter *Remoter
}

// Receive takes the envelopes of one link.
func (s receiver) Receive(stream remote.DRPCRemote_ReceiveStream) error {
	transport, _ := drpcctx.Transport(stream.Context())
	conn, ok := transport.(*visitor)
	if !ok {
		return errors.New("remoting: a link without a connection")
	}
	conn.end.Stop()
	defer conn.end.Reset(streamTime)
	isDialled := s.remoter.dialled(conn.Conn)
	for {
		e, err := s.next(stream)
		if err != nil {
			return err
		}
		if isPing(e) {
			// Only to who asks for it: a stock client does not read, and what is sent to it
			// unasked stops its end of the link for good.
			_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
			if err := stream.Send(ping()); err != nil {
				return err
			}
			continue
		}
		s.remoter.receive(e, isDialled)
	}
}

// next reads an envelope. Bytes that make the decoder panic end the link alone.
func (s receiver) next(stream remote.DRPCRemote_ReceiveStream) (e *remote.Envelope, err error) {
	defer func() {
		if recover() != nil {
			s.remoter.counts.drop(Panicked, 1)
			err = BadEnvelope
		}
	}()
	return stream.Recv()
}

// receive delivers what may come in, a message at a time.
func (r *Remoter) receive(e *remote.Envelope, isDialled func(address string) bool) {
	if !isBounded(e) {
		r.counts.drop(BadEnvelope, max(1, len(e.GetMessages())))
		return
	}
	known := map[string]bool{}
	once := func(address string) bool {
		may, ok := known[address]
		if !ok {
			may = isDialled(address)
			known[address] = may
		}
		return may
	}
	for _, m := range e.GetMessages() {
		r.deliver(e, m, once)
	}
}

func (r *Remoter) deliver(e *remote.Envelope, m *remote.Message, isDialled func(address string) bool) {
	defer func() {
		if recover() != nil {
			r.counts.drop(Panicked, 1)
			r.options.Log.Error("a message from another process panicked", "stack", string(debug.Stack()))
		}
	}()
	d, why := r.open(e, m, isDialled)
	if why != "" {
		r.counts.drop(why, 1)
		if why != BadSender {
			return
		}
	}
	r.counts.received.Add(1)
	r.engine.SendLocal(d.to, d.msg, d.from)
}

// dialled says which addresses may be dialled for the senders on a link: those of members, and
// of the host that the link comes from.
func (r *Remoter) dialled(c net.Conn) func(address string) bool {
	from, _, _ := net.SplitHostPort(c.RemoteAddr().String())
	origin := net.ParseIP(from)
	verify := func(string) bool { return false }
	if secured, ok := c.(*tls.Conn); ok {
		if certs := secured.ConnectionState().PeerCertificates; len(certs) > 0 {
			verify = func(host string) bool { return certs[0].VerifyHostname(host) == nil }
		}
	}
	return func(address string) bool {
		if r.options.IsMember != nil && r.options.IsMember(address) {
			return true
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil || host == "" {
			return false
		}
		if ip := net.ParseIP(host); ip != nil {
			return ip.Equal(origin) || ip.IsLoopback() && origin.IsLoopback() || !ip.IsLoopback() && verify(host)
		}
		if host == "localhost" {
			return origin.IsLoopback()
		}
		return verify(host)
	}
}
