package link_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// An anchor whose primary is away holds another task's call by itself.
func TestAnAnchorLetsTheCallOfAnotherTaskGo(t *testing.T) {
	t.Parallel()
	for page, want := range map[messages.TargetID][]string{"P": {"Debugger.resume"}, "Q": nil} {
		settings := bridge.Settings{IsOn: true, Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)}
		m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeBrowser, Bridge: settings})
		waits := fmt.Sprintf(`{"callFrames":[{"callFrameId":"1.3.0","this":{"type":"string","value":"%sk.1 confirm 0 0 "}}]}`, sessiontest.Siblings[16:32])
		for _, in := range []any{
			effect.Start{},
			mail.TargetAttached{Gen: 1, Session: "S", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}},
			effect.Replied{Tag: effect.Tag{Kind: link.TagRoot}},
			wrap("S", (decode.Source{Secret: settings.Secret}).Decode(time.Time{}, "Debugger.paused", []byte(waits))),
		} {
			m.Step(time.Time{}, in)
		}
		var got []string
		for _, e := range m.Step(time.Time{}, bridge.SiblingLeft{Secret: bridge.NewSecret(sessiontest.Siblings), Pages: []messages.TargetID{page}}) {
			if c, ok := e.(effect.Command); ok {
				got = append(got, c.Method)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of page %s: %v, want %v", page, got, want)
		}
	}
}

// One that comes to a page later is told as its session attaches, and once.
func TestAnAnchorThatComesAfterTheEndOfAnotherTask(t *testing.T) {
	t.Parallel()
	end := bridge.SiblingLeft{Secret: bridge.NewSecret(sessiontest.Siblings), Epoch: 7, Pages: []messages.TargetID{"P"}, HasEnded: true}
	m := link.NewAnchor(link.Config{Gen: 1, Scope: messages.ScopeBrowser})
	m.Know(map[messages.TargetID]link.Others{"P": {Ended: []bridge.SiblingLeft{end}}})
	turned := func(in any) (n int) {
		for _, e := range m.Step(time.Time{}, in) {
			if c, ok := e.(effect.Command); ok && strings.Contains(string(c.Params), end.OffWord()) {
				n++
			}
		}
		return n
	}
	attached := func(page messages.TargetID) mail.TargetAttached {
		return mail.TargetAttached{Gen: 1, Session: messages.SessionID("S" + page), Page: page, Info: mail.TargetInfo{ID: page, Type: "page"}}
	}
	turned(effect.Start{})
	if p, q, again := turned(attached("P")), turned(attached("Q")), turned(end); p != 1 || q != 0 || again != 0 {
		t.Errorf("turned off %d times on its page, %d on another, %d when told again", p, q, again)
	}
}
