package effect

import (
	"errors"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// What is said to Chrome about a dialog on a session of its page, by either link.

// AnswerBudget is what Chrome gets to take an answer to a dialog.
const AnswerBudget = 5 * time.Second

// AnswerDialog is the answer to a dialog on the wire.
func AnswerDialog(o mail.HandleDialog) Command {
	var params []byte
	switch {
	case o.Text != nil:
		params = Params(struct {
			Accept bool   `json:"accept"`
			Text   string `json:"promptText"`
		}{o.MustAccept, *o.Text})
	case o.MustAccept:
		params = []byte(`{"accept":true}`)
	default:
		params = []byte(`{"accept":false}`)
	}
	return Command{
		Tag: Tag{Kind: TagDialog, ID: o.Dialog}, Method: "Page.handleJavaScriptDialog",
		Params: params, Timeout: AnswerBudget, IsDirect: true,
	}
}

// Nowhere is an address that closes a doomed dialog when the page is sent to it, and
// leads nowhere itself: Chrome refuses its scheme without asking any process (external
// protocols, kDeniedSchemes). So the document that was loading comes, and no request
// is made a second time.
const Nowhere = "hcp:holdfast"

// ProbeDialog is refused as an answer would be on a page without an active document.
// On any other it does nothing: no history has such an entry.
func ProbeDialog(o mail.ProbeDialog) Command {
	return Command{
		Session: o.Session, Tag: Tag{Kind: TagDoomed, ID: o.Dialog, Page: o.Page, Session: o.Session},
		Method: "Page.navigateToHistoryEntry", Params: []byte(`{"entryId":-1}`), Timeout: AnswerBudget, IsDirect: true,
	}
}

// DialogProbed is the fact that the reply to a ProbeDialog means.
func DialogProbed(r Replied) mail.DialogProbed {
	return mail.DialogProbed{Dialog: r.Tag.ID, Session: r.Tag.Session, Page: r.Tag.Page, Err: DialogError(r.Err)}
}

// MovePage sends a page away from a doomed dialog (C58).
func MovePage(o mail.MovePage) Command {
	return Command{
		Session: o.Session, Tag: Tag{Kind: TagMove, Page: o.Page, Session: o.Session},
		Method: "Page.navigate", Params: []byte(`{"url":"` + Nowhere + `"}`), Timeout: AnswerBudget, IsDirect: true,
	}
}

// PageMoved is the fact that the reply to a MovePage means.
func PageMoved(r Replied) mail.PageMoved {
	return mail.PageMoved{Session: r.Tag.Session, Page: r.Tag.Page, Err: DialogError(r.Err)}
}

// DialogError turns the outcome of Page.handleJavaScriptDialog into what the dialog actor
// needs: nil, "there is none" (another client was first, C4, C6), or another failure.
func DialogError(err error) error {
	if err == nil {
		return nil
	}
	var own *messages.Error
	if errors.As(err, &own) {
		return own
	}
	return messages.Errorf(messages.CodeInternal, "%s", err)
}

// NotConnected is the error for a page that the link has no session of.
func NotConnected() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the page is not connected").WithSent(messages.SentNo)
}

// SessionEnded is the error for a command whose session has ended before the reply.
func SessionEnded() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the session ended before the answer came").WithSent(messages.SentYes)
}
