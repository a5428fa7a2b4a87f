package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	board "holdfast/actors/supervisor/view"
	"holdfast/internal/gateway/memory"
	"holdfast/internal/gateway/view"
	"holdfast/internal/rawcdp"
	"holdfast/internal/scan"
	"holdfast/messages"
	"holdfast/transport"
)

// Code is the code of the close frame that ends a client's connection.
type Code = websocket.StatusCode

// The close codes of the contract.
const (
	CloseOperator Code = 4001 // disconnected by an operator
	CloseEnded    Code = 4002 // the task or its browser has ended
	CloseSlow     Code = 4003 // the client does not read what it is told
	CloseDraining Code = 4004 // the node ends
	CloseMoved    Code = 4005 // the task is another node's now
)

// maxInFlight bounds the commands of one client that wait for their replies, and
// maxTaskInFlight those of all clients of a task: the link they share has room for twice as
// many, and the supervisor's stand among them.
const (
	maxInFlight     = 4096
	maxTaskInFlight = 8192
)

// Options are what a client asks for when it connects.
type Options struct {
	Name     string // "" is one made up
	Dialogs  view.Dialogs
	Mode     messages.ClientMode
	HasPings bool // it can take a ping, it says
	// Caller is the token's holder.
	Caller messages.Caller
	// IsFragile says that a close frame ends the client's whole process (rod).
	IsFragile bool
}

// client is one connection. Its reader is the goroutine that serve runs on. Another one writes
// while there is something to write.
type client struct {
	hub  *hub
	opts Options
	id   messages.ClientID // set before it is seen
	at   time.Time
	conn *websocket.Conn
	tcp  *net.TCPConn // below conn; nil where there is none
	out  *queue
	// written is closed once nothing will be written any more.
	written chan struct{}

	isPage bool               // the client is connected to one page, whose session it knows as ""
	page   messages.SessionID // that session; set before the client's first command

	mu       sync.Mutex // protects what follows, and orders what is told
	view     *view.View
	link     *transport.Mux
	gen      int      // how many links the client has lost
	browser  *session // the client's browser session, which it knows as ""
	sessions map[messages.SessionID]*session
	byLink   map[messages.SessionID]*session // those that are on the link, by the link's names
	off      map[messages.TargetID]bool      // pages to keep off
	parted   map[messages.SessionID]bool     // sessions on the link that have left their pages
	waiting  []waiting                       // commands whose session is not on the link
	expiry   *time.Timer                     // of those
	again    *time.Timer                     // gives settings once more after a restore
	asked    chan struct{}                   // closed when a page of the client asks, or asks no more
	isOver   bool

	pings        *time.Timer // nil while the client is not pinged; the reader sets it
	isWriting    atomic.Bool
	isSilent     atomic.Bool // it answers no ping, and would not take part in a close either
	waitingBytes int         // of waiting

	ending   atomic.Bool
	why      atomic.Pointer[closing]
	browsers atomic.Int32 // further browser sessions
	inFlight atomic.Int64
	commands atomic.Int64
	events   atomic.Int64
	dropped  atomic.Int64
	stalled  atomic.Int64 // nanoseconds
}

// closing is why a connection ends.
type closing struct {
	code   Code
	reason string
}

func (c *client) closing() closing {
	if why := c.why.Load(); why != nil {
		return *why
	}
	return closing{code: websocket.StatusNormalClosure}
}

// session is a session of the client's own.
type session struct {
	id        messages.SessionID // as the client knows it
	parent    messages.SessionID // "" is the browser
	target    messages.TargetID  // "" is the browser
	isBrowser bool               // each of its commands is for the view
	isWorker  bool               // of one of the kinds of worker
	isAuto    bool               // by the emulated auto-attach
	epoch     atomic.Int64       // the memory's

	// The client's lock protects what follows.
	link       messages.SessionID        // as the link knows it
	isUp       bool                      // it is on the link, and no command waits for it
	isFlushing bool                      // the commands that wait for it are being sent
	isAwaited  bool                      // its parent's auto-attach is to bring it back
	expected   map[messages.TargetID]int // attaches that bring known sessions back
	memory     *memory.Session
	isEnding   bool // the client is about to be told of its end
	isAsking   bool // the client has been told of a dialog
	isAway     bool // it has left its page, until awayFor may be attached to again
	awayFor    messages.TargetID
}

