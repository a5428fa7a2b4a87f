package task_test

import (
	"fmt"
	"testing"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// releases counts the orders to free page P.
func releases(effects []step.Effect) (n int) {
	for _, e := range effects {
		if b, ok := e.(step.ToBrowser); ok && b.Msg == (mail.ReleasePage{Page: "P"}) {
			n++
		}
	}
	return n
}

func TestARelease(t *testing.T) {
	t.Parallel()
	// comesBack is the page attached to anew in a state.
	comesBack := func(b *bench, try int, state messages.PageState) []step.Effect {
		old, s := messages.SessionID(fmt.Sprintf("S%d", try)), messages.SessionID(fmt.Sprintf("S%d", try+1))
		if try == 0 {
			old = "S"
		}
		effects := b.step(mail.TargetDetached{Gen: 1, Session: old})
		effects = append(effects, b.step(mail.TargetAttached{Gen: 1, Session: s, Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})...)
		effects = append(effects, b.step(mail.PageReleased{Gen: 1, Page: "P"})...)
		effects = append(effects, b.step(mail.SessionHealth{Gen: 1, Session: s, Page: "P", IsPage: true, State: state})...)
		return append(effects, b.step(mail.SessionReady{Gen: 1, Session: s, Target: "P", IsBlocked: state != messages.PageOK})...)
	}
	begin := func(t *testing.T) (*bench, *[]error) {
		b := attached(t)
		b.step(step.AnchorGaveUp{})
		b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageDialogUnreachable})
		outcomes := &[]error{}
		effects := b.step(mail.RecoverPage{Request: messages.RecoverRequest{Action: messages.RecoverRelease}, Reply: calls.Open(func(_ any, err error) {
			*outcomes = append(*outcomes, err)
		})})
		if n := releases(effects); n != 1 {
			t.Fatalf("%d releases: %+v", n, effects)
		}
		return b, outcomes
	}
	tell := func(effects []step.Effect) {
		for _, e := range effects {
			if a, ok := e.(step.Answer); ok {
				calls.Answer(a.To, a.Value, a.Err)
			}
		}
	}
	t.Run("that somebody spoilt is begun anew", func(t *testing.T) {
		t.Parallel()
		b, outcomes := begin(t)
		effects := comesBack(b, 0, messages.PageDialogUnreachable)
		tell(effects)
		if n := releases(effects); n != 1 || len(*outcomes) != 0 {
			t.Fatalf("%d releases, outcomes %v", n, *outcomes)
		}
		effects = comesBack(b, 1, messages.PageOK)
		tell(effects)
		if n := releases(effects); n != 0 || len(*outcomes) != 1 || (*outcomes)[0] != nil {
			t.Fatalf("%d releases, outcomes %v", n, *outcomes)
		}
	})
	t.Run("that was spoilt while another task asks is begun anew too", func(t *testing.T) {
		t.Parallel()
		b, outcomes := begin(t)
		b.step(step.Elsewhere{Sites: []string{""}})
		effects := comesBack(b, 0, messages.PageDialogUnreachable)
		tell(effects)
		if s := b.m.Snapshot().Pages[0].PageState; releases(effects) != 1 || len(*outcomes) != 0 || s != messages.PageBlockedElsewhere {
			t.Fatalf("%d releases, outcomes %v, %s", releases(effects), *outcomes, s)
		}
	})
	t.Run("but not for ever", func(t *testing.T) {
		t.Parallel()
		b, outcomes := begin(t)
		n := 1
		for try := range 10 {
			effects := comesBack(b, try, messages.PageDialogUnreachable)
			tell(effects)
			n += releases(effects)
		}
		if n != 4 || len(*outcomes) != 1 || messages.CodeOf((*outcomes)[0]) != messages.CodePageWedged {
			t.Fatalf("%d releases, outcomes %v", n, *outcomes)
		}
	})
}
