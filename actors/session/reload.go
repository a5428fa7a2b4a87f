package session

import (
	"time"

	"holdfast/messages"
)

// ReloadStuck is what a reload gets to bring a new document before the page is
// sent away from its process.
const ReloadStuck = 1500 * time.Millisecond

// reloading is a page's document on its way to being loaded anew.
type reloading struct {
	url    string // where the page is to be in the end
	round  uint32 // of the attach in which it was asked for
	loader string // of the newest document on its way
	away   bool   // by way of a blank page, in another process
	there  bool   // the new document has come
	asked  bool   // and has been asked for a sign of life
}

const blank = "about:blank"

// reload loads the page's document anew. A dialog that nobody can reach goes
// with the old one (M4), and a crashed page lives again (M13).
//
// A renderer that spins is told to end what it runs, which a session can that
// was there before the loop began. One that came later cannot: there a reload
// is accepted and never comes to pass, but a page of another process does, and
// from there the way back is free (section 3, measured).
func (m *Machine) reload(o messages.ReloadPage) {
	m.reloading = &reloading{url: o.URL, round: m.round}
	if m.hung {
		m.do(Command{Tag: Tag{Kind: TagNone}, Method: "Runtime.terminateExecution"})
	}
	m.do(Command{Tag: Tag{Kind: TagReload, Round: m.round}, Method: "Page.reload"})
	m.do(Arm{timerStuck, ReloadStuck})
}

func (m *Machine) reloadStarted(n navigating) {
	if m.reloading != nil {
		m.reloading.loader = n.Loader
	}
}

func (m *Machine) reloadReplied(r Replied) {
	if m.reloading != nil && r.Err != nil && r.Tag.Round == m.round {
		m.reloaded(r.Err)
	}
}

// reloadStuck is for the renderer that still has not come to it.
func (m *Machine) reloadStuck() {
	if r := m.reloading; r != nil && !r.there && m.hung {
		r.away = true
		m.sendTo(blank)
	}
}

func (m *Machine) sendTo(url string) {
	m.do(Command{Tag: Tag{Kind: TagReload, Round: m.round}, Method: "Page.navigate", Params: mustJSON(struct {
		URL string `json:"url"`
	}{url})})
}

// reloadCommitted notes a new document of the main frame.
func (m *Machine) reloadCommitted() {
	r := m.reloading
	switch {
	case r == nil || r.there || r.away && m.url != blank:
	case r.away && r.url != blank:
		r.away = false
		m.sendTo(r.url)
	default:
		r.there = true
	}
}

// maybeReloaded ends a reload whose document is there and has shown that it
// answers, or waits for an answer itself.
func (m *Machine) maybeReloaded(now time.Time) {
	r := m.reloading
	if r == nil || !r.there {
		return
	}
	if m.ready && !r.asked && len(m.dialogs) == 0 {
		r.asked = true
		m.probe(now, false)
	}
	if len(m.dialogs) > 0 || m.ready && !m.probing {
		m.reloaded(nil)
	}
}

func (m *Machine) reloaded(err error) {
	m.reloading = nil
	m.do(Disarm{timerStuck})
	m.do(ToSupervisor{messages.PageReloaded{Gen: m.cfg.Gen, Session: m.cfg.Session, Page: m.cfg.Page, Err: err}})
}
