package page

import (
	"encoding/json"
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/supervisor/admit"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// The budgets of a diagnosis (requirement A10). A cause is named in under a
// second: a call that has waited for [StallAfter] makes its session ask the
// renderer and the browser process together, KeyAfter later the key is pressed,
// and VerdictAfter later the verdict is due; an attach is asked about after
// AttachClassify and gets VerdictAfter as well.
const (
	AttachClassify = 300 * time.Millisecond
	FreshClassify  = 5 * time.Second
	// StartingProbe is how often a page is looked at that shows no document yet, for
	// FreshClassify at the longest.
	StartingProbe = time.Second
	BlockedProbe  = 300 * time.Millisecond
	// LoadingProbe is how often a page is probed while a caller waits for its load, or
	// while it comes back from a crash. Loading is work: it gets longer than a call before
	// it is doubted.
	LoadingProbe = 2 * time.Second

	// KeyAfter is what the renderer gets before a key is pressed, which a page
	// could hear: a renderer that answers at all does so in a few milliseconds.
	KeyAfter = 150 * time.Millisecond
	// VerdictAfter is what the renderer gets once its silence is being looked
	// into. It is a hundred times what it needs; what a starved machine needs
	// is the browser process's to say, see verdict.
	VerdictAfter = 350 * time.Millisecond
	// OrphanAfter is what the renderer gets once the browser process has taken
	// the key for it, lest it had only just come free.
	OrphanAfter = 120 * time.Millisecond
	// maxUnheard is how many verdicts an attach waits for a browser that does not answer
	// either, before it stops waiting for the page.
	maxUnheard = 8
)

// keyUp is answered by the browser process while a dialog is open and hangs
// in a busy renderer (C24); it is answered too for a page that starts, and for one
// that is between two documents. Shift alone means nothing to a page.
var keyUp = []byte(`{"type":"keyUp","key":"Shift","code":"ShiftLeft","windowsVirtualKeyCode":16}`)

// trial is one look into a session's silence: what has been asked of the
// browser process, and what it said.
type trial struct {
	n           uint32
	isAsked     bool // the key has been pressed
	signs       int  // signs of life of the browser process
	isTaken     bool // it took the key: something keeps it from the page
	shows       shown
	isLastProbe bool // it is asked for the last time before the verdict
	unheard     int  // verdicts for which it had nothing to say
}

// shown is what the browser process says that a target shows. Only under a dialog
// it takes keys and shows a document: a page that starts has none yet, and one
// whose next document waits for a renderer that spins is between two.
type shown uint8

const (
	showsUnknown  shown = iota
	showsNothing        // no document has been committed
	showsDocument       // one has
	showsNeither        // one is being replaced, and that does not come to pass
)

// isSilent says that the renderer owes an answer: that of an attach, or that of
// a probe.
func (m *Machine) isSilent() bool { return !m.isCrashed && (!m.isReady || m.isProbing) }

// probe asks the renderer for a sign of life, and the browser process with it.
// One probe is out at a time; a call that began behind one that a dialog holds
// up has its own wait for it.
func (m *Machine) probe(now time.Time, report bool) {
	m.mustReport = m.mustReport || report
	if m.isStopped && len(m.dialogs) > 0 {
		// Most calls are answered while a page waits in the debugger. What is not by
		// now waits for the dialog.
		m.do(effect.Interrupt{Err: admit.BlockedByDialog(m.dialogs), NeedsRenderer: true, Before: now.Add(InterruptGrace - StallAfter)})
	}
	if m.isCrashed || !m.isReady || m.isProbing && len(m.dialogs) == 0 {
		return
	}
	if !m.isProbing {
		m.isProbing = true
		m.do(effect.Command{Tag: effect.Tag{Kind: TagProbe, Round: m.round}, Method: "Runtime.evaluate", Params: []byte(`{"expression":"0","silent":true}`)})
	}
	m.probedAt = now
	if len(m.dialogs) > 0 {
		m.setTimer(timerProbe, BlockedProbe)
		return
	}
	m.beginTrial()
}

// beginTrial begins a trial of a renderer that was asked just now, or that a dialog
// held up until now.
func (m *Machine) beginTrial() {
	m.silence = m.now
	m.trial = trial{n: m.trial.n + 1}
	m.askBrowser()
	m.setTimer(timerProbe, KeyAfter)
}

// askBrowser asks for something that the browser process answers by itself,
// whatever the page does (M8).
func (m *Machine) askBrowser() {
	m.do(effect.Command{Tag: effect.Tag{Kind: TagSign, Round: m.round, Seq: m.trial.n}, Method: "Target.getTargetInfo"})
}

// classify presses the key. The browser process is asked right behind it: under a dialog it
// answers both, in this order; otherwise the key is passed to the renderer, and its own
// answer is first. What a page shows is asked before: it may commit its first document as
// soon as the key has been taken.
func (m *Machine) classify() {
	if !m.isSilent() {
		return
	}
	if len(m.dialogs) > 0 {
		m.blocked()
		return
	}
	if m.isStarting && !m.isReady {
		// The renderer that takes a crashed one's place, and loads: its silence is work.
		m.isStarting = false
		m.setTimer(timerClassify, LoadingProbe-AttachClassify)
		return
	}
	if m.isProbing && !m.trial.isAsked && m.trial.signs == 0 {
		m.do(effect.Suspect{})
	}
	m.trial = trial{n: m.trial.n + 1, isAsked: true}
	if m.cfg.IsPage { // of a frame the sign says it
		m.do(effect.Command{Tag: effect.Tag{Kind: TagHistory, Round: m.round, Seq: m.trial.n}, Method: "Page.getNavigationHistory"})
	}
	m.do(effect.Command{Tag: effect.Tag{Kind: TagKey, Round: m.round, Seq: m.trial.n}, Method: "Input.dispatchKeyEvent", Params: keyUp})
	m.askBrowser()
	m.setTimer(timerVerdict, VerdictAfter)
}

// keyTaken is the answer to the key.
func (m *Machine) keyTaken(r effect.Replied) {
	if r.Tag.Round != m.round || r.Tag.Seq != m.trial.n || r.Err != nil || !m.isSilent() || m.isDiagnosed() {
		return
	}
	if m.trial.signs == 0 {
		m.trial.isTaken = true
		m.setTimer(timerVerdict, OrphanAfter)
		return
	}
	// The renderer's own: it lives, and is given its time again.
	m.trial.isLastProbe, m.silence = false, m.now
	m.setTimer(timerVerdict, VerdictAfter)
}

// signed is a sign of life of the browser process.
func (m *Machine) signed(r effect.Replied) {
	if r.Tag.Round != m.round || r.Tag.Seq != m.trial.n {
		return
	}
	m.trial.signs++
	if !m.cfg.IsPage && m.trial.shows == showsUnknown && r.Err == nil {
		m.trial.shows = showsNothing
		if info, err := decode.TargetInfo(r.Result); err == nil && info.URL != "" {
			m.trial.shows = showsDocument
		}
	}
	if m.trial.isLastProbe && m.isSilent() && len(m.dialogs) == 0 && !m.isDiagnosed() {
		m.dropTimer(timerVerdict)
		m.isHung, m.isStranded = true, m.trial.shows == showsNeither
		m.publishHealth()
		m.announce(true)
	}
}

// historyReplied says what a page shows.
func (m *Machine) historyReplied(r effect.Replied) {
	if r.Tag.Round != m.round || r.Tag.Seq != m.trial.n {
		return
	}
	switch {
	case quirks.Classify(r.Err) == quirks.InactivePage:
		m.trial.shows = showsNeither
	case r.Err == nil && hasDocument(r.Result):
		m.trial.shows = showsDocument
	case r.Err == nil:
		m.trial.shows, m.wasStarting = showsNothing, true
	}
}

// hasDocument reads a Page.getNavigationHistory. The entry of a page that has
// committed nothing has no address.
func hasDocument(result []byte) bool {
	var h struct {
		Current int `json:"currentIndex"`
		Entries []struct {
			URL string `json:"url"`
		} `json:"entries"`
	}
	return json.Unmarshal(result, &h) == nil && h.Current >= 0 && h.Current < len(h.Entries) && h.Entries[h.Current].URL != ""
}

// isDiagnosed says that the silence has its name already.
func (m *Machine) isDiagnosed() bool { return m.isHung || m.hasUnreportedDialog }

// verdict names the silence. A renderer is said to hang only when the browser
// process has answered twice meanwhile, once at the very end: a machine that is
// starved, or a link that is dead, silences both, and is not the page's fault.
// Whose fault it is then is for the keepalive to say.
func (m *Machine) verdict() {
	if !m.isSilent() || m.isDiagnosed() {
		return
	}
	switch {
	case len(m.dialogs) > 0:
		m.blocked()
		return
	case m.trial.isTaken && !m.isReady && (m.trial.shows == showsNothing || m.wasStarting) && m.now.Sub(m.silence) < FreshClassify:
		// It starts: its first document may have come just now. A dialog of that
		// document is told of, since the session was there before it.
		m.setTimer(timerClassify, StartingProbe)
		return
	case m.trial.isTaken && (m.trial.shows == showsDocument || m.isReady && m.trial.shows == showsNothing):
		m.hasUnreportedDialog = true
		m.publishHealth()
		m.announce(true)
		return
	case m.trial.isTaken && m.trial.shows == showsUnknown:
		m.unheardOf()
	case m.trial.signs > 0 && !m.trial.isLastProbe:
		m.trial.isLastProbe = true
	default:
		m.unheardOf()
	}
	m.askBrowser()
	m.setTimer(timerVerdict, VerdictAfter)
}

// unheardOf is for a browser process that owes an answer at the verdict.
func (m *Machine) unheardOf() {
	m.do(effect.Suspect{})
	if m.trial.unheard++; m.trial.unheard == maxUnheard {
		m.announce(true)
	}
}

// blocked is the verdict over a session of a page whose dialog waits for an
// answer: it holds the dialog, or shares its process with the frame that does.
func (m *Machine) blocked() {
	if !m.isReady {
		m.announce(true)
		return
	}
	// The probe stays out; its reply will come when the dialog is gone.
	m.do(effect.Interrupt{Err: admit.BlockedByDialog(m.dialogs), NeedsRenderer: true, Before: m.probedAt})
}

// answered ends the silence. An error is an answer too: the renderer behind the session is
// alive.
func (m *Machine) answered() {
	m.isProbing, m.isHung, m.hasUnreportedDialog, m.isStranded = false, false, false, false
	m.dropTimer(timerProbe)
	m.dropTimer(timerVerdict)
	if m.mustReport {
		m.mustReport, m.health = false, "" // said even if it is no news
	}
	m.publishHealth()
}

// repliedMeanwhile is for a renderer that has answered a call while a probe is out: it
// lived until now, and what it owes it owes from now on. A task of the page that has begun
// since, such as a timer, may keep the probe waiting.
func (m *Machine) repliedMeanwhile() {
	if !m.isReady || !m.isProbing || len(m.dialogs) > 0 {
		return
	}
	m.isHung, m.hasUnreportedDialog, m.isStranded = false, false, false
	m.publishHealth()
	m.dropTimer(timerVerdict)
	m.beginTrial()
}

// unasked is for a probe that the link did not take, or that was lost with it: there was no
// answer, and a dialog that the renderer was asked about may stand open.
func (m *Machine) unasked() {
	m.isProbing = false
	m.dropTimer(timerProbe)
	m.dropTimer(timerVerdict)
}

// asks is a renderer that stops in a function of ours: it runs script, so what it
// owes it owes for lack of time. One that asks again and again, each time answered at
// once, comes to nothing else in between.
func (m *Machine) asks() {
	m.isHung, m.hasUnreportedDialog, m.isStranded = false, false, false
	m.publishHealth()
	if !m.isSilent() || !m.isReady && !m.trial.isAsked {
		return
	}
	if !m.isReady {
		m.announce(true) // it has had its time, and may go on like this
	}
	m.dropTimer(timerVerdict)
	m.trial = trial{n: m.trial.n + 1}
	m.setTimer(timerProbe, AttachClassify)
}

func (m *Machine) becomeCrashed() {
	if m.isCrashed {
		return
	}
	m.isCrashed = true
	m.bridge.Crashed()
	m.isReady, m.isProbing, m.isPaused, m.isHung, m.hasUnreportedDialog, m.isStranded = false, false, false, false, false, false
	m.round++ // replies of the old renderer mean nothing
	m.isRestoring = false
	m.awaitNothing()
	m.dropTimer(timerClassify)
	m.dropTimer(timerVerdict)
	m.dropTimer(timerProbe)
	m.dropTimer(timerReload)
	err := messages.Errorf(messages.CodePageCrashed, "the page's renderer has crashed; recover with reload, or navigate")
	m.do(effect.Interrupt{Err: err})
	m.endNavigations(err)
	m.publishHealth()
	m.announce(true)
}

// revive attaches afresh to a page that was reloaded after a crash: commands
// queued before the reload have failed (chromium facts, section 3).
func (m *Machine) revive() {
	if !m.isCrashed {
		return
	}
	m.isCrashed = false
	m.attach()
	m.publishHealth()
}

func (m *Machine) publishHealth() {
	state := messages.PageOK
	switch {
	case m.isCrashed:
		state = messages.PageCrashed
	case m.hasUnreportedDialog:
		state = messages.PageDialogUnreachable
	case m.isHung:
		state = messages.PageHung
	case m.isPaused:
		state = messages.PagePaused
	}
	if state == m.health {
		return
	}
	m.health = state
	m.do(effect.ToSupervisor{Msg: mail.SessionHealth{
		Gen: m.cfg.Gen, Session: m.cfg.Session, Page: m.cfg.Page, IsPage: m.cfg.IsPage, State: state, Since: m.silence, IsStranded: m.isStranded,
	}})
}

func (m *Machine) stops(p bridge.Pause) {
	m.isPaused = m.bridge.TakeForeignPause(p)
	m.publishHealth()
}

// StallAfter is how long a call waits before its session is asked to find out
// why.
const StallAfter = 300 * time.Millisecond
