package task

import (
	"slices"
	"time"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A standby is the machine of a task that another node has: its second link alone, without a
// primary, and without a lease. Once this node has the task it is as one whose primary link was
// lost, with an anchor that knows the dialogs which are open.

// StandBy begins such a machine, behind Resume.
func (m *Machine) StandBy(now time.Time) []step.Effect {
	m.Now = now
	if m.anchorWanted(now); !m.Anchor.IsRunning {
		m.finish(messages.StateLost, messages.Errorf(messages.CodeUpstreamUnavailable, "the task has no second link"))
	}
	return m.Effects()
}

// follow takes what the task's node tells of it.
func (m *Machine) follow(n mail.StandbyNews) {
	if !m.isStandby {
		return
	}
	m.followPages(n.Memory)
	m.off = nil
	for _, t := range n.Off {
		smallmap.Put(&m.off, t, true)
	}
	for _, t := range m.Order {
		if !m.off[t] {
			m.ToAnchor(mail.CoverPage{Page: t}) // those it has it ignores
		}
	}
}

// followPages has the pages that the task's node says.
func (m *Machine) followPages(memory mail.TaskMemory) {
	was := m.Order
	m.Order = nil
	for _, p := range memory.Pages {
		info := mail.TargetInfo{ID: p.TargetID, Type: "page", URL: p.URL, Title: p.Title, Context: memory.Context}
		if p.OpenerID != nil {
			info.Opener = *p.OpenerID
		}
		if known := m.Pages.At(p.TargetID); known != nil {
			known.Info = info
		} else {
			m.Pages.Set(p.TargetID, &model.Page{Info: info, Health: messages.PageOK})
		}
		m.Order = append(m.Order, p.TargetID)
	}
	for _, t := range was {
		if !slices.Contains(m.Order, t) {
			m.Pages.Delete(t)
			m.ToAnchor(mail.LeavePage{Page: t})
			m.ToDialog(mail.PageGone{Page: t})
		}
	}
	m.Current = memory.Current
}

// leaveAsStandby leaves a page that the task's node frees.
func (m *Machine) leaveAsStandby(l mail.LeaveAsStandby) {
	if !m.isStandby {
		m.Refuse(l.Reply, model.Ended())
		return
	}
	smallmap.Put(&m.off, l.Page, true)
	m.withoutParties(l.Page, step.Answer{To: l.Reply})
}

// Promote has a standby take its task over: the anchor is alone from here on, the primary link is
// dialled, and dialogs are those that the last node had told of. It decides once it has the lease.
func (m *Machine) Promote(now time.Time, memory mail.TaskMemory) []step.Effect {
	m.Now, m.isStandby, m.off = now, false, nil
	m.Version = memory.Version + versionsAhead
	m.setContext(memory.Context)
	m.followPages(memory)
	m.process.Now = memory.Browser
	m.process.Lost(true, m.Order)
	m.Pending = memory.Open
	m.ToDialog(mail.InheritDialogs{Open: memory.Open, Recent: memory.Recent})
	m.ToAnchor(mail.PrimaryUp{IsUp: false})
	m.OutageBegins(now, movedHere())
	m.TellConnection()
	m.Publish()
	m.Do(step.StartLink{})
	m.Do(step.SetPatience{Patience: m.Spec.GiveUpAfter()})
	return m.Effects()
}
