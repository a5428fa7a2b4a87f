package task_test

import (
	"reflect"
	"testing"
	"time"

	"holdfast/actors/supervisor/step"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// standbyShown is what the standby is told to keep off, and whether anything was shown.
func standbyShown(effects []step.Effect) (off []messages.TargetID, ok bool) {
	if p := shownToClients(effects); p != nil {
		return p.StandbyOff, true
	}
	return nil, false
}

// TestTheStandbyLeavesBeforeARelease: as every party of the task's pages (C19). It comes back behind
// that, and clients of the gateway are not told of it.
func TestTheStandbyLeavesBeforeARelease(t *testing.T) {
	t.Parallel()
	b := attached(t)
	b.step(step.AnchorGaveUp{})
	b.step(mail.StandbyAttached{Node: "b"})
	if s := b.m.Snapshot(); s.AnchorNode != "" {
		t.Errorf("one that does not see the pages yet is shown: %s", s.AnchorNode)
	}
	b.step(mail.StandbyAttached{Node: "b", IsUp: true})
	if s := b.m.Snapshot(); s.AnchorNode != "b" {
		t.Errorf("the standby is shown on %q", s.AnchorNode)
	}
	b.step(mail.SessionHealth{Gen: 1, Session: "S", Page: "P", IsPage: true, State: messages.PageDialogUnreachable})
	effects := b.step(mail.RecoverPage{Request: messages.RecoverRequest{Action: messages.RecoverRelease}})
	if off, _ := standbyShown(effects); releases(effects) != 0 || !reflect.DeepEqual(off, []messages.TargetID{"P"}) {
		t.Fatalf("%d releases, the standby is off %v", releases(effects), off)
	}
	if n := releases(b.step(mail.StandbyLeft{Node: "b", Page: "P"})); n != 1 {
		t.Fatalf("%d releases once it has left", n)
	}
	b.step(mail.TargetDetached{Gen: 1, Session: "S"})
	b.step(mail.TargetAttached{Gen: 1, Session: "S2", Page: "P", Info: mail.TargetInfo{ID: "P", Type: "page"}})
	if off, ok := standbyShown(b.step(mail.PageReleased{Gen: 1, Page: "P"})); !ok || len(off) != 0 {
		t.Errorf("behind the release it is off %v", off)
	}
	b.step(mail.StandbyAttached{Node: "a", IsUp: true}) // it takes the other one's place
	if s := b.m.Snapshot(); s.AnchorNode != "b" {
		t.Error("a second standby is shown beside one that stands")
	}
	b.step(mail.StandbyGone{Node: "a"})
	if s := b.m.Snapshot(); s.AnchorNode != "b" {
		t.Error("the end of another standby counts")
	}
	b.step(mail.StandbyGone{Node: "b"})
	if s := b.m.Snapshot(); s.AnchorNode != "" {
		t.Error("it is shown though it has gone")
	}
}

// TestAStandbyThatStays is waited for half a second, and no longer once it has gone.
func TestAStandbyThatStays(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]any{"too long": step.TimerFired{Name: "anchor:P"}, "and goes": mail.StandbyGone{Node: "b"}} {
		b := attached(t)
		b.step(step.AnchorGaveUp{})
		b.step(mail.StandbyAttached{Node: "b", IsUp: true})
		effects := b.step(mail.ClosePage{Page: "P"})
		if closes(effects) != 0 {
			t.Errorf("%s: the page is closed at once", what)
		}
		if n := closes(b.step(end)); n != 1 {
			t.Errorf("%s: %d pages closed", what, n)
		}
	}
}

// standby is the machine of a task of another node.
func standby(t *testing.T) (*bench, []step.Effect) {
	now := time.Unix(1000, 0)
	b := &bench{T: t, m: machineOf(messages.TaskSpec{}.WithDefaults()), now: now}
	b.m.Resume(now, mail.Resumed{IsWithheld: true, IsStandby: true, Off: []messages.TargetID{"Q"}, Memory: mail.TaskMemory{
		Version: 7, Browser: "mark", Current: "P", Pages: []messages.Page{{TargetID: "P"}, {TargetID: "Q"}},
		Open: []messages.Dialog{{ID: "d-9", Type: "alert", TargetID: "P", FrameID: "P"}},
	}})
	return b, b.m.StandBy(now)
}

// toAnchor is what the anchor is told, in order.
func toAnchor(effects []step.Effect) (told []any) {
	for _, e := range effects {
		if a, ok := e.(step.ToAnchor); ok {
			told = append(told, a.Msg)
		}
	}
	return told
}

