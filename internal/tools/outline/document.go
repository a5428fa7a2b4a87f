package outline

import (
	"errors"
	"strings"

	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
)

// Styles are the computed styles that a capture has to ask for, in this order.
var Styles = []string{"visibility", "-webkit-text-security"}

// MaxNodes bounds the nodes of one capture; the rest is left out.
const MaxNodes = 400_000

// Document is one document of a capture. It is not changed by this package once it is read.
type Document struct {
	// FrameID is CDP's id of the frame.
	FrameID string
	// URL and Title are the page's own words.
	URL, Title string
	// Frames are the documents of frames in this one, by the node of the element that holds
	// each. Those of other processes are added by the caller.
	Frames map[int64]*Document

	nodes []node
	ids   map[string]int32 // by the attribute id; made when it is first asked for
	fors  map[string]int32 // labels by the attribute for
	work  int              // the nodes that may still be looked at for names, so that the whole stays linear
}

// spend takes some of what may be looked at for one name.
func (d *Document) spend() (left int) {
	return min(maxVisited, d.work)
}

// node is one node of a document.
type node struct {
	backend     int64
	name        string // in lower case for elements of HTML
	value       string
	attributes  []string // names and values by turns
	input       string   // the value of a field
	first, next int32    // first child and next sibling; 0 is none
	parent      int32
	kind        uint8
	flags       flags
}

type flags uint16

const (
	isClickable flags = 1 << iota
	isChecked
	isSelected
	hasLayout
	isHidden // visibility
	isMasked // text-security
	isAgents // below a shadow root of the browser's own
	hasInput
)

func (n *node) has(f flags) bool { return n.flags&f != 0 }

// attribute returns an attribute's value; "" where there is none.
func (n *node) attribute(name string) string {
	v, _ := n.lookup(name)
	return v
}

func (n *node) lookup(name string) (string, bool) {
	for i := 0; i+1 < len(n.attributes); i += 2 {
		if n.attributes[i] == name {
			return n.attributes[i+1], true
		}
	}
	return "", false
}

// The kinds of nodes that matter.
const (
	kindElement  = 1
	kindText     = 3
	kindDocument = 9
	kindFragment = 11
)

type sparse struct {
	Index []int `json:"index"`
	Value []int `json:"value"`
}

type capture struct {
	Documents []struct {
		URL     int `json:"documentURL"`
		Title   int `json:"title"`
		FrameID int `json:"frameId"`
		Nodes   struct {
			Parent     []int   `json:"parentIndex"`
			Type       []int   `json:"nodeType"`
			Shadow     sparse  `json:"shadowRootType"`
			Name       []int   `json:"nodeName"`
			Value      []int   `json:"nodeValue"`
			Backend    []int64 `json:"backendNodeId"`
			Attributes [][]int `json:"attributes"`
			Text       sparse  `json:"textValue"`
			Input      sparse  `json:"inputValue"`
			Checked    sparse  `json:"inputChecked"`
			Selected   sparse  `json:"optionSelected"`
			Content    sparse  `json:"contentDocumentIndex"`
			Clickable  sparse  `json:"isClickable"`
		} `json:"nodes"`
		Layout struct {
			Node   []int   `json:"nodeIndex"`
			Styles [][]int `json:"styles"`
		} `json:"layout"`
	} `json:"documents"`
	Strings []string `json:"strings"`
}

func (c *capture) text(i int) string {
	if i < 0 || i >= len(c.Strings) {
		return ""
	}
	return c.Strings[i]
}

var errNoDocument = errors.New("outline: the capture has no document")

// Decode reads the result of DOMSnapshot.captureSnapshot, asked for with [Styles], and returns
// the document of the main frame with those of its frames in it. What is out of place in the
// bytes is left out; the error says that nothing is left.
func Decode(raw []byte) (*Document, error) {
	var c capture
	if err := jsonv2.Unmarshal(raw, &c); err != nil {
		return nil, errors.New("outline: the capture cannot be read")
	}
	if len(c.Documents) == 0 {
		return nil, errNoDocument
	}
	docs := make([]*Document, len(c.Documents))
	left := MaxNodes
	for i := range c.Documents {
		docs[i] = c.document(i, left)
		left -= len(docs[i].nodes)
	}
	isIn := make([]bool, len(docs))
	isIn[0] = true
	for i := range c.Documents {
		content := c.Documents[i].Nodes.Content
		for j := range min(len(content.Index), len(content.Value)) {
			owner, child := content.Index[j], content.Value[j]
			// A document is in one frame, and its parent stands before it: no ring can be.
			if owner <= 0 || owner >= len(docs[i].nodes) || child <= i || child >= len(docs) || isIn[child] {
				continue
			}
			isIn[child] = true
			docs[i].Frames[docs[i].nodes[owner].backend] = docs[child]
		}
	}
	return docs[0], nil
}

