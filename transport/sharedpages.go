package transport

import (
	"slices"

	"holdfast/internal/scan"
)

// sharedPages decides which link of a shared connection has which session of a page. The
// connection auto-attaches to pages and discovers them once, on its own session, since each
// party that auto-attaches is attached to every page of the browser (C64). A link that
// auto-attaches is offered every page instead, under a session id that it alone has. Its
// first command for a page takes the page; to detach declines it.
//
//	the page's session               a link takes the page          every link has declined it
//	held, or attached a moment ago   has the connection's session   is resumed if a link asked so; ends
//	another link's, or none          is attached anew, explicitly   nothing
//
// Right after the connection has attached, declined sessions are kept for links that are yet
// to come: all of them come back at about the same time. So a page costs one attach for a
// connection, however many links it has.
//
// It is a machine: no lock, clock or goroutine is in it, and what is to be done goes to
// [pagesHost] at once.
type sharedPages struct {
	host          pagesHost
	state         pagesState
	asked         []pagesRequest  // that wait for the connection's attach
	links         []*sharedClient // that are offered pages, in the order in which they asked
	finders       []*sharedClient // that discover targets
	pages         map[string]*sharedPage
	order         []*sharedPage // pages, the oldest first
	offers        map[string]*pageOffer
	isFirst       bool // no link comes back to the connection, since there was none before it
	keepsDeclined bool // declined sessions are kept
}

// pagesHost carries out what the machine decides, in order. Its methods do not block.
type pagesHost interface {
	// say gives a client a message.
	say(c *sharedClient, msg []byte)
	// ask sends a command, on the connection's own session where session is "". Reply is
	// not called where the connection ends first.
	ask(session, method string, params []byte, reply func(Envelope))
	// pass sends a client's command on, on a session; "" is the connection's own. The
	// reply names the session shown.
	pass(c *sharedClient, msg []byte, session, shown string)
	// give has the events of a session go to an offer's client.
	give(session string, o *pageOffer)
	// keep calls stopKeeping after a while.
	keep()
	// fresh returns a session id that no browser has given out.
	fresh() string
	// overload ends a client that sends too much before its page is attached.
	overload(c *sharedClient)
}

type pagesState uint8

const (
	pagesIdle  pagesState = iota
	pagesAsked            // the connection's attach is under way
	pagesShared
	pagesEnding  // no link is offered pages any more; auto-attach is being turned off
	pagesRefused // each link attaches for itself
)

// pagesRequest is a client's command that waits for the connection's attach.
type pagesRequest struct {
	client *sharedClient
	method string
	id     []byte
	msg    []byte
}

// sharedPage is a page of the browser to which the connection has been attached.
type sharedPage struct {
	target, opener string
	info           []byte // as the browser says it
	session        string // the connection's own; "" without one
	isHeld         bool   // by that session
	isResumeDue    bool   // a link that declined it asked so
	isResumed      bool   // since the session is there
	isLate         bool   // reported while auto-attach was being turned off
	holder         *pageOffer
	offers         []*pageOffer
	strangers      map[*sharedClient]bool // that declined it
	declined       []pagesRequest         // answered once the session has ended
}

const (
	methodAutoAttach = "Target.setAutoAttach"
	methodDiscover   = "Target.setDiscoverTargets"
	methodDetach     = "Target.detachFromTarget"
	methodResume     = "Runtime.runIfWaitingForDebugger"
	pagesFilter      = `"filter":[{"type":"page"}]`
)

func newSharedPages(host pagesHost) *sharedPages {
	return &sharedPages{
		host: host, pages: map[string]*sharedPage{}, offers: map[string]*pageOffer{},
	}
}

// takeCommand takes a command of a client on its browser session. False leaves it to the browser.
func (p *sharedPages) takeCommand(c *sharedClient, method string, id, msg []byte) bool {
	switch method {
	case methodAutoAttach, methodDiscover:
		switch {
		case p.state == pagesRefused:
			return false
		case method == methodAutoAttach && isOff(msg):
			p.stop(pagesRequest{client: c, id: slices.Clone(id)})
			return true
		case !isForPages(method, msg):
			return false
		}
		r := pagesRequest{c, method, slices.Clone(id), slices.Clone(msg)}
		if p.state == pagesShared {
			p.admit(r)
			return true
		}
		p.asked = append(p.asked, r)
		if p.state == pagesIdle {
			p.begin()
		}
		return true
	case methodDetach:
		e, err := Scan(msg)
		if err != nil {
			return false
		}
		o := p.offers[string(scan.Unquote(member(e.Params, "sessionId")))]
		if o == nil || o.client != c {
			return false
		}
		p.detach(o, id, msg)
		return true
	}
	return false
}

