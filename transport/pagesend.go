package transport

import "holdfast/internal/scan"

// isOff says whether a command turns auto-attach off.
func isOff(msg []byte) bool {
	e, err := Scan(msg)
	return err == nil && string(member(e.Params, "autoAttach")) == "false"
}

// stop takes the pages from a link. With the last link the connection attaches to pages no
// longer: auto-attach holds popups for as long as it is on, and one that is held when the
// connection ends stays frozen, and its opener with it (C33).
func (p *sharedPages) stop(r pagesRequest) {
	p.left(r.client)
	if p.state != pagesShared || len(p.links) > 0 {
		p.answer(r)
		return
	}
	p.state = pagesEnding
	p.host.ask("", methodAutoAttach, []byte(`{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}`), func(Envelope) { p.stopped(r) })
}

// stopped comes with the reply. The sessions of pages that were reported before it have ended.
func (p *sharedPages) stopped(r pagesRequest) {
	p.state, p.isFirst = pagesIdle, true
	waits := 1
	resumed := func() {
		if waits--; waits == 0 {
			p.answer(r)
		}
	}
	for _, page := range p.order {
		if page.isLate {
			page.isLate = false
			waits++
			p.resumeLate(page.target, page.opener, resumed)
		}
	}
	resumed()
	if len(p.asked) > 0 {
		p.begin()
	}
}

// resumeLate attaches to a page for as long as it takes to resume it. A popup that has ended
// while it was held has left its opener frozen (C33), which is resumed in its place.
func (p *sharedPages) resumeLate(target, opener string, resumed func()) {
	params := append(appendString([]byte(`{"targetId":`), target), `,"flatten":true}`...)
	p.host.ask("", "Target.attachToTarget", params, func(e Envelope) {
		session := string(scan.Unquote(member(e.Result, "sessionId")))
		switch {
		case isPlain(session):
			p.host.ask(session, methodResume, nil, func(Envelope) {})
			if p.state == pagesIdle { // else a link may have been offered the session
				p.end(session, false, resumed)
				return
			}
		case opener != "":
			p.resumeLate(opener, "", resumed)
			return
		}
		resumed()
	})
}
