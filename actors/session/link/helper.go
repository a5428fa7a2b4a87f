package link

import (
	"crypto/sha256"
	"encoding/hex"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// HelperURL is the address of the pages that take the foreground for a task, to free a page of
// it (C19). It is the same on every link of the task and on every node: a link that is lost in
// the middle leaves such a page behind, and the next one knows it by its address. The browser
// reports the address with the page's first event.
func HelperURL(task messages.TaskID) string {
	digest := sha256.Sum256([]byte(task))
	return "about:blank#holdfast-helper-" + hex.EncodeToString(digest[:8])
}

// hasHelperURL says whether a page is, or was, a helper of the task. A page that has an opener
// is not: pages choose the addresses of their popups.
func (c *core) hasHelperURL(t mail.TargetInfo) bool {
	return t.Opener == "" && t.URL != "" && t.URL == c.cfg.HelperURL
}

// isHelper says whether a page is a helper that this link has made and still needs.
func (m *Primary) isHelper(t messages.TargetID) bool {
	for _, c := range m.creating {
		if c.helper != "" && c.target == t {
			return true
		}
	}
	return false
}

// helperLeft takes a helper that an earlier link has left behind. It is closed once the task has
// a page: with its last window a browser ends.
func (m *Primary) helperLeft(t messages.TargetID) {
	if len(m.helpersLeft) < effect.MaxPages {
		m.helpersLeft = append(m.helpersLeft, t)
	}
	if m.isRootTold {
		m.closeHelpersLeft()
	}
}

func (m *Primary) closeHelpersLeft() {
	for _, t := range m.helpersLeft {
		m.closeHelper(t)
	}
	m.helpersLeft = nil
}

// closeHelper closes a page that took the foreground.
func (m *Primary) closeHelper(t messages.TargetID) {
	m.root(effect.Tag{Kind: effect.TagNone}, "Target.closeTarget", targetParam{t}, pageBudget)
}

// dropHelper closes the page that took the foreground for t, if there is one: to release it,
// or to free it before it is closed.
func (m *Primary) dropHelper(t messages.TargetID, isFreeing bool) *creation {
	for i, c := range m.creating {
		if c.helper == t && c.mustClose == isFreeing && c.target != "" {
			m.creating = append(m.creating[:i:i], m.creating[i+1:]...)
			m.closeHelper(c.target)
			return c
		}
	}
	return nil
}
