package remoting

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/remote"
	"storj.io/drpc/drpcconn"
	"storj.io/drpc/drpcmanager"
	"storj.io/drpc/drpcwire"
)

const (
	// dialTime bounds a dial with its handshake.
	dialTime = 2 * time.Second
	// writeTime bounds the write of one envelope.
	writeTime = 4 * time.Second
	// maxEnvelope bounds one inbound envelope; stock writes up to 4096 messages into one.
	maxEnvelope = 64 << 20
)

func manager() drpcmanager.Options {
	return drpcmanager.Options{Reader: drpcwire.ReaderOptions{MaximumBufferSize: maxEnvelope}}
}

// link is a connection to a peer with the one stream on it.
type link struct {
	raw    net.Conn
	conn   *drpcconn.Conn
	stream remote.DRPCRemote_ReceiveClient
	cancel context.CancelFunc
	lost   chan struct{}             // closed once nothing more is read
	heard  atomic.Pointer[time.Time] // when the peer answered last; nil: never, as stock
}

func dial(ctx context.Context, address string, config *tls.Config) (*link, error) {
	within, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	var (
		raw net.Conn
		err error
	)
	if config == nil {
		raw, err = (&net.Dialer{}).DialContext(within, "tcp", address)
	} else {
		raw, err = (&tls.Dialer{Config: config}).DialContext(within, "tcp", address)
	}
	if err != nil {
		return nil, err
	}
	l := &link{raw: raw, conn: drpcconn.NewWithOptions(raw, drpcconn.Options{Manager: manager()}), lost: make(chan struct{})}
	_ = raw.SetWriteDeadline(time.Now().Add(writeTime))
	during, end := context.WithCancel(ctx)
	l.cancel = end
	l.stream, err = remote.NewDRPCRemoteClient(l.conn).Receive(during)
	if err != nil {
		end()
		_ = l.conn.Close()
		return nil, err
	}
	go l.read()
	return l, nil
}

// read notes the peer's signs of life, and the end of the link. Stock says nothing.
func (l *link) read() {
	defer close(l.lost)
	for {
		if _, err := l.stream.Recv(); err != nil {
			return
		}
		now := time.Now()
		l.heard.Store(&now)
	}
}

// isSilent says whether a peer that has answered once does not any more.
func (l *link) isSilent(now time.Time) bool {
	heard := l.heard.Load()
	return heard != nil && now.Sub(*heard) > silence
}

func (l *link) write(e *remote.Envelope) error {
	if err := l.raw.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	return l.stream.Send(e)
}

// close ends the link, and waits for its reader.
func (l *link) close() {
	_ = l.raw.Close()
	l.cancel()
	_ = l.conn.Close()
	<-l.lost
}