func newClient(h *hub, o Options) *client {
	return &client{
		hub: h, opts: o, at: time.Now(), out: newQueue(h.g.queue), written: make(chan struct{}), asked: make(chan struct{}),
		sessions: map[messages.SessionID]*session{}, byLink: map[messages.SessionID]*session{},
		off: map[messages.TargetID]bool{}, parted: map[messages.SessionID]bool{},
	}
}

// configFor is what the client's view depends on.
func (c *client) configFor(v *board.View, standard string) view.Config {
	sharesBrowser := v.Scope != messages.ScopeBrowser
	cfg := view.Config{
		Caller:  rawcdp.Caller{IsScoped: c.opts.Caller.IsScoped, IsShared: sharesBrowser, Context: v.Context, Downloads: v.Downloads},
		HasAll:  !sharesBrowser && !v.IsRestricted && !c.opts.Caller.IsScoped,
		Dialogs: c.opts.Dialogs, DefaultContext: v.Context,
	}
	if cfg.DefaultContext == "" {
		cfg.DefaultContext = standard
	}
	return cfg
}

// enter opens the client's browser session and makes a place for it among the others. Page,
// where it is not "", is the page that the client is connected to.
func (c *client) enter(ctx context.Context, page messages.TargetID) error {
	c.isPage = page != ""
	ctx, cancel := context.WithTimeout(ctx, attachBudget)
	defer cancel()
	for {
		link, _, err := c.hub.await(ctx)
		if err != nil {
			return err
		}
		root, err := attachToBrowser(ctx, link)
		if err == nil {
			c.mu.Lock()
			c.link, c.browser = link, &session{isUp: true, memory: memory.NewSession(root)}
			c.bindLocked(c.browser, root)
			c.mu.Unlock()
			if err = c.hub.add(c); err != nil {
				detachFromBrowser(link, root)
			}
		}
		if err == nil {
			break
		}
		select {
		case <-link.Closed(): // another one comes
		default:
			return err
		}
	}
	if c.isPage {
		if err := c.enterPage(ctx, page); err != nil {
			c.leave()
			return err
		}
	}
	return nil
}

// enterPage opens the session of a client that is connected to one page.
func (c *client) enterPage(ctx context.Context, page messages.TargetID) error {
	if _, err := c.hub.target(page); err != nil {
		return err
	}
	params, _ := json.Marshal(map[string]any{"targetId": page, "flatten": true}) // always encodes
	raw, err := c.link.Do(ctx, c.browser.link, "Target.attachToTarget", params)
	if err != nil {
		return upstream(err)
	}
	c.page = messages.SessionID(scan.Unquote(memberOf(raw, "sessionId")))
	return nil
}

// named is a session as the client knows it, where that is another name.
func (c *client) named(s messages.SessionID) messages.SessionID {
	if c.isPage && s == c.page {
		return ""
	}
	return s
}

// serve runs the connection until it ends. The client has entered, and its connection is there.
func (c *client) serve(ctx context.Context) {
	c.conn.SetReadLimit(messages.MaxCDPMessage)
	c.hub.g.cfg.Observer.ClientConnected()
	log := c.hub.g.cfg.Log.With(slog.String("task", string(c.hub.id)), slog.String("client", string(c.id)))
	log.Info("a client has connected", "name", c.opts.Name, "dialogs", c.opts.Dialogs, "mode", c.opts.Mode)
	go c.write()
	if c.opts.HasPings {
		c.beginPings()
	}
	done := c.hub.board.Use()
	c.readSafely(ctx, log)
	done()
	c.end(websocket.StatusNormalClosure, "")
	c.endPings()
	c.leave()
	<-c.written
	why := c.closing()
	c.hub.g.cfg.Observer.ClientGone()
	log.Info("a client has gone", "code", int(why.code), "reason", why.reason, "commands", c.commands.Load(), "events", c.events.Load())
}

