package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Node is what the gateway needs of the node. The methods are safe for concurrent use.
type Node interface {
	// Board returns where the state of a task that is supervised is read.
	Board(id messages.TaskID) (*view.Board, error)
	// GetOrStart starts a task, or returns the one that runs.
	GetOrStart(ctx context.Context, id messages.TaskID, spec messages.TaskSpec) (snap *messages.Snapshot, started bool, err error)
	// OpenPage opens a page of the task; the order's Reply is the node's own.
	OpenPage(ctx context.Context, id messages.TaskID, o mail.OpenPage) (messages.TargetID, error)
	// CDP runs a raw command on a page of the task.
	CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error)
	// HoldPopups has the task's popups held, from now on or no longer, until PopupSeen. It
	// never waits.
	HoldPopups(id messages.TaskID, isOn bool)
	// PopupSeen says that no client holds a page any more. It never waits.
	PopupSeen(id messages.TaskID, page messages.TargetID)
	// ClientsAttached says that the gateway has clients on the task, or none any more. It never
	// waits.
	ClientsAttached(id messages.TaskID, isOn bool)
	// ClientsLeft says that its clients have left a page. It never waits.
	ClientsLeft(id messages.TaskID, page messages.TargetID)
	// FilesGiven says that a client has given files to a file input: a node of the process of a page or
	// frame. It never waits.
	FilesGiven(id messages.TaskID, target messages.TargetID, node int64)
	// ClientContexts says which browser contexts of the task's clients there are. It never waits.
	ClientContexts(id messages.TaskID, contexts []string)
	// ClosePage closes a page of the task.
	ClosePage(ctx context.Context, id messages.TaskID, t messages.TargetID) error
	// Respond answers a dialog.
	Respond(ctx context.Context, id messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error)
}

// Config is what a gateway is made of.
type Config struct {
	Node Node
	// Log gets one line for each client that comes and goes; nil logs nothing.
	Log *slog.Logger
	// Observer counts; nil counts nothing.
	Observer Observer
}

// Observer counts what metrics show. The methods are called on any goroutine and must not
// wait.
type Observer interface {
	// ClientConnected and ClientGone count the clients that are connected.
	ClientConnected()
	ClientGone()
	// ClientRejected counts a client that was refused or cut off.
	ClientRejected(why messages.ClientRejection)
	// ClientStalled is how long a client kept what was written to it waiting.
	ClientStalled(d time.Duration)
	// ClientDropped counts what a client that was cut off had not been told.
	ClientDropped(n int)
	// ClientCommand, ClientReply and ClientEvent count one message each, of so many bytes.
	ClientCommand(bytes int)
	ClientReply(bytes int)
	ClientEvent(bytes int)
	// ClientEventDecoded counts an event for a client that was decoded.
	ClientEventDecoded()
}

type deaf struct{}

func (deaf) ClientConnected()                        {}
func (deaf) ClientGone()                             {}
func (deaf) ClientRejected(messages.ClientRejection) {}
func (deaf) ClientStalled(time.Duration)             {}
func (deaf) ClientDropped(int)                       {}
func (deaf) ClientCommand(int)                       {}
func (deaf) ClientReply(int)                         {}
func (deaf) ClientEvent(int)                         {}
func (deaf) ClientEventDecoded()                     {}

// Gateway serves the CDP endpoints of a node's tasks. It is safe for concurrent use.
type Gateway struct {
	cfg     Config
	pinging pinging
	queue   int // of a client, in bytes

	mu       sync.Mutex // protects what follows
	hubs     map[messages.TaskID]*hub
	isClosed bool
	ended    sync.WaitGroup // of hubs and clients
}

// New returns a gateway.
func New(cfg Config) *Gateway {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Observer == nil {
		cfg.Observer = deaf{}
	}
	return &Gateway{cfg: cfg, pinging: usualPinging, queue: maxQueue, hubs: map[messages.TaskID]*hub{}}
}

// Drain disconnects every client with the code 4004, takes no further one, and waits until
// they have gone or ctx ends.
func (g *Gateway) Drain(ctx context.Context) {
	g.mu.Lock()
	g.isClosed = true
	hubs := make([]*hub, 0, len(g.hubs))
	for _, h := range g.hubs {
		hubs = append(hubs, h)
	}
	g.mu.Unlock()
	for _, h := range hubs {
		h.endAll(CloseDraining, "the node is draining")
		g.maybeEnd(h)
	}
	gone := make(chan struct{})
	go func() {
		g.ended.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// hub returns the task's, with one more user, who must leave it.
func (g *Gateway) hub(id messages.TaskID, board *view.Board) (*hub, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isClosed {
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the node is draining")
	}
	h := g.hubs[id]
	if h == nil || h.board != board {
		h = newHub(g, id, board)
		g.hubs[id] = h
		g.cfg.Node.ClientsAttached(id, true)
		g.ended.Add(1)
		go func() {
			defer g.ended.Done()
			h.run()
		}()
	}
	h.users++
	return h, nil
}

// leave ends a use of a hub. The last one ends the hub, unless that has something to keep.
func (g *Gateway) leave(h *hub) {
	g.mu.Lock()
	h.users--
	g.mu.Unlock()
	g.maybeEnd(h)
}

// maybeEnd ends a hub that is of no use any more.
func (g *Gateway) maybeEnd(h *hub) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h.users > 0 || h.isStopped || !g.isClosed && h.hasContexts() {
		return
	}
	h.isStopped = true
	close(h.stop)
	if g.hubs[h.id] == h {
		delete(g.hubs, h.id)
		g.cfg.Node.ClientsAttached(h.id, false)
	}
}

// existing returns the hub of a task that has clients, nil of one that has none.
func (g *Gateway) existing(id messages.TaskID) *hub {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hubs[id]
}

// Clients lists the clients of a task.
func (g *Gateway) Clients(id messages.TaskID) messages.ClientList {
	h := g.existing(id)
	if h == nil {
		return messages.ClientList{Mode: messages.ClientsShared, Clients: []messages.Client{}}
	}
	return h.list()
}

// Disconnect ends a client's connection with the code 4001.
func (g *Gateway) Disconnect(id messages.TaskID, client messages.ClientID) error {
	if h := g.existing(id); h != nil && h.hasDisconnected(client) {
		return nil
	}
	return messages.Errorf(messages.CodeClientNotFound, "the task has no client %s", client)
}

// Move disconnects every client of a task with the code 4005 and the address of the node that has
// the task now. No further client is taken for it meanwhile. Move is called once requests for the
// task go there, and before the task ends here, which its clients would else be told.
func (g *Gateway) Move(id messages.TaskID, address string) {
	if h := g.existing(id); h != nil {
		h.move(address)
	}
}
