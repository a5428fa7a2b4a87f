package session

import (
	"time"

	"holdfast/messages/mail"
)

// A doomed dialog belongs to a document that is being replaced (C58). These are the
// commands that find one out and that end it. The actor of the dialogs decides.

// nowhere is an address that closes a doomed dialog when the page is sent to it, and
// leads nowhere itself: Chrome refuses its scheme without asking any process (external
// protocols, kDeniedSchemes). So the document that was loading comes, and no request
// is made a second time.
const nowhere = "hcp:holdfast"

// probeCommand is refused as an answer would be on a page without an active document.
// On any other it does nothing: no history has such an entry.
func probeCommand(o mail.ProbeDialog) Command {
	return Command{
		Session: o.Session, Tag: Tag{Kind: TagDoomed, ID: o.Dialog, Page: o.Page, Session: o.Session},
		Method: "Page.navigateToHistoryEntry", Params: []byte(`{"entryId":-1}`), Timeout: AnswerBudget, Direct: true,
	}
}

func probedFact(r Replied) mail.DialogProbed {
	return mail.DialogProbed{Dialog: r.Tag.ID, Session: r.Tag.Session, Page: r.Tag.Page, Err: dialogError(r.Err)}
}

func moveCommand(o mail.MovePage) Command {
	return Command{
		Session: o.Session, Tag: Tag{Kind: TagMove, Page: o.Page, Session: o.Session},
		Method: "Page.navigate", Params: []byte(`{"url":"` + nowhere + `"}`), Timeout: AnswerBudget, Direct: true,
	}
}

// movedSpan is how long after a page was moved on a navigation may be ended by that, or
// by the document that comes.
const movedSpan = 2 * time.Second

// maxAgain bounds how often such a navigation is begun anew.
const maxAgain = 10

// movedOn notes which navigations may be ended by it.
func (m *Machine) movedOn(now time.Time) {
	m.movedAt = now
	for _, n := range m.navs {
		n.moved = n.moved || !n.sent
	}
}

func movedFact(r Replied) mail.PageMoved {
	return mail.PageMoved{Session: r.Tag.Session, Page: r.Tag.Page, Err: dialogError(r.Err)}
}