func isAmong[T any](effects []step.Effect) bool {
	for _, e := range effects {
		if _, ok := e.(T); ok {
			return true
		}
	}
	return false
}

// TestAStandbyHasTheSecondLinkAlone, follows the pages of its task, and takes it over with the
// numbers of the last node.
func TestAStandbyHasTheSecondLinkAlone(t *testing.T) {
	t.Parallel()
	b, begun := standby(t)
	if !isAmong[step.StartAnchor](begun) || isAmong[step.StartLink](begun) || len(b.m.Pending) != 0 {
		t.Fatalf("it begins with %+v and knows of %v", begun, b.m.Pending)
	}
	if off := b.m.Forbidden(); !reflect.DeepEqual(off, []messages.TargetID{"Q"}) {
		t.Errorf("its link keeps off %v", off)
	}
	b.step(step.AnchorStarting{Gen: 1})
	told := toAnchor(b.step(mail.AnchorAttached{Gen: 1, Pages: []messages.TargetID{"P"}}))
	if !reflect.DeepEqual(told, []any{mail.CoverPage{Page: "P"}}) {
		t.Errorf("attached, the link is told %v", told)
	}
	b.step(mail.AnchorSettled{Gen: 1})
	told = toAnchor(b.step(mail.FollowTask{News: mail.StandbyNews{Memory: mail.TaskMemory{Version: 8, Pages: []messages.Page{{TargetID: "Q"}, {TargetID: "R"}}}}}))
	if !reflect.DeepEqual(told, []any{mail.LeavePage{Page: "P"}, mail.CoverPage{Page: "Q"}, mail.CoverPage{Page: "R"}}) {
		t.Errorf("with other pages the link is told %v", told)
	}
	effects := b.step(mail.LeaveAsStandby{Page: "R", Reply: 5})
	if told := toAnchor(effects); !reflect.DeepEqual(told, []any{mail.LeavePage{Page: "R"}}) || isAmong[step.Answer](effects) {
		t.Errorf("%+v", effects)
	}
	if !isAmong[step.Answer](b.step(mail.PageLeft{Gen: 1, Page: "R"})) {
		t.Error("it does not say that it has left the page")
	}
	// What the task's node answers at once has not slipped from the bridge's way.
	b.step(mail.BridgeNeeded{Dialog: "d-1", Page: "Q"})
	if isAmong[step.BridgeTaken](b.step(step.TimerFired{Name: "needed:Q"})) {
		t.Error("the standby turns to the bridge")
	}

	last := mail.TaskMemory{Version: 9_000_000, Browser: "mark", Pages: []messages.Page{{TargetID: "Q"}}, Open: []messages.Dialog{{ID: "d-12", TargetID: "Q"}}}
	effects = b.m.Promote(b.now, last)
	if !isAmong[step.StartLink](effects) || !isAmong[step.Publish](effects) {
		t.Errorf("%+v", effects)
	}
	if told := toAnchor(effects); !reflect.DeepEqual(told, []any{mail.LeavePage{Page: "R"}, mail.PrimaryUp{IsUp: false}}) {
		t.Errorf("the link is told %v", told)
	}
	if s := b.m.Snapshot(); s.State != messages.StateRecovering || s.Version <= last.Version || len(s.Pages) != 1 || s.PendingDialogs[0].ID != "d-12" || s.Connection.Anchor != messages.LinkUp {
		t.Errorf("%+v", s)
	}
	// Its link may be lost from here on, as that of any task.
	if isAmong[step.Finish](b.step(step.AnchorExited{Err: errReset})) {
		t.Error("the task ends with its second link")
	}
}

// TestAStandbyEndsWithItsLink: its node begins another one.
func TestAStandbyEndsWithItsLink(t *testing.T) {
	t.Parallel()
	for what, end := range map[string][]any{
		"lost":                    {step.AnchorStarting{Gen: 1}, step.AnchorExited{Err: errReset}},
		"given up":                {step.AnchorGaveUp{}},
		"to a browser of its own": {step.AnchorStarting{Gen: 1}, mail.AnchorAttached{Gen: 1, Pages: []messages.TargetID{"X"}}},
		"that is not wanted more": {mail.StopTask{}},
	} {
		b, _ := standby(t)
		ended := false
		for _, in := range end {
			ended = isAmong[step.Finish](b.step(in))
		}
		if !ended {
			t.Errorf("%s: the standby has not ended", what)
		}
	}
}
