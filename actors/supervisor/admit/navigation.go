package admit

import "holdfast/messages"

// Navigation is the verdict on sending a page somewhere. A navigation past an open dialog
// is refused by [Arrival], on the session that knows of it first.
func Navigation(k Known) Verdict {
	switch {
	case k.IsDetached:
		return refuse(messages.Errorf(messages.CodeUpstreamUnavailable, "the page is not connected").WithSent(messages.SentNo))
	case k.IsPoisoned:
		return refuse(messages.Errorf(messages.CodePageWedged, "the page is being freed of a dialog that cannot be answered; try again in a moment"))
	case k.IsDoomed && k.IsUnsettled:
		return Verdict{Action: Wait} // what begins before the next document is there, that ends
	case len(k.Shared) > 0:
		return refuse(BlockedByDialog(k.Shared))
	case k.State == messages.PageBlockedElsewhere:
		return refuse(BlockedElsewhere())
	}
	return Verdict{}
}

// Arrival is the verdict of the page's own session on the same: Page.navigate would close
// an open dialog with "no" (M9), which no caller has asked for.
func Arrival(k Known) Verdict {
	switch {
	case len(k.PageDialogs) > 0:
		return refuse(BlockedByDialog(k.PageDialogs))
	case k.IsStranded:
		return refuse(Stranded())
	}
	return Verdict{}
}
