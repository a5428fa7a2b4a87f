package task_test

import (
	"testing"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// resumes says whether a page's session is told to resume it.
func resumes(effects []step.Effect) bool {
	for _, e := range effects {
		if to, ok := e.(step.ToSession); ok {
			if _, ok := to.Msg.(mail.ResumePage); ok {
				return true
			}
		}
	}
	return false
}

// Popups wait for the clients of the gateway that hold them: what those set in a page is to
// be there before its first request.
func TestPopupsWaitForClientsThatHoldThem(t *testing.T) {
	t.Parallel()
	covered := mail.PageCovered{Role: messages.RolePrimary, Gen: 1, Page: "Q", Session: "T"}
	for name, c := range map[string]struct {
		info  mail.TargetInfo
		steps []any // the last one resumes the popup
	}{
		"one that answers nothing before": {
			mail.TargetInfo{ID: "Q", Type: "page"}, []any{mail.PopupSeen{Page: "P"}, mail.PopupSeen{Page: "Q"}},
		},
		"one that can reach its opener": {
			mail.TargetInfo{ID: "Q", Type: "page", CanAccessOpener: true}, []any{mail.PopupSeen{Page: "Q"}, covered},
		},
		"the clients come last": {
			mail.TargetInfo{ID: "Q", Type: "page", CanAccessOpener: true}, []any{covered, mail.PopupSeen{Page: "Q"}},
		},
		"the last of them leaves": {
			mail.TargetInfo{ID: "Q", Type: "page"}, []any{mail.PopupSeen{Page: "P"}, mail.HoldPopups{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := attached(t)
			b.step(mail.HoldPopups{IsOn: true})
			if resumes(b.step(mail.TargetAttached{Gen: 1, Session: "T", Page: "Q", IsWaiting: true, Info: c.info})) {
				t.Fatal("the popup is resumed at once")
			}
			for i, in := range c.steps {
				if got, want := resumes(b.step(in)), i == len(c.steps)-1; got != want {
					t.Errorf("after %T: resumed: %v, want %v", in, got, want)
				}
			}
		})
	}
}

// The gateway may be told of a popup before the supervisor is.
func TestAPopupThatClientsHaveResumedDoesNotWait(t *testing.T) {
	t.Parallel()
	b := attached(t)
	b.step(mail.HoldPopups{IsOn: true})
	b.step(mail.PopupSeen{Page: "Q"})
	b.step(mail.TargetAttached{Gen: 1, Session: "T", Page: "Q", IsWaiting: true, Info: mail.TargetInfo{ID: "Q", Type: "page"}})
	if resumes(b.step(mail.PopupSeen{Page: "Q"})) {
		t.Error("the popup was held")
	}
}
