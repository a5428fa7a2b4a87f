package outline

import (
	"strconv"
	"strings"
)

// maxDepth bounds how deep a document is followed, and maxIndent how deep its lines stand.
const (
	maxDepth  = 512
	maxIndent = 16
	maxFrames = 8 // levels of frames in frames
)

// Refs gives each element that can be acted on its number. The number of one element stays.
type Refs func(d *Document, backend int64, role, name string) int

// Options say what an outline has.
type Options struct {
	// IsFull gives each element with a role a line, and links their addresses.
	IsFull bool
}

// Line is one line of an outline.
type Line struct {
	// Depth is the indent, Text the rest.
	Depth int
	Text  string
	// IsInteractive marks what can be acted on, and IsHead what leads to it: headings, dialogs.
	IsInteractive, IsHead bool
}

// Outline is a page as lines.
type Outline struct{ Lines []Line }

type builder struct {
	refs Refs
	opts Options
	out  []Line
	text strings.Builder // text that has no line yet
	at   int             // its depth
}

// Build writes a document with its frames.
func Build(d *Document, refs Refs, o Options) *Outline {
	b := &builder{refs: refs, opts: o}
	b.document(d, 0, 0)
	return &Outline{b.out}
}

func (b *builder) document(d *Document, depth, level int) {
	if len(d.nodes) > 0 {
		b.children(d, 0, depth, level, 0)
	}
	b.flush()
}

func (b *builder) children(d *Document, i int32, depth, level, deep int) {
	if deep > maxDepth || d.nodes[i].has(isAgents) {
		return
	}
	for c := d.nodes[i].first; c != 0; c = d.nodes[c].next {
		b.node(d, c, depth, level, deep+1)
	}
}

// flush gives the text that was gathered a line.
func (b *builder) flush() {
	if b.text.Len() == 0 {
		return
	}
	said := clean(b.text.String(), maxText)
	b.text.Reset()
	if said != "" {
		b.out = append(b.out, Line{Depth: min(b.at, maxIndent), Text: "text " + quote(said)})
	}
}

func (b *builder) line(depth int, text string, isInteractive, isHead bool) {
	b.flush()
	b.out = append(b.out, Line{min(depth, maxIndent), text, isInteractive, isHead})
}

func (b *builder) say(depth int, text string) {
	if b.at != depth {
		b.flush()
	}
	b.at = depth
	if b.text.Len() < 4*maxText {
		b.text.WriteString(text)
	}
}

func (b *builder) node(d *Document, i int32, depth, level, deep int) {
	n := &d.nodes[i]
	switch n.kind {
	case kindText:
		if n.has(hasLayout) && !n.has(isHidden) {
			b.say(depth, n.value)
		}
		return
	case kindElement:
	default:
		b.children(d, i, depth, level, deep)
		return
	}
	switch n.name {
	case "script", "style", "noscript", "template", "head":
		return
	}
	if _, isInert := n.lookup("inert"); isInert || n.attribute("aria-hidden") == "true" {
		return
	}
	b.element(d, i, depth, level, deep)
}

func (b *builder) element(d *Document, i int32, depth, level, deep int) {
	n := &d.nodes[i]
	role := d.role(i)
	isShown := n.has(hasLayout) && !n.has(isHidden)
	if !inline[n.name] {
		b.flush()
	}
	switch {
	case role == "iframe" && isShown:
		b.frame(d, i, depth, level)
	case isShown && interactive[role]:
		b.control(d, i, role, depth, level, deep)
	case isShown && role == "" && b.isClickableAlone(d, i):
		b.control(d, i, "clickable", depth, level, deep)
	case isShown && role == "heading":
		b.line(depth, "heading "+headingLevel(n)+" "+quote(d.nameOf(i, role)), false, true)
		b.inside(d, i, depth+1, level, deep)
	case isShown && role == "row":
		b.row(d, i, depth, level, deep)
	case isShown && role == "img":
		if name := d.nameOf(i, role); name != "" {
			b.line(depth, "img "+quote(name)+b.full(d, i, role, name), false, false)
		}
	case isShown && (role == "progressbar" || role == "meter"):
		b.line(depth, strings.TrimSpace(role+" "+quoted(d.nameOf(i, role))+" "+n.attribute("value")+n.attribute("aria-valuenow")), false, false)
	case isShown && landmarks[role]:
		b.landmark(d, i, role, depth, level, deep)
	default:
		if b.opts.IsFull && isShown && (role == "list" || role == "listitem") {
			b.line(depth, role, false, false)
			depth++
		}
		b.children(d, i, depth, level, deep)
	}
	if !inline[n.name] {
		b.flush()
	}
}

