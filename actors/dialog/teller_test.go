package dialog_test

import (
	"slices"
	"time"

	"holdfast/actors/dialog"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// teller steps a machine by what the links of one page tell, and keeps count of
// what is announced.
type teller struct {
	m              *dialog.Machine
	now            time.Time
	memory         mail.DialogMemory
	opened, closed []messages.DialogID
	by             []messages.ClosedBy
}

func newTeller() *teller {
	s := &teller{now: time.Unix(1000, 0)}
	s.restart()
	return s
}

// restart has another actor go on from memory.
func (s *teller) restart() {
	s.m = dialog.NewMachine(messages.TaskSpec{DialogPolicy: messages.PolicyAutoAccept}.WithDefaults(), s.memory)
	s.step(dialog.Start{})
}

func (s *teller) step(in any) {
	for _, e := range slices.Clone(s.m.Step(s.now, in)) {
		if e, ok := e.(dialog.ToSupervisor); ok {
			if c, ok := e.Msg.(mail.DialogsChanged); ok {
				s.memory = c.Memory
				if c.Opened != nil {
					s.opened = append(s.opened, c.Opened.ID)
				}
				if c.Closed != nil {
					s.closed, s.by = append(s.closed, c.Closed.ID), append(s.by, c.Closed.ClosedBy)
				}
			}
		}
	}
}

func (s *teller) session(r messages.Role) messages.SessionID {
	return []messages.SessionID{"P", "A"}[r]
}

func (s *teller) watch(r messages.Role) {
	s.step(mail.PageWatched{Role: r, Gen: 1, Page: "T", Session: s.session(r)})
}

func (s *teller) cover(r messages.Role) {
	s.step(mail.PageCovered{Role: r, Gen: 1, Page: "T", Session: s.session(r)})
}

func (s *teller) asks(r messages.Role, text string) {
	s.step(mail.DialogOpened{Role: r, Gen: 1, Session: s.session(r), Page: "T", Frame: "F", Type: "alert", Message: text})
}

func (s *teller) over(r messages.Role) {
	s.step(mail.DialogClosed{Role: r, Gen: 1, Session: s.session(r), Page: "T", Frame: "F", IsAccepted: true})
}
