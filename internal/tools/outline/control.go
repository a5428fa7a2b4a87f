package outline

import (
	"strings"

	"holdfast/internal/redact"
)

// maxOptions bounds the options of a list that are written.
const maxOptions = 20

// control writes what can be acted on: role, name, ref, states, value.
func (b *builder) control(d *Document, i int32, role string, depth, level, deep int) {
	n := &d.nodes[i]
	name := d.nameOf(i, role)
	if name == "" && role == "clickable" {
		name = clean(d.textOf(i, i), maxName)
	}
	var t strings.Builder
	t.WriteString(role)
	if name != "" {
		t.WriteString(" " + quote(name))
	}
	t.WriteString(b.ref(d, i, role, name))
	for _, s := range d.states(n, role) {
		t.WriteString(" " + s)
	}
	if b.opts.IsFull && role == "link" {
		t.WriteString(" url=" + quote(redact.Text(redact.PageURL(clean(n.attribute("href"), maxValue)))))
	}
	isEditable := n.isEditable() && n.name != "input" && n.name != "textarea"
	switch {
	case n.isSecret():
		t.WriteString(" password")
	case n.name == "select":
		t.WriteString(d.options(i))
	case isEditable:
		if v := clean(d.textOf(i, i), maxValue); v != "" && v != name {
			t.WriteString(": " + quote(v))
		}
	case role != "checkbox" && role != "radio" && role != "button" && role != "file":
		if v := clean(n.input, maxValue); v != "" {
			t.WriteString(": " + quote(v))
		} else if v := clean(n.attribute("aria-valuetext")+n.attribute("aria-valuenow"), maxValue); v != "" && role != "textbox" {
			t.WriteString(": " + quote(v))
		}
	}
	b.line(depth, t.String(), true, false)
	switch {
	case n.name == "select" || n.name == "input" || n.name == "textarea" || isEditable || n.isSecret():
	case byContent[role] || role == "clickable":
		b.inside(d, i, depth+1, level, deep)
	default:
		b.children(d, i, depth+1, level, deep)
		b.flush()
	}
}

// states are the words for what an element is at the moment.
func (d *Document) states(n *node, role string) (out []string) {
	if n.isDisabled() {
		out = append(out, "disabled")
	}
	switch role {
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio":
		switch checked := n.attribute("aria-checked"); {
		case n.has(isChecked) || checked == "true":
			out = append(out, "checked")
		case checked == "mixed":
			out = append(out, "mixed")
		}
	}
	if n.attribute("aria-selected") == "true" {
		out = append(out, "selected")
	}
	switch n.attribute("aria-expanded") {
	case "true":
		out = append(out, "expanded")
	case "false":
		out = append(out, "collapsed")
	}
	if n.attribute("aria-pressed") == "true" {
		out = append(out, "pressed")
	}
	if c := n.attribute("aria-current"); c != "" && c != "false" {
		out = append(out, "current")
	}
	if _, ok := n.lookup("required"); ok || n.attribute("aria-required") == "true" {
		out = append(out, "required")
	}
	if _, ok := n.lookup("readonly"); ok && (n.name == "input" || n.name == "textarea") {
		out = append(out, "readonly")
	}
	if n.attribute("aria-invalid") == "true" {
		out = append(out, "invalid")
	}
	if n.name == "summary" && n.parent > 0 {
		if _, ok := d.nodes[n.parent].lookup("open"); ok {
			out = append(out, "expanded")
		} else {
			out = append(out, "collapsed")
		}
	}
	return out
}

// options are what a select has chosen, and what can be chosen.
func (d *Document) options(i int32) string {
	var chosen, all []string
	total := 0
	var walk func(i int32, depth int)
	walk = func(i int32, depth int) {
		for c := d.nodes[i].first; c != 0 && depth < 4; c = d.nodes[c].next {
			if d.nodes[c].name != "option" {
				if d.nodes[c].kind == kindElement {
					walk(c, depth+1)
				}
				continue
			}
			total++
			isChosen := d.nodes[c].has(isSelected)
			if len(all) >= maxOptions && !isChosen {
				continue
			}
			label := clean(d.nodes[c].attribute("label"), 60)
			if label == "" {
				label = clean(d.textOf(c, c), 60)
			}
			if isChosen && len(chosen) < maxOptions {
				chosen = append(chosen, quote(label))
			}
			if len(all) < maxOptions {
				all = append(all, quote(label))
			}
		}
	}
	walk(i, 0)
	var t strings.Builder
	if len(chosen) > 0 {
		t.WriteString(": " + strings.Join(chosen, ", "))
	}
	if total > 0 {
		t.WriteString(" of " + strings.Join(all, " | "))
		if total > len(all) {
			t.WriteString(" | …")
		}
	}
	return t.String()
}
