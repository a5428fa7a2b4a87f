package tools

import (
	"context"
	"fmt"
	"strings"

	"holdfast/internal/tools/outline"
	"holdfast/messages"
)

// The bounds of hints (W18).
const (
	maxAlike  = 3
	listLooks = 10 // at whether the list of a combobox is open
)

// alike is an element that may have been meant.
type alike struct {
	ref  int
	role string
}

// noteAlike notes what a page has in place of an element that was not found: fields, for a tool that
// types, else what has a name like it.
func (c *call) noteAlike(page *captured, name string) {
	number := page.refs(c.memory)
	c.alike = nil
	for _, d := range page.root.All() {
		left := maxAlike - len(c.alike)
		if left == 0 {
			break
		}
		var found []outline.Element
		if c.isTyping() {
			found = d.Editable(left)
		} else {
			found = d.Like(name, left)
		}
		for _, e := range found {
			c.alike = append(c.alike, alike{number(d, e.Backend, e.Role, e.Name), e.Role})
		}
	}
}

// isTyping says that the tool of the call puts texts into fields.
func (c *call) isTyping() bool { return c.name == "browser_type" || c.name == "browser_fill_form" }

// instead are next actions on what may have been meant. None of them types, sends a form, or does
// more than the tool that failed: a field is clicked, which gives it the focus.
func (c *call) instead() (out []messages.NextAction) {
	tool := c.name
	switch {
	case c.isTyping():
		tool = "browser_click"
	case tool != "browser_click" && tool != "browser_hover":
		return nil
	}
	for _, a := range c.alike {
		why := "has a name like it: a " // the name itself is the page's
		if c.isTyping() {
			why = "a field to type into then, by its ref: a "
		}
		out = append(out, c.onPage(tool, why+a.role, messages.ToolInput{"ref": fmt.Sprintf("e%d", a.ref)}))
	}
	return out
}

// isStayingClosed says that the list of a combobox that was clicked does not open.
func (w *witness) isStayingClosed(ctx context.Context) bool {
	for range listLooks {
		if pause(ctx, pollEvery) != nil {
			return false
		}
		var n note
		if w.run(ctx, w.e, noteScript, &n) != nil || !n.IsClosed {
			return false
		}
	}
	return true
}

// matches is what a selector matches.
type matches struct {
	All     int `json:"all"`
	Visible int `json:"visible"`
	// IsFirst says that the element that was taken is the first of all.
	IsFirst bool `json:"is_first"`
	// Texts are those of the first visible ones.
	Texts []string `json:"texts"`
}

// matches looks at what else a selector matches; nil where that is nothing, or is not known.
func (c *call) matches(ctx context.Context, e element, selector string) *matches {
	kind, query := "css", selector
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(selector, "p-"), "xpath/"); ok {
		kind, query = "xpath", rest
	}
	var got matches
	if selector == "" || c.run(ctx, e, matchesScript, &got, kind, query) != nil || got.All < 2 {
		return nil
	}
	got.Texts = got.Texts[:min(len(got.Texts), 8)]
	return &got
}

// tell adds to a result what else a selector matches; to its text where the first match is hidden, and
// the value is of another one.
func (m *matches) tell(out *outcome) {
	if m == nil {
		return
	}
	if data, ok := out.data.(evaluated); ok {
		data.Matches = m
		out.data = data
	}
	if !m.IsFirst && m.Visible > 0 {
		out.text += fmt.Sprintf("\nThe selector matches %d elements, the first is hidden, and %d are visible: this is the first visible one. data.matches has their texts.", m.All, m.Visible)
	}
}
