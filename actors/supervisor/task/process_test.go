package task_test

import (
	"errors"
	"testing"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func TestARestartIsToldFromADrop(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first, second string // the process that a link leads to
		pages         []messages.TargetID
		want          uint64
	}{
		"a drop":                                   {"a", "a", []messages.TargetID{"P"}, 0},
		"a restart":                                {"a", "b", []messages.TargetID{"N"}, 1},
		"a restart without any page":               {"a", "b", nil, 1},
		"the page was closed meanwhile":            {"a", "a", []messages.TargetID{"N"}, 0},
		"a drop, and the address does not tell":    {"", "", []messages.TargetID{"P", "N"}, 0},
		"all is new and the address does not tell": {"", "", []messages.TargetID{"N"}, 1},
		"an address that differs for every link":   {"a", "b", []messages.TargetID{"P"}, 0},
		"an address that tells only now":           {"", "b", []messages.TargetID{"N"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			b.step(step.Linked{Gen: 1, Browser: tc.first})
			b.step(step.BrowserExited{Err: errors.New("gone")})
			// An attempt that comes to nothing changes nothing.
			b.step(step.BrowserStarting{Gen: 2})
			b.step(step.Linked{Gen: 2, Browser: "c"})
			b.step(step.BrowserExited{Err: errors.New("gone again")})
			b.step(step.BrowserStarting{Gen: 3})
			b.step(step.Linked{Gen: 3, Browser: tc.second})
			for _, p := range tc.pages {
				s := messages.SessionID("S" + p)
				b.step(mail.TargetAttached{Gen: 3, Session: s, Page: p, Info: mail.TargetInfo{ID: p, Type: "page"}})
			}
			told := has[step.BrowserRestarted](b.step(mail.RootAttached{Gen: 3, Pages: tc.pages}))
			if got := b.m.Snapshot().Connection.BrowserRestarts; got != tc.want || told != (tc.want > 0) {
				t.Errorf("%d restarts, said: %v", got, told)
			}
			if got := len(b.m.Snapshot().Pages); got != len(tc.pages) {
				t.Errorf("%d pages", got)
			}
		})
	}
}
