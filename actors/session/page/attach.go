package page

import (
	"slices"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// attach writes the whole batch and waits for nothing. The order is that of
// requirement A8, with the resume last (C33).
func (m *Machine) attach() {
	m.round++
	m.silence = m.now
	m.out = slices.Grow(m.out, len(attachBatch)+2)
	m.isReady, m.isAttachOver, m.isAnnounced = false, false, false
	m.isEnabled = false
	m.trial = trial{n: m.trial.n + 1}
	for _, c := range attachBatch {
		if c.isPageOnly && !m.cfg.IsPage {
			continue
		}
		if c.tag == TagTree {
			if m.round > 1 {
				m.bridge.AttachAnew()
			} else {
				m.bridge.Attach()
			}
			m.isRestoring = true
			m.do(effect.Restore{IsRevived: m.round > 1, Round: m.round})
			if m.round == 1 {
				m.beginRegiving()
			}
		}
		if c.method == effect.Resume {
			m.watchBlockers()
		}
		if c.method == effect.Resume && m.isHeld {
			budget := HoldBudget
			if m.cfg.IsHeldForClients {
				budget = ClientHoldBudget
			}
			m.setTimer(timerResume, budget)
			continue
		}
		m.do(effect.Command{Tag: effect.Tag{Kind: c.tag, Round: m.round}, Method: c.method, Params: c.params})
	}
	m.isStarting = m.round > 1
	if m.cfg.IsFresh && m.round == 1 {
		m.setTimer(timerClassify, FreshClassify)
	} else {
		m.setTimer(timerClassify, AttachClassify)
	}
}

// letRun lets a popup go that was held until the anchor has it too.
func (m *Machine) letRun() {
	if m.isHeld {
		m.isHeld = false
		m.dropTimer(timerResume)
		m.do(effect.Command{Tag: effect.Tag{Kind: effect.TagNone}, Method: effect.Resume})
	}
}

// tellCovered says that this session hears of the page's dialogs.
func (m *Machine) tellCovered() {
	if m.cfg.IsPage && m.isEnabled {
		covered := mail.PageCovered{Role: messages.RolePrimary, Gen: m.cfg.Gen, Page: m.cfg.Page, Session: m.cfg.Session}
		m.do(effect.ToDialog{Msg: covered})
		m.do(effect.ToSupervisor{Msg: covered})
	}
}

// tellNoneAsks has a new dialog actor end what it remembers of this session's dialogs, where
// the session has heard the end of each.
func (m *Machine) tellNoneAsks() {
	if m.cfg.IsPage && m.isEnabled && !m.isAsking {
		m.do(effect.ToDialog{Msg: mail.NoneAsks{Page: m.cfg.Page, Session: m.cfg.Session}})
	}
}

type attachStep struct {
	method     string
	params     []byte
	tag        effect.TagKind
	isPageOnly bool
}

// iframes only: workers would be held too, and no code here would resume them.
var autoAttachIframes = []byte(`{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"iframe"}]}`)

// noAutoAttach ends what was attached by itself.
var noAutoAttach = []byte(`{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}`)

var attachBatch = []attachStep{
	{method: "Inspector.enable"},
	{method: "Page.enable", tag: effect.TagEnabled},
	{method: "Runtime.enable"},
	{method: "Target.setAutoAttach", params: autoAttachIframes},
	// Pages are opened in the background; with this they paint and take input
	// as if they had the focus, and no user's window is raised.
	{method: "Emulation.setFocusEmulationEnabled", params: []byte(`{"enabled":true}`), isPageOnly: true},
	{method: "Page.getFrameTree", tag: TagTree},
	// Behind the tree, which the attach waits for: a page tells anew of all that has
	// happened to each of its frames. No navigation of ours comes before it.
	{method: "Page.setLifecycleEventsEnabled", params: []byte(`{"enabled":true}`), isPageOnly: true},
	{method: effect.Resume},
}

func (m *Machine) treeLoaded(result []byte) {
	frames, err := decode.FrameTree(&decode.Source{Identity: m.cfg.Identity}, result)
	if err != nil || len(frames) == 0 {
		return
	}
	m.isReady = true
	m.dropTimer(timerClassify)
	m.dropTimer(timerReload)
	m.do(effect.ToFrame{Msg: mail.FrameTreeLoaded{Gen: m.cfg.Gen, Session: m.cfg.Session, Page: m.cfg.Page, Frames: frames}})
	m.answered()
	m.announce(false)
	if m.cfg.IsPage && m.loader != frames[0].Loader {
		// Its own event came before this session listened.
		m.loader, m.url = frames[0].Loader, frames[0].URL
		m.documentCommitted()
		m.lookForBlocker(decode.IsPDF(result))
	}
	if r := m.reloading; r != nil && (r.stage == stageAway || r.loader == m.loader) {
		m.reloadCommitted() // it came before the events of this session did
	}
	if m.url == blank {
		m.leftHung() // so did the blank page
	}
}

// listTargets tells of all that is attached through this session.
func (m *Machine) listTargets() {
	m.do(effect.ToFrame{Msg: mail.TargetsAttached{Gen: m.cfg.Gen, Session: m.cfg.Session, Targets: slices.Clone(m.children)}})
}

// announce tells the supervisor, once a round, that no caller has to wait for this session
// any longer.
func (m *Machine) announce(blocked bool) {
	if m.isAnnounced {
		return
	}
	m.isAnnounced, m.isAttachOver = true, true
	// Behind its frames: the caller that waits for the attach reads a snapshot with a
	// frame tree in it (A5).
	m.do(effect.ToFrame{Msg: mail.SessionReady{Gen: m.cfg.Gen, Session: m.cfg.Session, Target: m.cfg.Target, IsBlocked: blocked}})
	m.beginAll()
}

// reloadFrames tells of the frames again and announces the session anew: the
// frame actor that was told before may have taken it along. A page that cannot
// tell of its frames at the moment holds up neither that nor a navigation.
func (m *Machine) reloadFrames() {
	m.isAnnounced = false
	m.setTimer(timerReload, AttachClassify)
	m.do(effect.Command{Tag: effect.Tag{Kind: TagTree, Round: m.round}, Method: "Page.getFrameTree"})
}