// document reads one document, at most so many nodes of it.
func (c *capture) document(i, most int) *Document {
	in := &c.Documents[i]
	d := &Document{FrameID: c.text(in.FrameID), URL: c.text(in.URL), Title: c.text(in.Title), Frames: map[int64]*Document{}}
	n := max(0, min(most, len(in.Nodes.Parent), len(in.Nodes.Type), len(in.Nodes.Name), len(in.Nodes.Backend)))
	d.nodes, d.work = make([]node, n), 32*n+10_000
	last := make([]int32, n) // the newest child of each
	for j := range n {
		x := &d.nodes[j]
		x.kind, x.backend = uint8(in.Nodes.Type[j]), in.Nodes.Backend[j]
		x.name = c.text(in.Nodes.Name[j])
		if x.kind == kindElement {
			x.name = strings.ToLower(x.name)
		}
		if j < len(in.Nodes.Value) && x.kind == kindText {
			x.value = c.text(in.Nodes.Value[j])
		}
		if j < len(in.Nodes.Attributes) {
			for _, a := range in.Nodes.Attributes[j] {
				x.attributes = append(x.attributes, c.text(a))
			}
		}
		// A parent stands before its children; what does not is left out.
		if p := in.Nodes.Parent[j]; p >= 0 && p < j {
			x.parent = int32(p)
			if last[p] == 0 {
				d.nodes[p].first = int32(j)
			} else {
				d.nodes[last[p]].next = int32(j)
			}
			last[p] = int32(j)
		}
	}
	d.mark(in.Nodes.Checked.Index, isChecked)
	d.mark(in.Nodes.Selected.Index, isSelected)
	d.mark(in.Nodes.Clickable.Index, isClickable)
	d.mark(in.Layout.Node, hasLayout)
	for j, styles := range in.Layout.Styles {
		if j >= len(in.Layout.Node) {
			break
		}
		at := in.Layout.Node[j : j+1]
		if len(styles) > 0 {
			if v := c.text(styles[0]); v == "hidden" || v == "collapse" {
				d.mark(at, isHidden)
			}
		}
		if len(styles) > 1 {
			if v := c.text(styles[1]); v != "" && v != "none" {
				d.mark(at, isMasked)
			}
		}
	}
	c.values(d, in.Nodes.Text)
	c.values(d, in.Nodes.Input)
	for j := range min(len(in.Nodes.Shadow.Index), len(in.Nodes.Shadow.Value)) {
		if c.text(in.Nodes.Shadow.Value[j]) == "user-agent" {
			d.mark(in.Nodes.Shadow.Index[j:j+1], isAgents)
		}
	}
	return d
}

func (d *Document) mark(at []int, f flags) {
	for _, i := range at {
		if i >= 0 && i < len(d.nodes) {
			d.nodes[i].flags |= f
		}
	}
}

// values takes the values of fields. That of a secret one is not read at all.
func (c *capture) values(d *Document, s sparse) {
	for j := range min(len(s.Index), len(s.Value)) {
		if i := s.Index[j]; i >= 0 && i < len(d.nodes) && !d.nodes[i].isSecret() {
			d.nodes[i].input = c.text(s.Value[j])
			d.nodes[i].flags |= hasInput
		}
	}
}

// isSecret says that a field is for a password or a code, be it shown in plain or not.
func (n *node) isSecret() bool {
	if n.has(isMasked) || n.name == "input" && strings.EqualFold(n.attribute("type"), "password") {
		return true
	}
	hint := strings.ToLower(n.attribute("autocomplete"))
	return strings.Contains(hint, "password") || strings.Contains(hint, "one-time-code") || strings.Contains(hint, "cc-csc")
}