// readSafely reads, and ends the client alone where that panics.
func (c *client) readSafely(ctx context.Context, log *slog.Logger) {
	defer func() {
		if p := recover(); p != nil { // its value may be a page's text
			log.Error("the gateway has failed for a client", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			c.end(websocket.StatusInternalError, "the gateway has failed")
		}
	}()
	c.read(ctx)
}

// read takes the client's commands, one after another.
func (c *client) read(ctx context.Context) {
	for {
		kind, msg, err := c.conn.Read(ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			c.hub.g.cfg.Observer.ClientRejected(messages.ClientRejectedInvalid)
			c.end(websocket.StatusUnsupportedData, "CDP is text")
			return
		}
		if !c.hasTaken(msg) {
			c.hub.g.cfg.Observer.ClientRejected(messages.ClientRejectedInvalid)
			c.end(websocket.StatusInvalidFramePayloadData, "the message is not UTF-8")
			return
		}
	}
}

// end begins the end of the connection, once: what waits to be written is written still.
func (c *client) end(code Code, reason string) {
	if !c.ending.CompareAndSwap(false, true) {
		return
	}
	c.why.Store(&closing{code, reason})
	drop := code == CloseSlow
	n, p := c.out.close(drop)
	if p == isFirst {
		go c.write()
	}
	if n > 0 {
		c.dropped.Add(int64(n))
		c.hub.g.cfg.Observer.ClientDropped(n)
	}
	if drop {
		// A write is under way that may never end: the close frame waits for it, and
		// the connection ends without one after that.
		time.AfterFunc(slowGrace, func() { _ = c.conn.CloseNow() })
	}
}

// slowGrace is how long a client that is cut off has to take what is being written.
const slowGrace = 5 * time.Second

// leave ends all that the client has in the browser.
func (c *client) leave() {
	c.hub.remove(c)
	c.hub.hold(c, false)
	c.awaitFree(c.pagesBelow(""))
	c.mu.Lock()
	c.isOver = true
	sessions, link, root := c.byLink, c.link, c.browser.link
	left := c.waiting
	c.sessions, c.byLink, c.waiting = nil, nil, nil
	c.stopAgainLocked()
	if c.expiry != nil {
		c.expiry.Stop()
	}
	mine := c.view.Mine()
	c.mu.Unlock()
	for _, w := range left {
		w.fail(lostError(messages.SentNo)) // it counts no longer
	}
	for s := range sessions {
		link.Unrelay(s)
	}
	if sessions[root] != nil { // else it is gone with its link
		detachFromBrowser(link, root)
	}
	c.hub.dispose(c, mine...)
	c.hub.forget(c)
}

// shown is the client as callers of the node see it.
func (c *client) shown() messages.Client {
	c.mu.Lock()
	n := len(c.sessions)
	c.mu.Unlock()
	return messages.Client{
		ClientID: c.id, Name: c.opts.Name, ConnectedAt: messages.SecondsOf(c.at), Dialogs: string(c.opts.Dialogs), Sessions: n,
		Commands: c.commands.Load(), Events: c.events.Load(), Dropped: c.dropped.Load(), StalledS: time.Duration(c.stalled.Load()).Seconds(),
	}
}

// outcome is what a client is told of a command that the browser has not answered.
func outcome(r transport.Reply) *view.Error {
	if r.Err == nil {
		return nil
	}
	if rpc, ok := errors.AsType[*transport.RPCError](r.Err); ok {
		return &view.Error{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
	}
	if own, ok := errors.AsType[*messages.Error](r.Err); ok {
		if own.Code == messages.CodeUpstreamUnavailable {
			return lostError(own.Sent)
		}
		return &view.Error{Code: view.CodeServer, Message: own.Message, Data: data(own.Code, own.Sent)}
	}
	switch {
	case errors.Is(r.Err, transport.ErrLinkClosed):
		return lostError(messages.SentIf(r.IsSent))
	case errors.Is(r.Err, transport.ErrTooLarge):
		return &view.Error{Code: view.CodeServer, Message: "the message is larger than the gateway takes", Data: data(messages.CodeMessageTooLarge, messages.SentUnknown)}
	case errors.Is(r.Err, transport.ErrOverloaded):
		return &view.Error{Code: view.CodeServer, Message: "too much waits to be written to the browser", Data: data(messages.CodeLimitReached, messages.SentNo)}
	case errors.Is(r.Err, errSessionEnded):
		return view.SessionGone()
	case errors.Is(r.Err, errPageLeft):
		return pageLeft()
	}
	return &view.Error{Code: view.CodeServer, Message: "the gateway failed", Data: data(messages.CodeInternal, messages.SentUnknown)}
}

// errSessionEnded is the outcome of a command whose session ends before the reply: Chrome
// leaves it unanswered.
var errSessionEnded = errors.New("the session has ended")

func data(code messages.Code, sent messages.Sent) []byte {
	b := append([]byte(`{"code":"`), code...)
	switch sent {
	case messages.SentYes:
		b = append(b, `","sent":true}`...)
	case messages.SentNo:
		b = append(b, `","sent":false}`...)
	default:
		b = append(b, `"}`...)
	}
	return b
}
