package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	board "holdfast/actors/supervisor/view"
	"holdfast/internal/gateway/view"
	"holdfast/messages"
	"holdfast/transport"
)

const (
	// maxClients bounds the clients of one task.
	maxClients = 128
	// maxTargets bounds what a hub remembers of a browser's targets.
	maxTargets = 8192
	// linkPatience is how long a client waits for the task's link.
	linkPatience = 10 * time.Second
	// attachBudget bounds an attach to the browser itself.
	attachBudget = 10 * time.Second
)

// hub is what the clients of one task have in common.
type hub struct {
	g     *Gateway
	id    messages.TaskID
	board *board.Board
	stop  chan struct{} // closed at its end

	// The gateway's lock, which is taken before the hub's, protects what follows.
	users     int
	isStopped bool

	inFlight atomic.Int64 // commands of all clients that wait for their replies

	mu       sync.Mutex // protects what follows
	link     *transport.Mux
	session  messages.SessionID // that discovers
	up       chan struct{}      // closed while the link stands
	isUp     bool               // the same
	browser  string             // the process at its end, as far as the address tells
	err      error              // why it cannot
	standard string             // the browser's default context
	known    map[messages.TargetID]*known
	order    []messages.TargetID // of known
	contexts map[string]bool     // that clients have made
	leftOver map[string]bool     // of contexts: to be disposed of once there is a link; true while that is done
	clients  []*client
	gone     []*client                              // whose connections have ended, and whose sessions wait to leave their pages
	holders  map[*client]bool                       // that have popups held
	unseen   map[messages.TargetID]map[*client]bool // which of them have not resumed a page yet
	slot     *client                                // that has the task exclusively
	named    int
	isEnded  bool
	isMoved  bool // to another node

	needsTabs bool                // a client looks at tabs
	tabsAsked int                 // questions under way
	tabsKnown chan struct{}       // closed once none is; nil where none is
	off       []messages.TargetID // pages that the clients keep off
}

// known is one target of the browser.
type known struct {
	view.Target
	parentFrame messages.FrameID
	tab         tab
	isSeen      bool // the clients have been told
	isStale     bool // the link that told of it is lost, and the next has not named it
}

func newHub(g *Gateway, id messages.TaskID, b *board.Board) *hub {
	return &hub{
		g: g, id: id, board: b, stop: make(chan struct{}), up: make(chan struct{}),
		known: map[messages.TargetID]*known{}, contexts: map[string]bool{}, leftOver: map[string]bool{},
		holders: map[*client]bool{}, unseen: map[messages.TargetID]map[*client]bool{},
	}
}

// run keeps the hub on the task's link and the clients' views on the task's state, until
// the last user leaves or the task ends.
func (h *hub) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-h.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	var lost <-chan struct{} // closed with the link that the hub is on
	for {
		v := h.board.View()
		changed := h.board.Changed(v.Snapshot.Version)
		if !v.Snapshot.Active {
			h.endGone("the task has ended")
			h.g.maybeEnd(h)
			<-h.stop
			return
		}
		if v.Browser != nil && v.Browser.Link() != h.linkNow() {
			if lost != nil {
				<-lost // the outcomes of its commands come before the news of its end
				h.lose()
			}
			h.join(ctx, v)
			lost = v.Browser.Link().Closed()
		}
		h.refresh()
		pages, pagesChanged := h.board.ClientPages()
		h.keepOff(pages.Off)
		select {
		case <-changed:
		case <-pagesChanged:
		case <-lost:
			h.lose()
			lost = nil
		case <-h.stop:
			h.depart()
			return
		}
	}
}

func (h *hub) linkNow() *transport.Mux {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.link
}

// join begins on a link: with a browser session that discovers all targets. The clients
// follow it there.
func (h *hub) join(ctx context.Context, v *board.View) {
	link := v.Browser.Link()
	session, standard, err := h.discover(ctx, link)
	if link.Err() != nil {
		err = link.Err() // what came of it does not matter: the next one is waited for
	}
	h.mu.Lock()
	isOther := h.browser != "" && link.Browser() != "" && h.browser != link.Browser()
	h.link, h.session, h.standard, h.err = link, session, standard, err
	if b := link.Browser(); b != "" {
		h.browser = b
	}
	if link.Err() == nil {
		h.isUp = true
		close(h.up)
	}
	isUp, clients := h.isUp, slices.Clone(h.clients)
	h.mu.Unlock()
	if isOther {
		h.forgetContexts()
	}
	h.disposeLeftOver()
	for _, c := range clients {
		switch {
		case !isUp:
		case isOther:
			c.endGone("the browser has been replaced by another one")
		case err != nil:
			c.endGone("the browser did not let the gateway attach again")
		default:
			c.restore(link)
		}
	}
}

