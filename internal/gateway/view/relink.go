package view

import (
	"slices"

	"holdfast/messages"
)

// relinked attaches to what the client's auto-attach takes and a lost link has kept it from.
func (v *View) relinked() {
	for _, id := range v.order {
		v.attach(v.targets[id])
	}
}

// browserGone tells the client of the end of all that it knows, as Chrome would.
func (v *View) browserGone() {
	for _, id := range v.children("") {
		s := v.sessions[id]
		v.detachedFrom(Detached{Session: id, Params: DetachedParams(id, s.target)})
	}
	for _, id := range slices.Clone(v.order) {
		v.lost(id)
	}
}

// DetachedParams are those of Target.detachedFromTarget.
func DetachedParams(session messages.SessionID, target messages.TargetID) []byte {
	b := object("sessionId", string(session))
	t := object("targetId", string(target))
	return append(append(b[:len(b)-1], ','), t[1:]...)
}

// AttachParams are those of Target.attachToTarget.
func AttachParams(target messages.TargetID) []byte { return attachParams(target) }
