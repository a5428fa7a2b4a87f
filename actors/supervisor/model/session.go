package model

import (
	"time"

	"holdfast/actors/session/page"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Session is what is known of one attached session.
type Session struct {
	Cfg          page.Config
	Via          messages.SessionID
	Info         mail.TargetInfo
	Seq          uint64
	IsReady      bool
	HearsDialogs bool // hears of its page's dialogs
	// IsSeenByClients says that no client of the gateway holds the page any more.
	IsSeenByClients bool
	HasAnswered     bool // its renderer has answered since it was doubted
	IsTelling       bool // it has answered, so that what opens on its page from then on is told
	IsRetelling     bool // of its frames, to a new frame actor
	Health          messages.PageState
	Since           time.Time // when the silence began that health names

	IsStranded bool      // it hangs between two documents
	Crashed    time.Time // when that was heard of last

	Label       string // of its requests
	IsBridged   bool   // its documents have the bridge
	IsUnbridged bool   // the browser does not give it one
	HasSlipped  bool   // a document of its that has the bridge opened a native dialog
	IsBoxKnown  bool   // whether its sandbox keeps it from opening dialogs is known
	IsShut      bool
	Stood       time.Time // when the bridge was told to stand last
}

// SessionConfig is what the actor of a session is born with.
func (m *Task) SessionConfig(s messages.SessionID) page.Config {
	if e := m.Sessions.At(s); e != nil {
		return e.Cfg
	}
	return page.Config{}
}

// SessionOf is the session of a page or a frame of another process; "" is none.
func (m *Task) SessionOf(t messages.TargetID) messages.SessionID {
	for _, s := range m.SessionOrder() {
		if m.Sessions.At(s).Cfg.Target == t {
			return s
		}
	}
	return ""
}
