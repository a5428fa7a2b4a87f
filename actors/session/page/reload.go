package page

import (
	"time"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/supervisor/admit"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// TerminateBudget is what a renderer that spins gets to obey.
const TerminateBudget = 500 * time.Millisecond

// reloading is a page's document that is being loaded anew.
type reloading struct {
	url     string // where the page is to be in the end
	loader  string // of the newest document that loads
	stage   reloadStage
	isAsked bool // the new document has been asked for a sign of life
	isBack  bool // the blank page has come, and what was restored is waited for
}

type reloadStage uint8

const (
	stageTerminate reloadStage = iota // what the renderer runs is being ended
	stageReload                       // the document loads
	stageAway                         // a blank page of another process is
	stageThere                        // the new document has come
)

const blank = "about:blank"

// reload loads the page's document anew. A dialog that cannot be reached goes with the old
// one (M4), and a crashed page lives again (M13).
//
// A renderer that spins is told to end what it runs, which works from a session that was
// there before the loop began. From a later one, or where that does not help, a reload
// would be accepted and never happen, and delay every later command. A page of another
// process can be loaded, and from there the way back is free (measured).
func (m *Machine) reload(o mail.ReloadPage) {
	m.reloading = &reloading{url: o.URL}
	switch {
	case !m.isHung:
		m.reloadNow()
	case m.isReady:
		m.do(effect.Command{Tag: effect.Tag{Kind: effect.TagNone}, Method: "Runtime.terminateExecution"})
		m.setTimer(timerStuck, TerminateBudget)
	default:
		m.goAway()
	}
}

func (m *Machine) reloadNow() {
	m.reloading.stage = stageReload
	m.dropTimer(timerStuck)
	m.do(effect.Command{Tag: effect.Tag{Kind: TagReload, Round: m.round}, Method: "Page.reload"})
}

func (m *Machine) goAway() {
	m.reloading.stage = stageAway
	m.sendTo(blank)
}

func (m *Machine) comeBack() {
	m.reloading.stage, m.reloading.isBack = stageReload, false
	m.sendTo(m.reloading.url)
}

func (m *Machine) reloadStarted(n decode.Navigating) {
	if m.reloading != nil {
		m.reloading.loader = n.Loader
	}
}

func (m *Machine) reloadReplied(r effect.Replied) {
	if m.reloading == nil || r.Err == nil || r.Tag.Round != m.round {
		return
	}
	if quirks.Classify(r.Err) == quirks.InactivePage {
		r.Err = admit.Stranded()
	}
	m.reloaded(r.Err)
}

// reloadStuck is for the renderer that did not obey.
func (m *Machine) reloadStuck() {
	if r := m.reloading; r != nil && r.stage == stageTerminate {
		m.goAway()
	}
}

func (m *Machine) sendTo(url string) {
	m.do(effect.Command{Tag: effect.Tag{Kind: TagReload, Round: m.round}, Method: "Page.navigate", Params: effect.Params(struct {
		URL string `json:"url"`
	}{url})})
}

// reloadCommitted notes a new document of the main frame.
func (m *Machine) reloadCommitted() {
	r := m.reloading
	switch {
	case r == nil:
	case r.stage == stageAway && m.url == blank && r.url != blank:
		if r.isBack = m.awaitsRestore(); !r.isBack {
			m.comeBack()
		}
	case r.stage == stageReload, r.stage == stageAway && m.url == blank:
		r.stage = stageThere
	}
}

// maybeReloaded takes a reload further at the end of a step: the renderer that
// obeyed is reloaded, and the new document is there once it has shown that it
// answers, or waits for an answer itself.
func (m *Machine) maybeReloaded(now time.Time) {
	r := m.reloading
	if r == nil {
		return
	}
	if r.stage == stageTerminate && !m.isHung {
		m.reloadNow()
	}
	if r.stage != stageThere {
		return
	}
	if m.isReady && !r.isAsked && len(m.dialogs) == 0 {
		r.isAsked = true
		m.probe(now, false)
	}
	if len(m.dialogs) > 0 || m.isReady && !m.isProbing {
		m.reloaded(nil)
	}
}

func (m *Machine) reloaded(err error) {
	m.reloading = nil
	m.dropTimer(timerStuck)
	m.do(effect.ToSupervisor{Msg: mail.PageReloaded{Gen: m.cfg.Gen, Session: m.cfg.Session, Page: m.cfg.Page, Err: err}})
}
