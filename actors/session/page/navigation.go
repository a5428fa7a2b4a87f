package page

import (
	"encoding/json"
	"time"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/supervisor/admit"
	"holdfast/internal/redact"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// document is what is known of one of the main frame's: the current one, or one
// that has announced itself before it is known to be.
type document struct {
	loader string
	seen   decode.Moment
}

// maxDocuments bounds how many of the main frame's documents are remembered.
// Lifecycle events can come before the reply or the event that names their
// document, as they do when a page attaches and navigates at once.
const maxDocuments = 4

var momentOf = map[messages.WaitUntil]decode.Moment{
	"":                            decode.Loaded,
	messages.WaitLoad:             decode.Loaded,
	messages.WaitCommit:           decode.Committed,
	messages.WaitDOMContentLoaded: decode.ContentLoaded,
	messages.WaitNetworkIdle0:     decode.NetworkIdle,
	messages.WaitNetworkIdle2:     decode.NetworkAlmostIdle,
}

// navigation is one order to go somewhere.
type navigation struct {
	id          uint32
	req         messages.NavigateRequest
	reply       mail.Call
	until       decode.Moment
	isAwayFirst bool   // by a blank page first
	isMoved     bool   // the page was moved on meanwhile, which may have ended it (C58)
	again       int    // times begun anew for that
	hasBegun    bool   // Page.navigate has been sent
	isSent      bool   // and answered
	hasArrived  bool   // as far as asked; only the title is still being asked for
	loader      string // the document it waits for
	frame       messages.FrameID
}

func (m *Machine) navigate(now time.Time, o mail.Navigate) {
	if err := admit.Arrival(admit.Known{PageDialogs: m.dialogs, IsStranded: m.isStranded}).Error(); err != nil {
		m.do(effect.Answer{To: o.Reply, Err: err})
		return
	}
	m.nav++
	n := &navigation{id: m.nav, req: o.Request, reply: o.Reply, until: momentOf[o.Request.WaitUntil], isAwayFirst: m.storm.isRaging(now) && o.Request.URL != blank}
	n.isMoved = !m.movedAt.IsZero() && now.Sub(m.movedAt) < movedSpan
	m.navs = append(m.navs, n)
	m.do(effect.Arm{Timer: navTimer(n.id), After: o.Request.Timeout()})
	if m.isAttachOver {
		m.beginAll()
	}
}

// begin sends a navigation. During an attach it waits for the attach to end, well or not: a
// navigation that overtakes Page.enable shows no event of its own. And it waits for what is
// restored.
func (m *Machine) begin(n *navigation) {
	n.hasBegun = true
	url := n.req.URL
	if n.isAwayFirst {
		url = blank
	}
	m.do(effect.Command{
		Tag: effect.Tag{Kind: TagNavigate, Seq: n.id}, Method: "Page.navigate",
		Params: effect.Params(struct {
			URL string `json:"url"`
		}{url}),
	})
	m.setTimer(timerLoading, LoadingProbe)
}

// stillLoading asks a loading page for a sign of life, again and again: the caller that
// waits for it makes no call that could stall.
func (m *Machine) stillLoading(now time.Time) {
	if len(m.navs) > 0 {
		m.probe(now, false)
		m.setTimer(timerLoading, LoadingProbe)
	}
}

func (m *Machine) beginAll() {
	for _, n := range m.waiting() {
		switch {
		case n.hasBegun || m.isAway || m.awaitsRestore():
		case m.isHung && m.cfg.IsPage:
			m.leaveHung()
		default:
			m.begin(n)
		}
	}
}

// leaveHung sends a page that spins to a blank page first, which is one of another
// process. A document of its own site would never be committed, and no command would
// reach the page from then on (measured, internal/facts).
func (m *Machine) leaveHung() {
	m.isAway = true
	m.do(effect.Command{Tag: effect.Tag{Kind: TagAway, Round: m.round}, Method: "Page.navigate", Params: []byte(`{"url":"about:blank"}`)})
	m.setTimer(timerLoading, LoadingProbe)
}

// awayReplied ends the navigations of a page that does not even take a blank page.
func (m *Machine) awayReplied(r effect.Replied) {
	if !m.isAway || r.Err == nil || r.Tag.Round != m.round {
		return
	}
	err := admit.NotAnswering()
	if quirks.Classify(r.Err) == quirks.InactivePage {
		m.isHung, m.isStranded, m.health = true, true, ""
		m.publishHealth()
		err = admit.Stranded()
	}
	m.endNavigations(err)
}

// leftHung sends a page where it was meant to go that has left what it hung in.
func (m *Machine) leftHung() {
	if m.isAway {
		m.isAway = false
		m.beginAll()
	}
}

// document returns what is known of a loader's document, the oldest one being
// forgotten for a new one.
func (m *Machine) document(loader string) *document {
	for i := range m.documents {
		if m.documents[i].loader == loader {
			return &m.documents[i]
		}
	}
	if len(m.documents) == maxDocuments {
		m.documents = append(m.documents[:0], m.documents[1:]...)
	}
	m.documents = append(m.documents, document{loader: loader})
	return &m.documents[len(m.documents)-1]
}

func (m *Machine) navigateReplied(r effect.Replied) {
	n := m.navigation(r.Tag.Seq)
	if n == nil {
		return
	}
	if r.Err != nil {
		m.endNavigation(n, nil, r.Err)
		return
	}
	var res struct {
		FrameID   messages.FrameID `json:"frameId"`
		LoaderID  string           `json:"loaderId"`
		ErrorText string           `json:"errorText"`
		Download  bool             `json:"isDownload"`
	}
	if err := json.Unmarshal(r.Result, &res); err != nil {
		m.endNavigation(n, nil, messages.Errorf(messages.CodeInternal, "the browser's answer to Page.navigate cannot be read"))
		return
	}
	switch {
	case n.isMoved && n.again < maxAgain && res.ErrorText == "net::ERR_ABORTED":
		n.again++
		m.begin(n) // ended by us, before it came to anything
		return
	case n.isAwayFirst && res.ErrorText == "":
		return // the blank page's commit takes it further
	}
	n.isSent, n.loader, n.frame = true, res.LoaderID, res.FrameID
	switch {
	case res.Download:
		m.endNavigation(n, &messages.NavigateResult{Download: true}, nil)
	case res.ErrorText != "":
		m.endNavigation(n, nil, messages.Errorf(messages.CodeCDPError, "navigation failed: %s", res.ErrorText).
			With("error_text", res.ErrorText))
	case res.LoaderID == "":
		m.endNavigation(n, &messages.NavigateResult{}, nil) // within the document
	default:
		m.settle(n)
	}
}

// documentCommitted follows a page that moves on by itself before it has
// loaded: the agent wants to know when it is there, not where it stopped over.
func (m *Machine) documentCommitted() {
	m.document(m.loader).seen |= decode.Committed
	for _, n := range m.waiting() {
		if n.isAwayFirst && n.hasBegun && m.url == blank {
			n.isAwayFirst = false
			m.begin(n)
		}
		if n.isSent {
			n.loader = m.loader
			m.settle(n)
		}
	}
}

func (m *Machine) lifecycle(l decode.Lifecycle) {
	if l.Frame != messages.FrameID(m.cfg.Target) || !m.cfg.IsPage {
		return
	}
	m.document(l.Loader).seen |= decode.Moments[l.Name]
	asked := false
	for _, n := range m.waiting() {
		m.settle(n)
		asked = asked || n.hasArrived
	}
	if l.Name == "load" && !asked {
		m.askInfo(0)
	}
}

// settle ends n when the document it waits for has come far enough. The
// lifecycle event may have come before the reply to Page.navigate.
func (m *Machine) settle(n *navigation) {
	if n.isSent && !n.hasArrived && n.loader == m.loader && m.document(n.loader).seen&n.until != 0 {
		n.hasArrived = true
		m.askInfo(n.id)
	}
}

func (m *Machine) navigateTimedOut(id uint32) {
	for _, n := range m.waiting() {
		if n.id != id {
			continue
		}
		err := messages.Errorf(messages.CodeDeadline, "the page did not get as far as asked within %s; it continues to load", n.req.Timeout().Round(time.Millisecond))
		switch {
		case m.isStranded:
			err = admit.Stranded()
		case m.isHung:
			err = admit.NotAnswering()
		}
		m.endNavigation(n, nil, err)
	}
}

func (m *Machine) endNavigation(n *navigation, res *messages.NavigateResult, err error) {
	for i := range m.navs {
		if m.navs[i] == n {
			m.navs = append(m.navs[:i:i], m.navs[i+1:]...)
			break
		}
	}
	if len(m.navs) == 0 {
		m.isAway = false
	}
	m.do(effect.Disarm{Timer: navTimer(n.id)})
	if err != nil {
		m.do(effect.Answer{To: n.reply, Err: err})
		return
	}
	res.TargetID, res.FrameID, res.URL = m.cfg.Target, n.frame, redact.PageURL(m.url)
	m.do(effect.Answer{To: n.reply, Value: *res})
}

func (m *Machine) endNavigations(err *messages.Error) {
	for _, n := range m.waiting() {
		m.endNavigation(n, nil, err)
	}
}

// waiting is a copy: ending a navigation takes it out of the list.
func (m *Machine) waiting() []*navigation { return append([]*navigation(nil), m.navs...) }

func (m *Machine) navigation(id uint32) *navigation {
	for _, n := range m.navs {
		if n.id == id {
			return n
		}
	}
	return nil
}

// Abandon returns the answers to the navigations that still wait.
func (m *Machine) Abandon() []effect.Answer {
	var answers []effect.Answer
	for _, n := range m.waiting() {
		answers = append(answers, effect.Answer{To: n.reply, Err: effect.SessionEnded().WithSent(messages.SentIf(n.hasBegun))})
	}
	m.navs = nil
	return answers
}
