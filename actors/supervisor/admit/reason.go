package admit

import "holdfast/messages"

// BlockedByDialog is what a call gets that one of these dialogs holds up.
func BlockedByDialog(dialogs []messages.Dialog) *messages.Error {
	return messages.Errorf(messages.CodeBlockedByDialog, "a dialog is open on the page; answer it first").
		With("pending_dialogs", dialogs)
}

// BlockedElsewhere is what a call gets that a dialog of another task holds up (C59).
func BlockedElsewhere() *messages.Error {
	return messages.Errorf(messages.CodePageWedged, "another dialog in the browser holds the page's renderer, which answers again by itself once that one is answered").
		With("page_state", messages.PageBlockedElsewhere)
}

// Stranded is what a call gets on a page between two documents, which no command reaches.
func Stranded() *messages.Error {
	return messages.Errorf(messages.CodePageWedged, "the page's next document waits for a renderer that does not answer: neither a navigation nor a reload reaches it; recover with replace").
		With("page_state", messages.PageHung)
}

// NotAnswering is what a navigation gets on a page whose renderer hangs.
func NotAnswering() *messages.Error {
	return messages.Errorf(messages.CodePageWedged, "the page's renderer does not answer; recover with reload, and with replace if that fails").
		With("page_state", messages.PageHung)
}
