package outline

import "strings"

// roles are those of elements by their names (HTML-AAM). What is not here is generic.
var roles = map[string]string{
	"button": "button", "summary": "button", "textarea": "textbox", "option": "option", "iframe": "iframe", "frame": "iframe",
	"h1": "heading", "h2": "heading", "h3": "heading", "h4": "heading", "h5": "heading", "h6": "heading",
	"nav": "navigation", "main": "main", "aside": "complementary", "form": "form", "article": "article", "search": "search",
	"ul": "list", "ol": "list", "menu": "list", "li": "listitem", "dl": "list", "dt": "term", "dd": "definition",
	"table": "table", "tr": "row", "td": "cell", "th": "columnheader", "caption": "caption", "dialog": "dialog",
	"p": "paragraph", "progress": "progressbar", "meter": "meter", "details": "group", "fieldset": "group", "figure": "figure",
	"img": "img", "canvas": "canvas", "video": "video", "audio": "audio", "hr": "separator", "blockquote": "blockquote", "output": "status",
}

// inputs are the roles of input elements by their types.
var inputs = map[string]string{
	"button": "button", "submit": "button", "reset": "button", "image": "button", "checkbox": "checkbox", "radio": "radio",
	"range": "slider", "number": "spinbutton", "search": "searchbox", "hidden": "",
	"date": "date", "datetime-local": "datetime", "month": "month", "week": "week", "time": "time", "color": "color", "file": "file",
}

// interactive are the roles of what can be acted on.
var interactive = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true, "listbox": true, "option": true,
	"checkbox": true, "radio": true, "switch": true, "slider": true, "spinbutton": true, "menuitem": true, "menuitemcheckbox": true,
	"menuitemradio": true, "tab": true, "treeitem": true, "date": true, "datetime": true, "month": true, "week": true, "time": true,
	"color": true, "file": true, "canvas": true, "video": true, "audio": true, "gridcell": true, "iframe": true,
}

// byContent are the roles whose name is what they hold.
var byContent = map[string]bool{
	"button": true, "link": true, "heading": true, "option": true, "checkbox": true, "radio": true, "switch": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "tab": true, "treeitem": true, "tooltip": true, "gridcell": true,
}

// landmarks are the roles that get a line of their own for what is below them.
var landmarks = map[string]bool{
	"navigation": true, "main": true, "complementary": true, "form": true, "article": true, "search": true, "dialog": true, "alertdialog": true,
	"alert": true, "status": true, "banner": true, "contentinfo": true, "menu": true, "menubar": true, "tablist": true, "tabpanel": true,
	"toolbar": true, "tree": true, "grid": true, "table": true, "radiogroup": true, "group": true, "region": true, "figure": true, "log": true, "tooltip": true,
}

// byName are landmarks that are worth a line only where they have a name.
var byName = map[string]bool{"form": true, "article": true, "group": true, "region": true, "figure": true, "table": true, "complementary": true, "status": true}

// isKnown says that a role attribute is one that this package has a use for.
func isKnown(role string) bool {
	switch role {
	case "heading", "img", "row", "cell", "columnheader", "rowheader", "list", "listitem", "none", "presentation", "generic", "paragraph", "progressbar", "meter", "separator", "term", "definition":
		return true
	}
	return interactive[role] || landmarks[role]
}

// role returns the role of an element; "" is generic.
func (d *Document) role(i int32) string {
	n := &d.nodes[i]
	for _, r := range strings.Fields(n.attribute("role")) {
		switch r = strings.ToLower(r); {
		case r == "none" || r == "presentation" || r == "generic":
			return ""
		case r == "image":
			return "img"
		case isKnown(r):
			return r
		}
	}
	switch n.name {
	case "a", "area":
		if _, ok := n.lookup("href"); ok {
			return "link"
		}
		return ""
	case "input":
		return n.inputRole()
	case "select":
		_, isMultiple := n.lookup("multiple")
		if size := n.attribute("size"); isMultiple || size != "" && size != "0" && size != "1" {
			return "listbox"
		}
		return "combobox"
	case "img":
		if alt, ok := n.lookup("alt"); ok && alt == "" {
			return ""
		}
		return "img"
	case "svg":
		return "img"
	case "section":
		if n.attribute("aria-label") != "" || n.attribute("aria-labelledby") != "" {
			return "region"
		}
		return ""
	}
	if r := roles[n.name]; r != "" {
		return r
	}
	if n.isEditable() {
		return "textbox"
	}
	return ""
}

func (n *node) inputRole() string {
	role, ok := inputs[strings.ToLower(n.attribute("type"))]
	switch {
	case ok:
		return role
	case n.attribute("list") != "":
		return "combobox"
	}
	return "textbox"
}

// isEditable says that the element is the root of a text that can be edited.
func (n *node) isEditable() bool {
	v, ok := n.lookup("contenteditable")
	return ok && !strings.EqualFold(v, "false") && !strings.EqualFold(v, "inherit")
}

// isDisabled says that the element takes no input.
func (n *node) isDisabled() bool {
	_, ok := n.lookup("disabled")
	switch n.name {
	case "button", "input", "select", "textarea", "option", "fieldset":
		if ok {
			return true
		}
	}
	return n.attribute("aria-disabled") == "true"
}