// lose begins the time without a link.
func (h *hub) lose() {
	h.mu.Lock()
	if !h.isUp { // no client has followed there
		h.mu.Unlock()
		return
	}
	h.isUp = false
	h.up = make(chan struct{})
	clients := slices.Clone(h.clients)
	h.mu.Unlock()
	for _, c := range clients {
		c.lost()
	}
}

// discover opens the hub's own browser session. It does not attach to anything by itself
// (C64).
func (h *hub) discover(ctx context.Context, link *transport.Mux) (messages.SessionID, string, error) {
	ctx, cancel := context.WithTimeout(ctx, attachBudget)
	defer cancel()
	session, err := attachToBrowser(ctx, link)
	if err != nil {
		return "", "", err
	}
	h.mu.Lock()
	for _, k := range h.known {
		k.isStale = true
	}
	for _, page := range slices.Sorted(maps.Keys(h.unseen)) { // no link holds what the lost one held
		h.g.cfg.Node.PopupSeen(h.id, page)
	}
	clear(h.unseen)
	h.mu.Unlock()
	link.Relay(session, h.heard)
	if _, err := link.Do(ctx, session, "Target.setDiscoverTargets", []byte(`{"discover":true,"filter":[{}]}`)); err != nil {
		return "", "", upstream(err)
	}
	h.forgetStale()
	var contexts struct {
		Default string `json:"defaultBrowserContextId"`
	}
	raw, err := link.Do(ctx, session, "Target.getBrowserContexts", nil)
	if err != nil {
		return "", "", upstream(err)
	}
	_ = json.Unmarshal(raw, &contexts) // an older browser does not name it
	return session, contexts.Default, nil
}

// forgetStale forgets the targets that have gone while there was no link: the browser names
// every other one before it replies.
func (h *hub) forgetStale() {
	var later []func()
	h.mu.Lock()
	for _, id := range slices.Clone(h.order) {
		if h.known[id].isStale {
			later = append(later, h.forgetLocked(id)...)
		}
	}
	h.mu.Unlock()
	runAll(later)
}

// frameTargets says which frames are targets of their own.
func (h *hub) frameTargets() func(messages.FrameID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	targets := map[messages.FrameID]bool{}
	for id, k := range h.known {
		if k.Type == "iframe" {
			targets[messages.FrameID(id)] = true
		}
	}
	return func(f messages.FrameID) bool { return targets[f] }
}

// attachToBrowser opens a browser session of its own.
func attachToBrowser(ctx context.Context, link *transport.Mux) (messages.SessionID, error) {
	raw, err := link.Do(ctx, "", "Target.attachToBrowserTarget", nil)
	if err != nil {
		return "", upstream(err)
	}
	var made struct {
		SessionID messages.SessionID `json:"sessionId"`
	}
	if json.Unmarshal(raw, &made) != nil || made.SessionID == "" {
		return "", messages.Errorf(messages.CodeCDPError, "the browser opened no session for the gateway")
	}
	return made.SessionID, nil
}

// detachFromBrowser ends a browser session, and with it all that it has attached to.
func detachFromBrowser(link *transport.Mux, session messages.SessionID) {
	link.Unrelay(session)
	// Behind the client's own commands that wait to be written.
	link.Start(transport.Call{Method: "Target.detachFromTarget", Params: sessionParam(session), IsGuest: true})
}

func sessionParam(s messages.SessionID) []byte {
	p, _ := json.Marshal(map[string]messages.SessionID{"sessionId": s}) // always encodes
	return p
}

// upstream is what a client is told of a link that did not take it.
func upstream(err error) error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the browser did not let the gateway attach: %v", err)
}

// depart leaves the link.
func (h *hub) depart() {
	h.mu.Lock()
	link, session := h.link, h.session
	h.mu.Unlock()
	if link != nil && session != "" {
		detachFromBrowser(link, session)
	}
}

// await waits for the link and returns it with the hub's session there.
func (h *hub) await(ctx context.Context) (*transport.Mux, messages.SessionID, error) {
	ctx, cancel := context.WithTimeout(ctx, linkPatience)
	defer cancel()
	for {
		h.mu.Lock()
		up, isUp, link, session, err := h.up, h.isUp, h.link, h.session, h.err
		h.mu.Unlock()
		switch {
		case isUp && err != nil:
			return nil, "", err
		case isUp: // when the link was read: up may have been closed since
			return link, session, nil
		}
		select {
		case <-up:
		case <-h.board.Ended():
			return nil, "", messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended")
		case <-ctx.Done():
			return nil, "", messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo)
		}
	}
}
