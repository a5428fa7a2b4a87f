package outline

import (
	"strings"
	"unicode"
)

// The lengths to which texts of a page are cut, in bytes.
const (
	maxName  = 200
	maxValue = 300
	maxText  = 1000
	// maxVisited bounds the nodes that are looked at for one name.
	maxVisited = 2000
)

// clean puts a text of a page on one line and cuts it: runs of space are one space, and what
// cannot be seen is left out, so that no page can change how a line reads.
func clean(s string, most int) string {
	if len(s) > 4*most {
		s = s[:4*most]
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		if b.Len() >= most {
			b.WriteString("…")
			break
		}
	}
	return b.String()
}

// quote puts a text that was cleaned into quotes.
func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
}

// index makes the maps by id and by label, once.
func (d *Document) index() {
	if d.ids != nil {
		return
	}
	d.ids, d.fors = map[string]int32{}, map[string]int32{}
	for i := range d.nodes {
		n := &d.nodes[i]
		if id := n.attribute("id"); id != "" {
			if _, ok := d.ids[id]; !ok {
				d.ids[id] = int32(i)
			}
		}
		if n.name == "label" {
			if f := n.attribute("for"); f != "" {
				d.fors[f] = int32(i)
			}
		}
	}
}

// nameOf is the accessible name of an element with a role; cleaned.
func (d *Document) nameOf(i int32, role string) string {
	n := &d.nodes[i]
	if by := n.attribute("aria-labelledby"); by != "" {
		d.index()
		var parts []string
		for k, id := range strings.Fields(by) {
			if at, ok := d.ids[id]; ok && k < 8 {
				parts = append(parts, d.textOf(at, i))
			}
		}
		if name := clean(strings.Join(parts, " "), maxName); name != "" {
			return name
		}
	}
	if name := clean(n.attribute("aria-label"), maxName); name != "" {
		return name
	}
	if name := d.native(i, role); name != "" {
		return name
	}
	if byContent[role] {
		if name := clean(d.textOf(i, i), maxName); name != "" {
			return name
		}
	}
	if name := clean(n.attribute("title"), maxName); name != "" {
		return name
	}
	return clean(n.attribute("placeholder"), maxName)
}

// native is the name that HTML itself gives.
func (d *Document) native(i int32, role string) string {
	n := &d.nodes[i]
	switch n.name {
	case "input", "textarea", "select", "meter", "progress":
		if role == "button" {
			switch v := clean(n.attribute("value"), maxName); {
			case v != "":
				return v
			case n.attribute("type") == "image":
				return clean(n.attribute("alt"), maxName)
			case strings.EqualFold(n.attribute("type"), "submit"):
				return "Submit"
			case strings.EqualFold(n.attribute("type"), "reset"):
				return "Reset"
			}
			return ""
		}
		if id := n.attribute("id"); id != "" {
			d.index()
			if label, ok := d.fors[id]; ok {
				if name := clean(d.textOf(label, i), maxName); name != "" {
					return name
				}
			}
		}
		for p, depth := n.parent, 0; p > 0 && depth < 32; p, depth = d.nodes[p].parent, depth+1 {
			if d.nodes[p].name == "label" {
				return clean(d.textOf(p, i), maxName)
			}
		}
	case "img", "area":
		return clean(n.attribute("alt"), maxName)
	case "fieldset", "figure", "table", "svg", "details":
		want := map[string]string{"fieldset": "legend", "figure": "figcaption", "table": "caption", "svg": "title", "details": "summary"}[n.name]
		for c := n.first; c != 0; c = d.nodes[c].next {
			if d.nodes[c].name == want {
				return clean(d.textOf(c, i), maxName)
			}
		}
	}
	return ""
}

// textOf is the text below a node, without the field that is being named.
func (d *Document) textOf(i, except int32) string {
	var b strings.Builder
	left := d.spend()
	had := left
	d.gather(&b, i, except, &left, 0)
	d.work -= had - left
	return b.String()
}

func (d *Document) gather(b *strings.Builder, i, except int32, left *int, depth int) {
	if *left--; *left < 0 || b.Len() > 4*maxText || depth > maxDepth {
		return
	}
	n := &d.nodes[i]
	switch n.kind {
	case kindText:
		if n.has(hasLayout) && !n.has(isHidden) || d.nodes[n.parent].name == "option" || d.nodes[n.parent].name == "title" {
			b.WriteString(n.value)
		}
		return
	case kindElement:
		switch n.name {
		case "script", "style", "noscript", "template":
			return
		}
		if depth > 0 {
			if i == except || n.attribute("aria-hidden") == "true" {
				return
			}
			if label := n.attribute("aria-label"); label != "" {
				b.WriteString(" " + label + " ")
				return
			}
			switch n.name {
			case "img":
				b.WriteString(" " + n.attribute("alt") + " ")
				return
			case "input", "select", "textarea":
				return
			case "br":
				b.WriteString(" ")
			}
		}
	}
	if n.has(isAgents) {
		return
	}
	isBlock := n.kind == kindElement && !inline[n.name]
	if isBlock {
		b.WriteString(" ")
	}
	for c := n.first; c != 0; c = d.nodes[c].next {
		d.gather(b, c, except, left, depth+1)
	}
	if isBlock {
		b.WriteString(" ")
	}
}

// inline are elements that do not set their text apart.
var inline = map[string]bool{
	"span": true, "b": true, "i": true, "em": true, "strong": true, "a": true, "small": true, "sub": true, "sup": true, "u": true, "s": true, "code": true,
	"mark": true, "q": true, "abbr": true, "cite": true, "font": true, "kbd": true, "var": true, "time": true, "data": true, "bdi": true, "bdo": true, "wbr": true,
}
