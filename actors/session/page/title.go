package page

import (
	"time"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Chrome tells of a page's URL by itself, but not of the title that its document sets (C66):
// that is asked for. The browser process answers, so a page that hangs does not hold it up.

const infoBudget = time.Second

// titleLater is after what time a title is asked for again: scripts set it once they have
// loaded what they show. Each is from the time before.
var titleLater = [...]time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second}

const timerTitle effect.TimerName = "title"

// askInfo asks for the title, at once and again later. nav is the navigation that ends with
// the first answer.
func (m *Machine) askInfo(nav uint32) {
	if m.cfg.IsPage {
		m.titleAsked = 0
		m.sendInfo(nav)
	}
}

func (m *Machine) sendInfo(nav uint32) {
	m.do(effect.Command{Tag: effect.Tag{Kind: TagInfo, Seq: nav}, Method: "Target.getTargetInfo", Timeout: infoBudget})
	if m.titleAsked < len(titleLater) {
		m.setTimer(timerTitle, titleLater[m.titleAsked])
		m.titleAsked++
	}
}

func (m *Machine) infoReplied(r effect.Replied) {
	if info, err := decode.TargetInfo(r.Result); r.Err == nil && err == nil && info.ID == m.cfg.Target {
		m.do(effect.ToSupervisor{Msg: mail.PageInfoChanged{Gen: m.cfg.Gen, Info: info}})
	}
	if n := m.navigation(r.Tag.Seq); n != nil {
		m.endNavigation(n, &messages.NavigateResult{LoaderID: n.loader}, nil)
	}
}
