package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	board "holdfast/actors/supervisor/view"
	"holdfast/internal/gateway/view"
	"holdfast/internal/scan"
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
	users int           // the gateway's lock protects it
	stop  chan struct{} // closed when the last user has left

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
	leftOver []string            // of contexts: to be disposed of once there is a link
	clients  []*client
	holders  map[*client]bool                       // that have popups held
	unseen   map[messages.TargetID]map[*client]bool // which of them have not resumed a page yet
	slot     *client                                // that has the task exclusively
	named    int
	isEnded  bool
}

// known is one target of the browser.
type known struct {
	view.Target
	parentFrame messages.FrameID
	isSeen      bool // the clients have been told
	isStale     bool // the link that told of it is lost, and the next has not named it
}

func newHub(g *Gateway, id messages.TaskID, b *board.Board) *hub {
	return &hub{
		g: g, id: id, board: b, stop: make(chan struct{}), up: make(chan struct{}),
		known: map[messages.TargetID]*known{}, contexts: map[string]bool{},
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
		select {
		case <-changed:
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

// heard takes the events of the hub's session, on the link's reader.
func (h *hub) heard(msg, method []byte) {
	e, err := transport.Scan(msg)
	if err != nil {
		return
	}
	var later []func()
	h.mu.Lock()
	switch string(method) {
	case "Target.targetCreated", "Target.targetInfoChanged":
		later = h.noteLocked(memberOf(e.Params, "targetInfo"))
	case "Target.targetDestroyed":
		later = h.forgetLocked(messages.TargetID(scan.Unquote(memberOf(e.Params, "targetId"))))
	}
	h.mu.Unlock()
	runAll(later)
}

func runAll(later []func()) {
	for _, do := range later {
		do()
	}
}

// memberOf returns the raw value of one key of an object, nil if there is none.
func memberOf(object []byte, key string) []byte {
	m := scan.Members{JSON: object}
	for m.Next() {
		if string(m.Key) == key {
			return m.Value
		}
	}
	return nil
}

func (h *hub) noteLocked(info []byte) []func() {
	t, ok := view.ReadTarget(slices.Clone(info))
	if !ok {
		return nil
	}
	k := h.known[t.ID]
	if k == nil {
		if len(h.known) >= maxTargets {
			return nil
		}
		k = &known{}
		h.known[t.ID] = k
		h.order = append(h.order, t.ID)
	}
	isKnown := k.isStale && bytes.Equal(k.Info, t.Info)
	k.isStale = false
	if isKnown {
		return nil
	}
	k.Target = t
	k.parentFrame = messages.FrameID(scan.Unquote(memberOf(info, "parentFrameId")))
	if k.isSeen {
		return h.tellLocked(view.Seen{Target: t})
	}
	return h.showLocked(h.board.View())
}

func (h *hub) forgetLocked(id messages.TargetID) []func() {
	k := h.known[id]
	if k == nil {
		return nil
	}
	delete(h.known, id)
	delete(h.unseen, id)
	h.order = slices.DeleteFunc(h.order, func(t messages.TargetID) bool { return t == id })
	if !k.isSeen {
		return nil
	}
	return h.tellLocked(view.Lost{Target: id})
}

// refresh compares what clients see with the task's state.
func (h *hub) refresh() {
	h.mu.Lock()
	later := h.showLocked(h.board.View())
	h.mu.Unlock()
	runAll(later)
}

// showLocked tells the clients which targets are the task's now, and are no longer.
func (h *hub) showLocked(v *board.View) (later []func()) {
	if len(h.clients) == 0 && len(h.known) == 0 {
		return nil
	}
	o := h.ownershipOf(v)
	for _, id := range slices.Clone(h.order) {
		k := h.known[id]
		owned := o.has(k)
		switch {
		case owned && !k.isSeen:
			if k.Type == "page" {
				h.holdPageLocked(id)
			}
			k.isSeen = true
			later = append(later, h.tellLocked(view.Seen{Target: k.Target})...)
		case !owned && k.isSeen:
			k.isSeen = false
			later = append(later, h.tellLocked(view.Lost{Target: id})...)
		}
	}
	return later
}

func (h *hub) tellLocked(in any) (later []func()) {
	for _, c := range h.clients {
		later = append(later, c.step(in)...)
	}
	return later
}

// contextChanged tells the other clients of a browser context that one of them has made or
// disposed of.
func (h *hub) contextChanged(by *client, k view.ContextKnown) {
	h.mu.Lock()
	if delete(h.contexts, k.ID); !k.IsGone {
		h.contexts[k.ID] = true
	}
	var later []func()
	for _, c := range h.clients {
		if c != by {
			later = append(later, c.step(k)...)
		}
	}
	later = append(later, h.showLocked(h.board.View())...)
	h.mu.Unlock()
	runAll(later)
}

// add makes a place for a client that has a browser session already. What it sees is what
// there is at that moment.
func (h *hub) add(c *client) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.mayEnterLocked(c.opts.Mode); err != nil {
		return err
	}
	if h.link != c.link || !h.isUp {
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the connection to the browser was lost")
	}
	h.named++
	c.id = messages.ClientID("c-" + strconv.Itoa(h.named))
	if c.opts.Name == "" {
		c.opts.Name = "client-" + strconv.Itoa(h.named)
	}
	if c.opts.Mode == messages.ClientsExclusive {
		h.slot = c
	}
	v := h.board.View()
	c.view = view.New(c.configFor(v, h.standard))
	for id := range h.contexts {
		c.step(view.ContextKnown{ID: id})
	}
	for _, id := range h.order {
		if k := h.known[id]; k.isSeen {
			c.step(view.Seen{Target: k.Target}) // tells nothing yet: it neither discovers nor attaches
		}
	}
	h.clients = append(h.clients, c)
	return nil
}

// mayEnterLocked says whether a further client may come.
func (h *hub) mayEnterLocked(mode messages.ClientMode) error {
	switch {
	case h.isEnded:
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the task has ended")
	case h.slot != nil:
		return h.busy(h.slot)
	case mode == messages.ClientsExclusive && len(h.clients) > 0:
		return h.busy(h.clients[0])
	case len(h.clients) >= maxClients:
		h.g.cfg.Observer.ClientRejected(messages.ClientRejectedLimit)
		return messages.Errorf(messages.CodeLimitReached, "the task has %d clients already", maxClients)
	}
	return nil
}

func (h *hub) busy(holder *client) error {
	h.g.cfg.Observer.ClientRejected(messages.ClientRejectedBusy)
	return messages.Errorf(messages.CodeClientBusy, "client %s (%s) is on the task", holder.id, holder.opts.Name).
		With("slot", holder.shown()).With("retry_after_s", 1)
}

func (h *hub) remove(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = slices.DeleteFunc(h.clients, func(x *client) bool { return x == c })
	if h.slot == c {
		h.slot = nil
	}
}

func (h *hub) list() messages.ClientList {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := messages.ClientList{Mode: messages.ClientsShared, Busy: h.slot != nil, Clients: []messages.Client{}}
	if h.slot != nil {
		l.Mode, l.ActiveClientID = messages.ClientsExclusive, h.slot.id
	}
	for _, c := range h.clients {
		l.Clients = append(l.Clients, c.shown())
	}
	return l
}

func (h *hub) hasDisconnected(id messages.ClientID) bool {
	h.mu.Lock()
	i := slices.IndexFunc(h.clients, func(c *client) bool { return c.id == id })
	var c *client
	if i >= 0 {
		c = h.clients[i]
	}
	h.mu.Unlock()
	if c == nil {
		return false
	}
	h.g.cfg.Observer.ClientRejected(messages.ClientRejectedOperator)
	c.end(CloseOperator, "disconnected by an operator")
	return true
}

// endGone ends with the task: every client is told that nothing is there any more.
func (h *hub) endGone(reason string) {
	h.mu.Lock()
	h.isEnded = true
	clients := slices.Clone(h.clients)
	h.mu.Unlock()
	for _, c := range clients {
		c.endGone(reason)
	}
}

// endAll disconnects every client.
func (h *hub) endAll(code Code, reason string) {
	h.mu.Lock()
	clients := slices.Clone(h.clients)
	h.mu.Unlock()
	for _, c := range clients {
		c.end(code, reason)
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
