package gate

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"holdfast/internal/shed"
)

// strangerIdle is how long a connection may be idle that has never shown a token,
// where tokens are asked for.
const strangerIdle = 10 * time.Second

// Limit bounds the connections that are open at a time. When n are open, a further one
// takes the place of the one that has been idle for longest, first of those that have
// never shown a token. Where none is idle, it is closed at once, and o, which may be
// nil, is told: a caller learns at once. [Track] says which are idle.
func Limit(l net.Listener, n int, o Observer) net.Listener {
	if o == nil {
		o = noObserver{}
	}
	return &limited{Listener: l, free: make(chan struct{}, n), observer: o}
}

type limited struct {
	net.Listener
	free     chan struct{}
	observer Observer

	mu                  sync.Mutex
	strangers, trusteds list.List // idle *visitors, the one that is idle for longest in front
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		for isFull := false; ; {
			select {
			case l.free <- struct{}{}:
				return &visitor{Conn: conn, limit: l, leave: sync.OnceFunc(func() { <-l.free })}, nil
			default:
				isFull = !l.hasEvicted()
			}
			if isFull {
				l.observer.Cut(shed.HTTPConnections)
				conn.Close()
				break
			}
		}
	}
}

// hasEvicted closes the connection that has been idle for longest; false where none is.
func (l *limited) hasEvicted() bool {
	l.mu.Lock()
	front := l.strangers.Front()
	if front == nil {
		front = l.trusteds.Front()
	}
	if front == nil {
		l.mu.Unlock()
		return false
	}
	v := front.Value.(*visitor)
	v.becomeBusyLocked()
	l.mu.Unlock()
	v.Close()
	return true
}

// visitor is a connection from outside.
type visitor struct {
	net.Conn
	limit *limited
	leave func()

	// These are limit.mu's.
	isStranger   bool // it has shown no token
	isTokenAsked bool
	isClosed     bool
	idle         *list.Element // nil while a request is served
	timer        *time.Timer   // ends an idle stranger
}

type visitorKey struct{}

// Close implements net.Conn.
func (v *visitor) Close() error {
	v.limit.mu.Lock()
	v.becomeBusyLocked()
	v.isClosed = true
	v.limit.mu.Unlock()
	defer v.leave()
	return v.Conn.Close()
}

// enter is called once a server serves the connection.
func (v *visitor) enter(isTokenAsked bool) {
	v.limit.mu.Lock()
	defer v.limit.mu.Unlock()
	v.isStranger, v.isTokenAsked = true, isTokenAsked
	v.becomeIdleLocked()
}

// trust notes that the connection has shown a good token.
func (v *visitor) trust() {
	v.limit.mu.Lock()
	defer v.limit.mu.Unlock()
	v.isStranger = false
}

func (v *visitor) becomeBusyLocked() {
	if v.idle != nil {
		v.listLocked().Remove(v.idle)
		v.idle = nil
	}
	if v.timer != nil {
		v.timer.Stop()
		v.timer = nil
	}
}

func (v *visitor) becomeIdleLocked() {
	if v.isClosed || v.idle != nil {
		return
	}
	v.idle = v.listLocked().PushBack(v)
	if v.isStranger && v.isTokenAsked {
		v.timer = time.AfterFunc(strangerIdle, v.expire)
	}
}

// listLocked is where the connection is while it is idle: trust is gained only while a
// request is served.
func (v *visitor) listLocked() *list.List {
	if v.isStranger {
		return &v.limit.strangers
	}
	return &v.limit.trusteds
}

func (v *visitor) expire() {
	v.limit.mu.Lock()
	isIdle := v.idle != nil
	v.limit.mu.Unlock()
	if isIdle {
		v.Close()
	}
}

// Track has the server's requests and their tokens count for the bound of [Limit]. Call it
// once its Handler is set. With isTokenAsked a connection that has shown no good token may be
// idle for ten seconds. A connection is busy while its request's handler runs, a WebSocket's
// too; before that it is idle, also while the request's header arrives.
func Track(s *http.Server, isTokenAsked bool) {
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if c, ok := c.(*visitor); ok {
			c.enter(isTokenAsked)
			ctx = context.WithValue(ctx, visitorKey{}, c)
		}
		return ctx
	}
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v := visitorOf(r.Context()); v != nil {
			v.limit.mu.Lock()
			v.becomeBusyLocked()
			v.limit.mu.Unlock()
			defer func() {
				v.limit.mu.Lock()
				v.becomeIdleLocked()
				v.limit.mu.Unlock()
			}()
		}
		next.ServeHTTP(w, r)
	})
}

func visitorOf(ctx context.Context) *visitor {
	v, _ := ctx.Value(visitorKey{}).(*visitor)
	return v
}

// NetConn returns the connection below, whose socket's options a stream may set.
func (v *visitor) NetConn() net.Conn { return v.Conn }
