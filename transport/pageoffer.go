package transport

import (
	"slices"

	"holdfast/transport/quirks"
)

// pageOffer is a page that a client has been offered, until the client is detached from it.
type pageOffer struct {
	client  *sharedClient
	page    *sharedPage
	shown   string // the session's id for the client
	state   offerState
	session string // the browser's, once it is known
	waiting [][]byte
	bytes   int // of waiting
}

type offerState uint8

const (
	offerOpen      offerState = iota
	offerAttaching            // taken; the browser has not said so yet
	offerTaken
	offerLeft // declined while attaching
)

// maxOfferWaits bounds the commands that wait for an attach, in bytes.
const maxOfferWaits = maxQueuedBytes

// use takes a client's command for a page that it has been offered, and says on which
// session the browser gets it; "" if it is not to be sent, or later.
func (p *sharedPages) use(o *pageOffer, id, msg []byte) string {
	isResume := isResume(msg)
	switch {
	case o.state == offerLeft:
		p.refuse(o, id)
		return ""
	case o.state == offerOpen && isResume:
		o.page.isResumeDue = true
		p.host.say(o.client, reply(id, o.shown))
		return ""
	case o.state == offerOpen:
		p.take(o)
	}
	if o.state == offerAttaching || len(o.waiting) > 0 || isResume && p.isAwaited(o) {
		if o.bytes += len(msg); o.bytes > maxOfferWaits {
			p.host.overload(o.client)
			return ""
		}
		o.waiting = append(o.waiting, slices.Clone(msg))
		return ""
	}
	if isResume && o.page.holder == o {
		o.page.isHeld = false
	}
	return o.session
}

// isAwaited says whether a held page is not resumed yet by one link: its opener is another
// link's page as well, which is to see the popup before its first script.
func (p *sharedPages) isAwaited(o *pageOffer) bool {
	opener := p.pages[o.page.opener]
	if !o.page.isHeld || opener == nil {
		return false
	}
	return slices.ContainsFunc(o.page.offers, func(other *pageOffer) bool {
		return other != o && (other.state == offerOpen || other.state == offerAttaching) &&
			slices.ContainsFunc(opener.offers, func(of *pageOffer) bool { return of.client == other.client && of.state == offerTaken })
	})
}

// take gives a link the page: by the connection's session if no other link has that.
func (p *sharedPages) take(o *pageOffer) {
	page := o.page
	delete(page.strangers, o.client)
	if page.session != "" && page.holder == nil {
		page.holder = o
		o.state, o.session = offerTaken, page.session
		p.host.give(o.session, o)
		p.answerDeclined(page)
		return
	}
	o.state = offerAttaching
	params := append(appendString([]byte(`{"targetId":`), page.target), `,"flatten":true}`...)
	p.host.ask(o.client.session, "Target.attachToTarget", params, func(e Envelope) {
		if e.Result == nil && (o.state == offerAttaching || o.state == offerLeft) {
			p.drop(o, true)
		}
	})
}

// takeAttached is the browser's report of a session on a client's own browser session. True
// means that it is an offer's, which the client knows already.
func (p *sharedPages) takeAttached(c *sharedClient, session, target string) bool {
	page := p.pages[target]
	if page == nil {
		return false
	}
	delete(page.strangers, c)
	for _, o := range page.offers {
		if o.client != c || o.state != offerAttaching && o.state != offerLeft {
			continue
		}
		o.session = session
		if o.state == offerLeft {
			p.host.ask(c.session, methodDetach, sessionParams(session), func(Envelope) {})
			p.drop(o, false)
			return true
		}
		o.state = offerTaken
		p.host.give(session, o)
		p.flush(o)
		p.resumeAwaited(page)
		return true
	}
	return false
}

// flush sends what waits for an attach.
func (p *sharedPages) flush(o *pageOffer) {
	for o.state == offerTaken && len(o.waiting) > 0 {
		msg := o.waiting[0]
		isResume := isResume(msg)
		if isResume && p.isAwaited(o) {
			return
		}
		o.waiting, o.bytes = o.waiting[1:], o.bytes-len(msg)
		if isResume && o.page.holder == o {
			o.page.isHeld = false
		}
		p.host.pass(o.client, msg, o.session, o.shown)
	}
}

// resumeAwaited has the links go on that waited for another one to see the page.
func (p *sharedPages) resumeAwaited(page *sharedPage) {
	for _, o := range slices.Clone(page.offers) {
		p.flush(o)
	}
}

// detach is a client's wish to leave a page.
func (p *sharedPages) detach(o *pageOffer, id, msg []byte) {
	r := pagesRequest{client: o.client, id: slices.Clone(id)}
	page := o.page
	switch o.state {
	case offerOpen:
		page.strangers[o.client] = true
		p.drop(o, true)
		if page.session != "" && page.holder == nil && p.pages[page.target] == page {
			page.declined = append(page.declined, r)
			p.settle(page)
			return
		}
		p.answer(r)
	case offerAttaching:
		o.state = offerLeft
		p.refuseWaiting(o)
		p.sayDetached(o)
		p.answer(r)
		p.resumeAwaited(page)
	case offerLeft:
		p.host.say(o.client, append(append(append([]byte(idHead), id...), `,"error":`+noSuchSession...), '}'))
	default:
		via := o.client.session
		if page.holder == o {
			via = ""
		}
		b := append([]byte(idHead), id...)
		b = append(append(b, `,"method":"`+methodDetach+`","params":`...), sessionParams(o.session)...)
		p.host.pass(o.client, append(b, '}'), via, "")
	}
}

const noSuchSession = `{"code":-32602,"message":"No session with given id"}`

// drop forgets an offer. The client is told that it is detached where it does not know.
func (p *sharedPages) drop(o *pageOffer, isTold bool) {
	page := o.page
	if p.offers[o.shown] != o {
		return
	}
	delete(p.offers, o.shown)
	page.offers = slices.DeleteFunc(page.offers, func(other *pageOffer) bool { return other == o })
	if page.holder == o {
		page.holder = nil
	}
	if isTold && o.state != offerLeft {
		p.refuseWaiting(o)
		p.sayDetached(o)
	}
	p.resumeAwaited(page)
}

func (p *sharedPages) sayDetached(o *pageOffer) {
	b := appendString([]byte(`{"method":"`+detachedEvent+`","params":{"sessionId":`), o.shown)
	b = appendString(append(b, `,"targetId":`...), o.page.target)
	p.host.say(o.client, append(b, `}}`...))
}

// refuseWaiting answers what waited for an attach that does not come.
func (p *sharedPages) refuseWaiting(o *pageOffer) {
	waiting := o.waiting
	o.waiting, o.bytes = nil, 0
	for _, msg := range waiting {
		_, digits := leadingID(msg)
		p.refuse(o, msg[len(idHead):len(idHead)+digits])
	}
}

// refuse answers as Chrome does where a session has ended (C56).
func (p *sharedPages) refuse(o *pageOffer, id []byte) {
	b := append(append([]byte(idHead), id...), `,"error":`+quirks.SessionGoneReply+`,"sessionId":`...)
	p.host.say(o.client, append(appendString(b, o.shown), '}'))
}
