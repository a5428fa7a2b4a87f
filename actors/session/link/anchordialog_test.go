package link_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// onPage is an anchor whose session S covers page P.
func onPage() *link.Anchor {
	m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeBrowser})
	for _, in := range []any{
		effect.Start{},
		mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
		effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}},
		effect.Replied{Tag: effect.Tag{Kind: effect.TagEnabled, Page: "P", Session: "S"}},
	} {
		m.Step(time.Time{}, in)
	}
	return m
}

// Without a primary, only the anchor hears that the frame of an open dialog is gone. To
// answer that would end the browser (C15).
func TestAnAnchorTellsOfAFrameThatIsGone(t *testing.T) {
	t.Parallel()
	m := onPage()
	for event, want := range map[mail.FrameDetached]int{
		{Gen: 1, Session: "S", Frame: "F"}:               1,
		{Gen: 1, Session: "S", Frame: "F", IsSwap: true}: 0,
		{Gen: 1, Session: "T", Frame: "F"}:               0,
	} {
		told := 0
		for _, e := range m.Step(time.Time{}, wrap(event.Session, event)) {
			to, ok := e.(effect.ToDialog)
			if r, isRemoved := to.Msg.(mail.FramesRemoved); ok && isRemoved && r.Page == "P" && slices.Equal(r.Frames, []messages.FrameID{"F"}) {
				told++
			}
		}
		if told != want {
			t.Errorf("%+v: told %d times, want %d", event, told, want)
		}
	}
}

// A dialog actor that starts anew is told by an anchor whether a dialog is open.
func TestAnAnchorTellsThatNoneAsks(t *testing.T) {
	t.Parallel()
	m := onPage()
	told := func() bool {
		return slices.Contains(m.Step(time.Time{}, effect.TellAgain{}), effect.Effect(effect.ToDialog{Msg: mail.NoneAsks{Page: "P", Session: "S"}}))
	}
	if !told() {
		t.Error("before any dialog it is not told")
	}
	m.Step(time.Time{}, mail.DialogOpened{Gen: 1, Session: "S", Page: "P"})
	if told() {
		t.Error("under a dialog it is told")
	}
	m.Step(time.Time{}, mail.DialogClosed{Gen: 1, Session: "S", Page: "P"})
	if !told() {
		t.Error("behind the dialog it is not told")
	}
}
