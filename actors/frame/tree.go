package frame

import (
	"slices"

	"holdfast/messages"
)

// add puts a frame under parent and returns it, or nil when the page has too
// many frames or the parent is unknown.
func (t *tree) add(id, parent messages.FrameID) *node {
	if t.nodes.Len() >= MaxFrames {
		return nil
	}
	if parent != "" {
		p := t.nodes.At(parent)
		if p == nil {
			return nil
		}
		p.children = append(p.children, id)
	}
	n := &node{id: id, parent: parent}
	t.nodes.Set(id, n)
	t.house(id)
	return n
}

// settle moves n under its parent, at once or when that is told of: each session
// tells of its frames at its own pace, and an iframe's may be faster than that of
// the process its parent lives in.
func (t *tree) settle(n *node, parent messages.FrameID) {
	if t.nodes.At(parent) != nil {
		t.move(n, parent)
		return
	}
	if n.wants == "" {
		t.homeless = append(t.homeless, n.id)
	}
	n.wants = parent
}

// house moves the frames that have waited for parent.
func (t *tree) house(parent messages.FrameID) {
	t.homeless = slices.DeleteFunc(t.homeless, func(id messages.FrameID) bool {
		n := t.nodes.At(id)
		if n.wants != parent {
			return false
		}
		n.wants = ""
		t.move(n, parent)
		return true
	})
}

// move puts n under another parent, unless that would make a circle.
func (t *tree) move(n *node, parent messages.FrameID) {
	for p := t.nodes.At(parent); p != nil; p = t.nodes.At(p.parent) {
		if p == n {
			return
		}
		if p.parent == "" {
			break
		}
	}
	t.unlink(n)
	n.parent = parent
	t.nodes.At(parent).children = append(t.nodes.At(parent).children, n.id)
}

func (t *tree) unlink(n *node) {
	p := t.nodes.At(n.parent)
	if p == nil {
		return
	}
	for i, id := range p.children {
		if id == n.id {
			p.children = append(p.children[:i:i], p.children[i+1:]...)
			return
		}
	}
}

// remove takes n and everything below it out of the tree.
func (t *tree) remove(n *node) {
	t.unlink(n)
	for _, id := range t.below(n.id) {
		t.nodes.Delete(id)
	}
	t.homeless = slices.DeleteFunc(t.homeless, func(id messages.FrameID) bool { return t.nodes.At(id) == nil })
}

// below lists id and its descendants, each after its parent.
func (t *tree) below(id messages.FrameID) []messages.FrameID {
	n := t.nodes.At(id)
	if n == nil {
		return nil
	}
	list := []messages.FrameID{id}
	for _, child := range n.children {
		list = append(list, t.below(child)...)
	}
	return list
}

// view is the tree as the contract shows it, whole.
func (t *tree) view() *messages.FrameTree {
	root := t.nodes.At(t.root)
	ids := t.below(t.root)
	v := &messages.FrameTree{
		Top:      messages.FrameTop{FrameID: root.id, URL: root.url, Origin: root.origin},
		Children: make([]messages.FrameNode, 0, len(ids)-1),
	}
	for _, id := range ids[1:] {
		n := t.nodes.At(id)
		v.Children = append(v.Children, messages.FrameNode{
			FrameID: n.id, ParentFrameID: n.parent, URL: n.url, Origin: n.origin,
			IsOOPIF: n.isOutOfProcess(), SessionID: n.target,
		})
	}
	return v
}

// isOutOfProcess holds for a frame with a session of its own, and for one whose session was
// lost: no other session has its document.
func (n *node) isOutOfProcess() bool { return n.target != "" || n.owner == "" }

// add is [tree.add], and tells of a frame that is one too many.
func (m *Machine) add(t *tree, id, parent messages.FrameID) *node {
	if t.nodes.Len() >= MaxFrames {
		m.do(Cut{})
	}
	return t.add(id, parent)
}

// addUnder adds a frame under a parent that may be unknown.
func (m *Machine) addUnder(t *tree, id, parent messages.FrameID) *node {
	if t.nodes.At(parent) != nil {
		return m.add(t, id, parent)
	}
	n := m.add(t, id, t.root)
	if n != nil && parent != "" {
		t.settle(n, parent)
	}
	return n
}

func (m *Machine) tree(page messages.TargetID) *tree {
	t := m.pages.At(page)
	if t == nil {
		t = &tree{}
		m.pages.Set(page, t)
	}
	return t
}
