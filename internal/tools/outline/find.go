package outline

import (
	"iter"
	"strings"
)

// All returns the document and those of its frames, each after the one that holds it.
func (d *Document) All() []*Document {
	out := []*Document{d}
	seen := map[*Document]bool{d: true}
	for i := 0; i < len(out); i++ {
		of := out[i]
		for j := range of.nodes { // in the order of the page
			if child := of.Frames[of.nodes[j].backend]; child != nil && !seen[child] {
				seen[child] = true
				out = append(out, child)
			}
		}
	}
	return out
}

// FindRole returns the first shown element of a role and a name; an empty one fits each. A name
// that is the same goes before one that holds what is looked for.
func (d *Document) FindRole(role, name string) (backend int64, isFound bool) {
	name = clean(name, maxName)
	role = strings.ToLower(role)
	for i, r := range d.shown() {
		if role != "" && r != role {
			continue
		}
		said := d.called(i, r)
		switch {
		case name == "" || said == name:
			return d.nodes[i].backend, true
		case !isFound && strings.Contains(strings.ToLower(said), strings.ToLower(name)):
			backend, isFound = d.nodes[i].backend, true
		}
	}
	return backend, isFound
}

// shown are the elements that are shown and have a role, in the order of the document.
func (d *Document) shown() iter.Seq2[int32, string] {
	return func(yield func(int32, string) bool) {
		for i := range d.nodes {
			n := &d.nodes[i]
			if n.kind != kindElement || !n.has(hasLayout) || n.has(isHidden) || d.isAgents(int32(i)) {
				continue
			}
			r := d.role(int32(i))
			if r == "" && n.has(isClickable) {
				r = roleClickable
			}
			if r != "" && !yield(int32(i), r) {
				return
			}
		}
	}
}

// roleClickable is of an element without a role that has a handler for clicks.
const roleClickable = "clickable"

// called is the name of an element with a role.
func (d *Document) called(i int32, role string) string {
	said := d.nameOf(i, role)
	if said == "" && role == roleClickable {
		said = clean(d.textOf(i, i), maxName)
	}
	return said
}

// Element is an element of a document that has a role.
type Element struct {
	Backend    int64
	Role, Name string
}

// editable are the roles of fields that take a text.
var editable = map[string]bool{"textbox": true, "searchbox": true, "combobox": true}

// Like returns what a name that no element has may mean, most elements at most: those that can be
// acted on whose name has it in it, or is a part of it.
func (d *Document) Like(name string, most int) (out []Element) {
	name = strings.ToLower(clean(name, maxName))
	for i, r := range d.shown() {
		if len(out) == most || name == "" {
			break
		}
		if !interactive[r] && r != roleClickable {
			continue
		}
		said := d.called(i, r)
		if lower := strings.ToLower(said); lower != "" && (strings.Contains(name, lower) || strings.Contains(lower, name)) {
			out = append(out, Element{d.nodes[i].backend, r, said})
		}
	}
	return out
}

// Editable returns the first fields that take a text, most of them at most.
func (d *Document) Editable(most int) (out []Element) {
	for i, r := range d.shown() {
		if len(out) == most {
			break
		}
		if editable[r] {
			out = append(out, Element{d.nodes[i].backend, r, d.called(i, r)})
		}
	}
	return out
}

// FindText returns the smallest shown element that holds a text, the first of several: its own
// words, or those of a button.
func (d *Document) FindText(text string) (backend int64, isFound bool) {
	want := strings.ToLower(clean(text, maxText))
	if want == "" {
		return 0, false
	}
	for i := range d.nodes {
		n := &d.nodes[i]
		isShown := n.has(hasLayout) && !n.has(isHidden) && !d.isAgents(int32(i))
		switch {
		case n.kind == kindText && isShown && strings.Contains(strings.ToLower(clean(n.value, maxText)), want):
			return d.nodes[n.parent].backend, true
		case n.kind == kindElement && n.name == "input" && isShown && d.role(int32(i)) == "button" && strings.Contains(strings.ToLower(d.nameOf(int32(i), "button")), want):
			return n.backend, true
		}
	}
	// A text that runs over several elements: the last one that holds it is the smallest.
	for i := len(d.nodes) - 1; i > 0; i-- {
		n := &d.nodes[i]
		if n.kind == kindElement && n.has(hasLayout) && n.first != 0 && strings.Contains(strings.ToLower(clean(d.textOf(int32(i), int32(i)), maxText)), want) {
			return n.backend, true
		}
	}
	return 0, false
}

// isAgents says that a node is below a shadow root of the browser's own.
func (d *Document) isAgents(i int32) bool {
	for depth := 0; i > 0 && depth < 16; i, depth = d.nodes[i].parent, depth+1 {
		if d.nodes[i].has(isAgents) {
			return true
		}
	}
	return false
}
