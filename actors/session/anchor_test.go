package session_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/actors/session"
	"holdfast/messages"
)

// Whatever comes between, an anchor that has seen a page of the task says so:
// else its browser would be taken for another.
func TestAnAnchorSaysWhatItHasSeen(t *testing.T) {
	t.Parallel()
	attached := messages.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: messages.TargetInfo{ID: "P", Type: "page"}}
	leave, cover := messages.LeavePage{Page: "P"}, messages.CoverPage{Page: "P"}
	for name, story := range map[string][]any{
		"a page":                          {attached},
		"one that it leaves":              {attached, leave},
		"one that it has left":            {leave, attached},
		"one that it is to cover again":   {leave, attached, cover},
		"one that it covers and leaves":   {leave, cover, attached, leave},
		"one that it leaves and covers":   {attached, leave, cover},
		"one that was told of both times": {leave, attached, cover, leave},
	} {
		for _, scope := range []messages.Scope{messages.ScopeBrowser, messages.ScopeOwn} {
			m := session.NewAnchorMachine(session.AnchorConfig{Gen: 1, Scope: scope, Owned: []messages.TargetID{"P"}})
			m.Step(time.Time{}, session.Start{})
			for _, in := range story {
				m.Step(time.Time{}, in)
			}
			told := false
			for _, e := range m.Step(time.Time{}, session.Replied{Tag: session.Tag{Kind: session.TagRoot}}) {
				if to, ok := e.(session.ToSupervisor); ok {
					if a, ok := to.Msg.(messages.AnchorAttached); ok {
						told = slices.Equal(a.Pages, []messages.TargetID{"P"})
					}
				}
			}
			if !told {
				t.Errorf("%s, scope %s: not told", name, scope)
			}
		}
	}
}
