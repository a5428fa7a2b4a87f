package rawcdp

import (
	"encoding/json"
	"strings"

	"holdfast/messages"
)

// Caller is who runs a command, on what.
type Caller struct {
	// IsScoped says that the token is good for a task or a tenant only.
	IsScoped bool
	// IsShared says that the task's browser may have pages of others: its
	// scope is not browser.
	IsShared bool
	// Context is the browser context of the task's own; "" is none.
	Context string
	// Downloads is the task's own directory for downloads; "" is none. It stands in the
	// place of any that a scoped caller names.
	Downloads string
}

// Ruling is what is to be done about a command that is not refused.
type Ruling struct {
	Decision Decision
	// Params are those to send. Where ids count they are what was read.
	Params json.RawMessage
	// Target, where it is not "", has to be the task's.
	Target messages.TargetID
	// Window, where HasWindow, has to hold a page of the task.
	Window    int64
	HasWindow bool
}

// onBrowser are the domains that only the browser's own session knows whole.
var onBrowser = map[string]bool{"Browser": true, "Target": true, "SystemInfo": true, "Tethering": true}

// IsBrowserLevel says whether the method goes to the browser's own session
// where no page is named.
func IsBrowserLevel(method string) bool {
	domain, _, _ := strings.Cut(method, ".")
	return onBrowser[domain]
}

// Judge says whether the caller may run the method. The error is a
// [*messages.Error] with [messages.CodeForbidden] or [messages.CodeInvalidArgument].
func Judge(method string, raw json.RawMessage, c Caller) (Ruling, error) {
	r := Ruling{Decision: Of(method), Params: raw}
	switch {
	case r.Decision == Kept:
		return r, messages.Errorf(messages.CodeForbidden, "%s is not available: %s", method, kept[method])
	case r.Decision == "" && c.IsScoped:
		return r, messages.Errorf(messages.CodeForbidden, "%s is not available to task and tenant tokens: it is not on the list of what they may run", method)
	case r.Decision == Browser && c.IsShared:
		return r, messages.Errorf(messages.CodeForbidden, "%s would reach beyond the task: it shares the browser", method)
	case (r.Decision == Browser || r.Decision == Machine) && c.IsScoped:
		return r, messages.Errorf(messages.CodeForbidden, "%s is not available to task and tenant tokens: it reaches the whole browser or the machine", method)
	case (r.Decision == Allow || r.Decision == Own) && !IsBrowserLevel(method), r.Decision == Machine:
		return r, nil // not read: it may be 50 MB
	}
	p, err := ReadParams(raw)
	if err != nil {
		return r, err
	}
	if p, err = c.confine(method, r.Decision, p); err != nil {
		return r, err
	}
	if r.Decision != Own {
		r.Target = messages.TargetID(p.ID("targetId"))
	}
	r.Window, r.HasWindow = p.Integer("windowId")
	if len(p.members) > 0 || len(r.Params) > 0 {
		r.Params = p.JSON()
	}
	return r, nil
}

// confine keeps a command within the task's browser context.
func (c Caller) confine(method string, d Decision, p Params) (Params, error) {
	lacks := c.IsShared && c.Context == ""
	switch d {
	case Cookies:
		lacks = lacks && p.Has("urls")
	case Context, Confined, Download:
	default:
		lacks = false
	}
	if lacks {
		return p, messages.Errorf(messages.CodeForbidden,
			"%s would reach beyond the task: it shares the cookies, storage and permissions of the browser; start it with isolation context", method)
	}
	if given := p.ID("browserContextId"); given != "" && c.IsShared && given != c.Context {
		return p, messages.Errorf(messages.CodeForbidden, "%s names a browser context that is not the task's", method)
	}
	switch {
	case c.IsScoped && d == Download && c.Downloads != "":
		if p.Has("downloadPath") || strings.HasPrefix(p.ID("behavior"), "allow") {
			p = p.With("downloadPath", c.Downloads)
		}
		if c.Context != "" && method == "Browser.setDownloadBehavior" {
			p = p.With("browserContextId", c.Context)
		}
	case c.IsScoped && d == Download && p.Has("downloadPath"):
		return p, messages.Errorf(messages.CodeForbidden, "%s: task and tenant tokens name no download directory", method)
	case c.IsScoped && d == Drag && hasFiles(p):
		return p, messages.Errorf(messages.CodeForbidden, "%s: task and tenant tokens drag no files", method)
	case c.Context != "" && d == Context:
		p = p.Without("browserContextId") // a page's session knows its own, and takes none
	case c.Context != "" && (d == Confined || method == "Browser.setDownloadBehavior"):
		p = p.With("browserContextId", c.Context)
	}
	return p, nil
}

// hasFiles says whether the data of a drag names files of the machine, or
// cannot be read. Chrome takes exactly data.files.
func hasFiles(p Params) bool {
	raw, ok := p.get("data")
	if !ok {
		return false
	}
	data, err := ReadParams(raw)
	if err != nil {
		return true
	}
	files, ok := data.get("files")
	var list []json.RawMessage
	return ok && (json.Unmarshal(files, &list) != nil || len(list) > 0)
}
