package page

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A frame of another process is held until its session resumes it. A client that sends
// Target.setAutoAttach on the page meanwhile, this one or any other, takes that session
// away, and the frame stays held, and with it the load of its page, until the client that
// held it ends its own auto-attach (C33). So that is what this code does.

// tornGrace is how long the end of a held frame's session gets to be explained: its
// element was removed, or its document replaced.
const tornGrace = 200 * time.Millisecond

const timerTorn effect.TimerName = "torn"

// heldFrame is a frame that was held when it was reported, and has not come to its
// new process as far as is known.
type heldFrame struct {
	session messages.SessionID
	isTorn  bool
}

func (m *Machine) frameHeld(a mail.TargetAttached) {
	if a.IsWaiting {
		if m.heldFrames == nil {
			m.heldFrames = map[messages.FrameID]heldFrame{}
		}
		m.heldFrames[messages.FrameID(a.Info.ID)] = heldFrame{session: a.Session}
	}
}

// frameMoved is a frame that has come to its process, stayed in this one, or is gone.
func (m *Machine) frameMoved(f messages.FrameID) {
	if f == messages.FrameID(m.cfg.Target) {
		clear(m.heldFrames)
	}
	delete(m.heldFrames, f)
}

func (m *Machine) frameTorn(s messages.SessionID) {
	for f, h := range m.heldFrames {
		if h.session == s {
			h.isTorn = true
			m.heldFrames[f] = h
			m.setTimer(timerTorn, tornGrace)
		}
	}
}

func (m *Machine) freeTorn() {
	for _, h := range m.heldFrames {
		if h.isTorn {
			clear(m.heldFrames)
			m.do(effect.Command{Tag: effect.Tag{Kind: effect.TagNone}, Method: "Target.setAutoAttach", Params: noAutoAttach})
			m.do(effect.Command{Tag: effect.Tag{Kind: effect.TagNone}, Method: "Target.setAutoAttach", Params: autoAttachIframes})
			return
		}
	}
}
