package bridge

import (
	"maps"
	"slices"

	"holdfast/actors/session/effect"
)

// State adds what the bridge knows of its session. Keys of calls and the secret are left
// out.
func (b *Machine) State(s *effect.State) {
	s.Fact("on", b.isOn)
	s.Fact("by requests", b.requests() != nil)
	s.Fact("epoch", b.epoch)
	s.Fact("refused by the browser", b.isUnable)
	s.Fact("armed", b.armed)
	s.Fact("answered by the page", b.through)
	s.Fact("has its script", b.script != "")
	s.Fact("documents", len(b.contexts))
	s.Fact("ended tasks", len(b.dead))
	s.Fact("another task's call waits", b.others != "")
	if p := b.pause; p != nil {
		s.Fact("call of frame", p.frame)
		s.Fact("call is told of", p.isKnown)
		s.Fact("call resumed by another client", b.isResumed)
	}
	if q := b.requests(); q != nil {
		s.Fact("requests without a word", len(q.held))
		s.Fact("requests of remembered dialogs", slices.Sorted(maps.Keys(q.wordless)))
	}
}
