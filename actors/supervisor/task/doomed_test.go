package task_test

import (
	"slices"
	"testing"

	"holdfast/actors/dialog"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// leavings are the orders among effects by which a session of a page is left, or the page
// closed.
func leavings(effects []step.Effect) (names []string) {
	for _, e := range effects {
		switch e := e.(type) {
		case step.ToAnchor:
			switch e.Msg.(type) {
			case mail.LeavePage, mail.Leave:
				names = append(names, "anchor leaves")
			}
		case step.ToBrowser:
			switch o := e.Msg.(type) {
			case mail.ReleasePage:
				names = append(names, "release")
			case mail.ReattachPage:
				names = append(names, "reattach")
			case mail.Leave:
				names = append(names, "primary leaves")
			case mail.ClosePage:
				if o.IsAttached {
					names = append(names, "close attached")
				} else {
					names = append(names, "close")
				}
			}
		}
	}
	return names
}

// unproved has a dialog open on page P of which it is not known whether it is doomed.
func (b *bench) unproved(is bool) []step.Effect {
	b.Helper()
	d := messages.Dialog{ID: "d-1", TargetID: "P", FrameID: "P", Type: "confirm", Path: messages.PathNative}
	return b.step(mail.DialogsChanged{Memory: mail.DialogMemory{Open: []mail.OpenDialog{{Dialog: d, IsUnproved: is}}}, Pending: []messages.Dialog{d}})
}

// No session leaves a page that has a doomed dialog, or one that may be (C58).
func TestADoomedPageIsNotLeft(t *testing.T) {
	t.Parallel()
	discard := calls.Open(func(any, error) {})
	recovery := func(a messages.RecoverAction) any {
		return mail.RecoverPage{Request: messages.RecoverRequest{TargetID: "P", Action: a}, Reply: discard}
	}
	for name, c := range map[string]struct {
		order any
		then  []string // once the page may be left
	}{
		"recover reattach": {recovery(messages.RecoverReattach), []string{"reattach"}},
		"close":            {mail.ClosePage{Page: "P", Reply: discard}, []string{"anchor leaves"}},
		"stop":             {mail.StopTask{ID: "t"}, []string{"anchor leaves"}},
	} {
		for state, s := range map[string]struct {
			begin, end func(b *bench) []step.Effect
		}{
			"while it is not known": {
				func(b *bench) []step.Effect { return b.unproved(true) },
				func(b *bench) []step.Effect { return b.unproved(false) },
			},
			"while it is": {
				func(b *bench) []step.Effect { return b.step(mail.PageDoomed{Page: "P", Is: true}) },
				func(b *bench) []step.Effect { return b.step(mail.PageDoomed{Page: "P"}) },
			},
		} {
			t.Run(name+" "+state, func(t *testing.T) {
				t.Parallel()
				b := anchored(t)
				s.begin(b)
				if got := leavings(b.step(c.order)); len(got) != 0 {
					t.Fatalf("at once: %v", got)
				}
				told := s.end(b)
				if name == "stop" {
					told = append(told, b.step(dialog.Left{})...) // the actor of the dialogs waits for the same
				}
				if got := leavings(told); !slices.Equal(got, c.then) {
					t.Errorf("then: %v, want %v", got, c.then)
				}
			})
		}
	}
}

func TestADoomedPageIsClosedWithEverySessionAttached(t *testing.T) {
	t.Parallel()
	b := anchored(t)
	b.step(mail.PageDoomed{Page: "P", Is: true})
	if got := leavings(b.step(mail.PageDoomed{Page: "P", Is: true, MustClose: true})); !slices.Equal(got, []string{"close attached"}) {
		t.Errorf("told %v", got)
	}
}

// A navigation that begins before the next document is there is ended by that.
func TestADoomedPageIsNavigatedOnceItHasItsDocument(t *testing.T) {
	t.Parallel()
	b := anchored(t)
	sent := func(effects []step.Effect) bool {
		return slices.ContainsFunc(effects, func(e step.Effect) bool {
			to, ok := e.(step.ToSession)
			_, navigates := to.Msg.(mail.Navigate)
			return ok && navigates
		})
	}
	b.step(mail.PageDoomed{Page: "P", Is: true})
	if sent(b.step(mail.Navigate{Request: messages.NavigateRequest{URL: "http://a.test/"}, Reply: calls.Open(func(any, error) {})})) {
		t.Fatal("at once")
	}
	if !sent(b.step(mail.PageDoomed{Page: "P"})) {
		t.Error("not at all")
	}
}

// Who waits for a doomed page has an answer in any case.
func TestAnOrderForADoomedPageHasAnOutcome(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]any{
		"the page closes":   mail.PageClosed{Gen: 1, Page: "P"},
		"the task ends":     step.BrowserGone{Why: "killed"},
		"it takes too long": step.TimerFired{Name: "parked:P"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := anchored(t)
			b.step(mail.PageDoomed{Page: "P", Is: true})
			b.step(mail.RecoverPage{Request: messages.RecoverRequest{TargetID: "P", Action: messages.RecoverRelease}, Reply: calls.Open(func(any, error) {})})
			if !has[step.Answer](b.step(end)) {
				t.Error("no answer")
			}
		})
	}
}