func headingLevel(n *node) string {
	if l := clean(n.attribute("aria-level"), 2); l != "" {
		return l
	}
	if len(n.name) == 2 && n.name[0] == 'h' {
		return n.name[1:]
	}
	return "2"
}

func (b *builder) landmark(d *Document, i int32, role string, depth, level, deep int) {
	name := d.nameOf(i, role)
	if byName[role] && name == "" && !b.opts.IsFull {
		b.children(d, i, depth, level, deep)
		return
	}
	b.line(depth, strings.TrimSpace(role+" "+quoted(name)), false, role == "dialog" || role == "alertdialog" || role == "alert")
	b.children(d, i, depth+1, level, deep)
	b.flush()
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return quote(s)
}

// full is the ref of an element that cannot be acted on, where everything is asked for.
func (b *builder) full(d *Document, i int32, role, name string) string {
	if !b.opts.IsFull {
		return ""
	}
	return b.ref(d, i, role, name)
}

func (b *builder) ref(d *Document, i int32, role, name string) string {
	return " [e" + strconv.Itoa(b.refs(d, d.nodes[i].backend, role, name)) + "]"
}

// isClickableAlone says that an element without a role takes clicks, or the focus, and holds
// nothing that does.
func (b *builder) isClickableAlone(d *Document, i int32) bool {
	n := &d.nodes[i]
	switch n.name {
	case "html", "body", "label":
		return false
	}
	tab, hasTab := n.lookup("tabindex")
	if !n.has(isClickable) && (!hasTab || strings.HasPrefix(tab, "-")) {
		return false
	}
	return !d.hasControl(i)
}

// hasControl says whether something below the node can be acted on.
func (d *Document) hasControl(i int32) bool {
	left := d.spend()
	had := left
	found := d.hasControlBelow(i, &left, 0)
	d.work -= had - left
	return found
}

// hasControlBelow says whether something below the node can be acted on, as far as is looked.
func (d *Document) hasControlBelow(i int32, left *int, depth int) bool {
	for c := d.nodes[i].first; c != 0; c = d.nodes[c].next {
		if *left--; *left < 0 || depth > maxDepth {
			return true
		}
		n := &d.nodes[c]
		if n.kind == kindElement && n.has(hasLayout) && (interactive[d.role(c)] || n.has(isClickable)) || d.hasControlBelow(c, left, depth+1) {
			return true
		}
	}
	return false
}

// inside writes what can be acted on below a node whose text is said already.
func (b *builder) inside(d *Document, i int32, depth, level, deep int) {
	if !d.hasControl(i) {
		return
	}
	from := len(b.out)
	b.children(d, i, depth, level, deep)
	b.flush()
	kept := b.out[:from]
	for _, l := range b.out[from:] {
		if !strings.HasPrefix(l.Text, "text ") {
			kept = append(kept, l)
		}
	}
	b.out = kept
}

// row writes the text of a row on one line, and what can be acted on below it.
func (b *builder) row(d *Document, i int32, depth, level, deep int) {
	var cells []string
	for c := d.nodes[i].first; c != 0 && len(cells) < 100; c = d.nodes[c].next {
		if d.nodes[c].kind == kindElement && d.nodes[c].has(hasLayout) {
			if s := clean(d.textOf(c, c), maxName); s != "" {
				cells = append(cells, s)
			}
		}
	}
	if len(cells) > 0 {
		b.line(depth, "row "+quote(clean(strings.Join(cells, " | "), maxText)), false, false)
		depth++
	}
	b.inside(d, i, depth, level, deep)
}

func (b *builder) frame(d *Document, i int32, depth, level int) {
	n := &d.nodes[i]
	name := d.nameOf(i, "iframe")
	text := strings.TrimSpace("iframe "+quoted(name)) + b.ref(d, i, "iframe", name)
	child := d.Frames[n.backend]
	if child == nil || level >= maxFrames {
		b.line(depth, text+" (not shown)", false, true)
		return
	}
	b.line(depth, text, false, true)
	b.document(child, depth+1, level+1)
}