// isForPages says whether a command asks for what the connection does for all its links.
func isForPages(method string, msg []byte) bool {
	e, err := Scan(msg)
	if err != nil || string(member(e.Params, "filter")) != `[{"type":"page"}]` {
		return false
	}
	key := "autoAttach"
	if method == methodDiscover {
		key = "discover"
	}
	return string(member(e.Params, key)) == "true"
}

// begin attaches the connection to all pages, and discovers them.
func (p *sharedPages) begin() {
	p.state = pagesAsked
	p.host.ask("", methodDiscover, []byte(`{"discover":true,`+pagesFilter+`}`), func(Envelope) {})
	p.host.ask("", methodAutoAttach, []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,`+pagesFilter+`}`), p.attachedAll)
}

// attachedAll comes with the reply to the connection's own attach: every page that existed
// has been reported before it (C26).
func (p *sharedPages) attachedAll(e Envelope) {
	asked := p.asked
	p.asked = nil
	if e.Result == nil {
		p.state = pagesRefused
		for _, r := range asked {
			p.host.pass(r.client, r.msg, r.client.session, "")
		}
		return
	}
	p.state = pagesShared
	if !p.isFirst {
		p.keepsDeclined = true
		p.host.keep()
	}
	for _, r := range asked {
		p.admit(r)
	}
	p.settleAll()
}

// admit carries out a link's request. A link that asks again only has no page held any more,
// which declining does.
func (p *sharedPages) admit(r pagesRequest) {
	switch {
	case r.method == methodDiscover && slices.Contains(p.finders, r.client):
	case r.method == methodDiscover:
		p.finders = append(p.finders, r.client)
	case !slices.Contains(p.links, r.client):
		p.links = append(p.links, r.client)
		for _, page := range p.order {
			p.offer(r.client, page)
		}
	}
	p.answer(r)
}

// stopKeeping ends the sessions that are kept for links that have not come.
func (p *sharedPages) stopKeeping() {
	p.keepsDeclined = false
	p.settleAll()
}

func (p *sharedPages) settleAll() {
	for _, page := range slices.Clone(p.order) {
		p.settle(page)
	}
}

func (p *sharedPages) offer(c *sharedClient, page *sharedPage) {
	o := &pageOffer{client: c, page: page, shown: p.host.fresh()}
	page.offers = append(page.offers, o)
	p.offers[o.shown] = o
	b := appendString([]byte(`{"method":"`+attachedEvent+`","params":{"sessionId":`), o.shown)
	b = append(append(b, `,"targetInfo":`...), page.info...)
	b = append(b, `,"waitingForDebugger":`...)
	if page.isHeld {
		b = append(b, `true}}`...)
	} else {
		b = append(b, `false}}`...)
	}
	p.host.say(c, b)
}

// attached is the browser's report of a page to the connection's own session.
func (p *sharedPages) attached(session string, info []byte, isHeld bool) {
	target := string(scan.Unquote(member(info, "targetId")))
	page := p.pages[target]
	if target == "" || session == "" || !isPlain(session) || page != nil && page.session != "" || page == nil && len(p.pages) >= maxSharedSessions {
		p.end(session, isHeld, nil)
		return
	}
	if page == nil {
		page = &sharedPage{target: target, opener: string(scan.Unquote(member(info, "openerId"))), strangers: map[*sharedClient]bool{}}
		p.pages[target] = page
		p.order = append(p.order, page)
	}
	page.session, page.isHeld, page.info = session, isHeld, slices.Clone(info)
	page.isResumeDue, page.isResumed, page.isLate = false, false, p.state == pagesEnding
	if p.state != pagesShared {
		return
	}
	for _, c := range p.links {
		if !slices.ContainsFunc(page.offers, func(o *pageOffer) bool { return o.client == c }) {
			p.offer(c, page)
		}
	}
	p.settle(page)
}

// takeDetached is the browser's report of the end of a session, and says whether it was an
// offer's, or the connection's own of a page.
func (p *sharedPages) takeDetached(session string) bool {
	for _, page := range p.order {
		if page.session == session {
			p.sessionEnded(page)
			return true
		}
		for _, o := range page.offers {
			if o.session == session && o.state == offerTaken {
				p.drop(o, true)
				return true
			}
		}
	}
	return false
}

// sessionEnded has the links know that the connection has no session of a page any more.
func (p *sharedPages) sessionEnded(page *sharedPage) {
	page.session, page.isHeld = "", false
	if o := page.holder; o != nil {
		page.holder = nil
		p.drop(o, true)
	}
	p.answerDeclined(page)
}

// destroyed is the browser's report of the end of a target.
func (p *sharedPages) destroyed(target string, msg []byte) {
	page := p.pages[target]
	for _, c := range p.finders {
		if page == nil || !page.strangers[c] {
			p.host.say(c, msg)
		}
	}
	if page == nil {
		return
	}
	delete(p.pages, target)
	p.order = slices.DeleteFunc(p.order, func(other *sharedPage) bool { return other == page })
	for _, o := range slices.Clone(page.offers) {
		p.drop(o, true)
	}
	p.answerDeclined(page)
	if page.isLate && page.opener != "" {
		p.resumeLate(page.opener, "", func() {})
	}
}

// changed is the browser's report of what it says about a target.
func (p *sharedPages) changed(info, msg []byte) {
	page := p.pages[string(scan.Unquote(member(info, "targetId")))]
	if page == nil {
		return
	}
	page.info = slices.Clone(info)
	for _, c := range p.finders {
		if !page.strangers[c] {
			p.host.say(c, msg)
		}
	}
}

// left forgets a client that has ended. What it has not decided over counts as declined, and
// is resumed, since none else may be there to do it (C33).
func (p *sharedPages) left(c *sharedClient) {
	p.links = slices.DeleteFunc(p.links, func(other *sharedClient) bool { return other == c })
	p.asked = slices.DeleteFunc(p.asked, func(r pagesRequest) bool { return r.client == c })
	p.finders = slices.DeleteFunc(p.finders, func(other *sharedClient) bool { return other == c })
	for _, page := range slices.Clone(p.order) {
		delete(page.strangers, c)
		page.declined = slices.DeleteFunc(page.declined, func(r pagesRequest) bool { return r.client == c })
		for _, o := range slices.Clone(page.offers) {
			if o.client != c {
				continue
			}
			if o.state == offerOpen {
				page.isResumeDue = true
			}
			isHolder := page.holder == o
			p.drop(o, false)
			if isHolder { // the others end with the client's browser session
				session := page.session
				page.holder, page.session, page.isHeld = nil, "", false
				p.end(session, false, nil)
			}
		}
		p.settle(page)
	}
}

// settle does what is due with a page over which no link decides any more.
func (p *sharedPages) settle(page *sharedPage) {
	if page.session == "" || page.holder != nil || p.state != pagesShared {
		return
	}
	if slices.ContainsFunc(page.offers, func(o *pageOffer) bool { return o.state == offerOpen }) {
		return
	}
	wasHeld := page.isHeld
	if page.isResumeDue && !page.isResumed {
		page.isHeld, page.isResumed = false, true
		p.host.ask(page.session, methodResume, nil, func(Envelope) {})
	}
	if isAwaited := p.keepsDeclined || len(p.links) == 0; isAwaited && !wasHeld {
		return
	}
	session, declined := page.session, page.declined
	page.session, page.isHeld, page.declined = "", false, nil
	p.end(session, false, func() {
		for _, r := range declined {
			p.answer(r)
		}
	})
}

// end leaves a page that no link has.
func (p *sharedPages) end(session string, isHeld bool, ended func()) {
	if session == "" {
		return
	}
	if isHeld {
		p.host.ask(session, methodResume, nil, func(Envelope) {})
	}
	p.host.ask("", methodDetach, sessionParams(session), func(Envelope) {
		if ended != nil {
			ended()
		}
	})
}

func (p *sharedPages) answerDeclined(page *sharedPage) {
	declined := page.declined
	page.declined = nil
	for _, r := range declined {
		p.answer(r)
	}
}

func (p *sharedPages) answer(r pagesRequest) { p.host.say(r.client, reply(r.id, "")) }

// reply is an empty result.
func reply(id []byte, session string) []byte {
	b := append(append([]byte(idHead), id...), `,"result":{}`...)
	if session != "" {
		b = appendString(append(b, `,"sessionId":`...), session)
	}
	return append(b, '}')
}

func sessionParams(session string) []byte {
	return append(appendString([]byte(`{"sessionId":`), session), '}')
}
