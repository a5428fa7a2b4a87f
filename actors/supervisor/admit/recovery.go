package admit

import (
	"slices"

	"holdfast/messages"
)

// Recovery is the verdict on getting a page back that does not answer, and says which
// action the page's state allows. It refuses what would lose something for nothing.
func Recovery(k Known, action messages.RecoverAction) Verdict {
	switch {
	case k.IsOffline || k.IsDetached && action != messages.RecoverClose:
		return refuse(messages.Errorf(messages.CodeUpstreamUnavailable, "the page is not connected").WithSent(messages.SentNo))
	case k.IsUnsettled:
		return Verdict{Action: Wait}
	}
	if err := Forbids(k, action); err != nil {
		return refuse(err)
	}
	if action == messages.RecoverRelease && k.isOK() {
		return Verdict{Action: Answer} // it came free by itself: what was wanted is so
	}
	return Verdict{}
}

// Forbids is why the state of a page does not allow an action, nil where it does.
func Forbids(k Known, action messages.RecoverAction) *messages.Error {
	wedged := func(text string) *messages.Error {
		return messages.Errorf(messages.CodePageWedged, "%s", text).With("page_state", k.State)
	}
	switch {
	case k.HasNoTargets && (action == messages.RecoverRelease && !k.isOK() || action == messages.RecoverReattach):
		return wedged("the browser lets no session leave the page and come back; recover with reload")
	case action == messages.RecoverClose && k.isOK():
		return messages.Errorf(messages.CodeInvalidArgument, "the page answers; close it with Target.closeTarget")
	case action == messages.RecoverClose:
		return nil
	case k.IsUnsaveable && k.State == messages.PageDialogUnreachable:
		// What Chrome leaves of a page whose beforeunload dialog lost its last link:
		// neither a release nor a reload gets past it (C20).
		return wedged("the page holds a beforeunload dialog that lost its link: nothing dismisses it; recover with replace or close")
	case action == messages.RecoverReattach && k.IsPoisoned:
		return wedged("the page is being freed of a dialog whose frame was removed; try again in a moment")
	case action == messages.RecoverReattach:
		if k.State == messages.PageDialog && k.HasNoAnchor {
			// With its only session it would lose the one that can answer it (C17).
			return k.blocked()
		}
		return nil
	case k.State == messages.PageDialog:
		return k.blocked()
	case action == messages.RecoverReload && k.isOK():
		return messages.Errorf(messages.CodeInvalidArgument, "the page answers; Page.reload loads it anew")
	case k.State == messages.PageBlockedElsewhere && action != messages.RecoverReplace:
		return BlockedElsewhere()
	case action == messages.RecoverReplace && k.isOK():
		return messages.Errorf(messages.CodeInvalidArgument, "the page answers; Target.createTarget opens another one")
	case action == messages.RecoverReplace:
		return nil
	case action == messages.RecoverReload && k.IsStranded:
		return Stranded()
	case action == messages.RecoverReload || k.isOK() || k.State == messages.PageDialogUnreachable:
		return nil
	case k.State == messages.PageCrashed:
		return messages.Errorf(messages.CodePageCrashed, "the page's renderer has crashed: no dialog holds it; recover with reload").
			With("page_state", k.State)
	case k.State == messages.PagePaused:
		return wedged("the page is paused in a debugger: no dialog holds it; Debugger.resume lets it go on")
	case k.IsStranded:
		return Stranded()
	default:
		return wedged("the page's renderer does not answer: no dialog holds it; recover with reload, and with replace if that fails")
	}
}

// blocked names every dialog that holds the page, those of other pages included.
func (k Known) blocked() *messages.Error {
	return BlockedByDialog(slices.Concat(k.PageDialogs, k.Shared))
}
