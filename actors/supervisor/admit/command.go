package admit

import (
	"holdfast/messages"
	"holdfast/transport/quirks"
)

// Command is the verdict on one CDP command of an agent on a session. It refuses what
// Chrome would leave unanswered, or would lose something by.
func Command(k Known, method string) Verdict {
	stopped := false
	switch {
	case quirks.LosesInChrome(method):
		return Verdict{Action: Own}
	case k.IsPoisoned:
		stopped = true
	case len(k.PageDialogs) > 0 && quirks.LosesDialog(method):
		return refuse(BlockedByDialog(k.PageDialogs))
	case len(k.Paused) > 0 && quirks.EndsPause(method):
		return refuse(BlockedByDialog(k.Paused))
	case k.State == messages.PageCrashed:
		stopped = !quirks.WorksWhenCrashed(method)
	case len(k.Blocking) > 0, k.State == messages.PageDialogUnreachable, k.State == messages.PageDialog, k.State == messages.PageBlockedElsewhere:
		stopped = quirks.NeedsRenderer(method)
	case k.State == messages.PageHung:
		stopped = !quirks.WorksWhenHung(method)
	}
	if stopped {
		return refuseIf(Condition(k))
	}
	return Verdict{}
}

// Condition is what keeps a session's renderer from answering, nil where nothing is known
// to.
func Condition(k Known) *messages.Error {
	switch {
	case k.IsPoisoned:
		return messages.Errorf(messages.CodePageWedged, "the page is being freed of a dialog whose frame was removed; try again in a moment").
			With("page_state", messages.PageDialogUnreachable)
	case k.State == messages.PageCrashed:
		return messages.Errorf(messages.CodePageCrashed, "the page's renderer has crashed; recover with reload, or navigate")
	case len(k.Blocking) > 0:
		return BlockedByDialog(k.Blocking)
	case len(k.Paused) > 0:
		return BlockedByDialog(k.Paused)
	case k.State == messages.PageDialog:
		return BlockedByDialog(k.Shared)
	case k.State == messages.PageBlockedElsewhere:
		return BlockedElsewhere()
	case k.State == messages.PageHung && k.IsStranded:
		return Stranded()
	case k.State == messages.PageHung:
		return messages.Errorf(messages.CodePageWedged, "the page's renderer does not answer; if it does not come back by itself, recover with reload, and with replace if that fails").With("page_state", k.State)
	case k.State == messages.PageDialogUnreachable:
		return messages.Errorf(messages.CodePageWedged, "the page holds a dialog that cannot be answered; recover with release, which keeps the page, or with reload; a beforeunload takes replace").
			With("page_state", k.State)
	}
	return nil
}

// IsHeldUp reports whether a call of that method waits for the renderer or for a dialog. One
// that is under way ends once it is known that neither comes.
func IsHeldUp(method string) bool {
	return quirks.NeedsRenderer(method) || quirks.LosesDialog(method) || quirks.IsInput(method)
}
