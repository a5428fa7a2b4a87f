package session_test

import (
	"fmt"
	"slices"
	"testing"

	"holdfast/actors/session"
	"holdfast/actors/session/bridge"
	"holdfast/messages"
)

// Who comes to a page is told of the tasks that have ended there, the newest of them.
func TestEndsOnAPageAreRemembered(t *testing.T) {
	t.Parallel()
	var o session.Owners
	epochs := func(page messages.TargetID) (list []uint64) {
		for _, l := range o.Left(page) {
			list = append(list, l.Epoch)
		}
		return list
	}
	o.Leave(bridge.SiblingLeft{Epoch: 1, Pages: []messages.TargetID{"P", "Q"}})
	o.Leave(bridge.SiblingLeft{Epoch: 2, Pages: []messages.TargetID{"P"}})
	for page, want := range map[messages.TargetID][]uint64{"P": {1, 2}, "Q": {1}, "R": nil} {
		if got := epochs(page); !slices.Equal(got, want) {
			t.Errorf("on %s: %v, want %v", page, got, want)
		}
	}
	for i := range 255 {
		o.Leave(bridge.SiblingLeft{Pages: []messages.TargetID{messages.TargetID(fmt.Sprint(i))}})
	}
	if got := epochs("P"); !slices.Equal(got, []uint64{2}) {
		t.Errorf("after many more: %v", got)
	}
}
