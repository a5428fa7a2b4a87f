package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"

	"holdfast/messages"
)

// application is a browser of another kind than the task's own (T7): an application that the node
// launches, or a browser that it connects to.
type application struct {
	Path   string   `json:"path,omitempty"`
	Args   []string `json:"args,omitempty"`
	CDPURL string   `json:"cdp_url,omitempty"`
	Target string   `json:"target,omitempty"`
}

// appOf reads what a call says of the browser it means.
func appOf(given any) (a application, err error) {
	if given == nil {
		return a, nil
	}
	raw, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	switch {
	case err != nil:
		return a, messages.Errorf(messages.CodeInvalidArgument, "app has path, args, cdp_url and target")
	case (a.Path == "") == (a.CDPURL == ""):
		return a, messages.Errorf(messages.CodeInvalidArgument, "app: give path or cdp_url")
	case len(a.Args) > 0 && a.Path == "":
		return a, messages.Errorf(messages.CodeInvalidArgument, "app: args go with path")
	}
	return a, nil
}

func (a application) isOwn() bool { return a.Path == "" && a.CDPURL == "" }

// hasPages says that the page is one that the browser has already, and not to be opened.
func (a application) hasPages() bool { return a.Path != "" || a.Target != "" }

// opening is the input of browser_task_open for it.
func (a application) opening() map[string]any {
	in := map[string]any{}
	if a.Target != "" {
		in["match"] = a.Target
	}
	if a.Path != "" {
		in["app"] = a.Path
		if len(a.Args) > 0 {
			in["app_args"] = a.Args
		}
		return in
	}
	in["cdp_url"] = a.CDPURL
	if a.Target != "" {
		in["scope"] = messages.ScopeBrowser
	}
	return in
}

// kinds are the browsers of one client: each is a task of its own, named after the client's. It
// ends with its last tab (T14).
type kinds struct {
	ask  asking
	base messages.TaskID
}

// The marks of tasks by their kind: of an application, of a connected browser, and of a page that
// a connected browser had already, which is never closed.
const (
	markApp       = "app-"
	markConnected = "cdp-"
	markTaken     = "page-"
)

var kindText = regexp.MustCompile(`^:(app|cdp|page)-[0-9a-f]{12}$`)

// taskOf is the task of a kind of browser.
func (k kinds) taskOf(a application) messages.TaskID {
	mark := markConnected
	switch {
	case a.isOwn():
		return k.base
	case a.Path != "":
		mark, a.Target = markApp, ""
	case a.Target != "":
		mark = markTaken
	}
	text, _ := json.Marshal(a) // texts alone
	sum := sha256.Sum256(text)
	return k.base + ":" + messages.TaskID(mark+hex.EncodeToString(sum[:6]))
}

// others are the tasks of the client beside its own.
func (k kinds) others() (out []messages.TaskID) {
	res, err := k.ask("browser_task_list", map[string]any{"task": k.base})
	if err != nil {
		return nil
	}
	data, _ := res.Data.(map[string]any)
	list, _ := data["tasks"].([]any)
	for _, one := range list {
		fields, _ := one.(map[string]any)
		id, _ := fields["task_id"].(string)
		if len(id) > len(k.base) && id[:len(k.base)] == string(k.base) && kindText.MatchString(id[len(k.base):]) {
			out = append(out, messages.TaskID(id))
		}
	}
	slices.Sort(out)
	return out
}

// holder is the task that has the tab; the client's own where none has.
func (k kinds) holder(name string) messages.TaskID {
	others := k.others()
	if len(others) == 0 || k.has(k.base, name) {
		return k.base
	}
	for _, id := range others {
		if k.has(id, name) {
			return id
		}
	}
	return k.base
}

// name is what a task calls a client's tab. A task has a main of its own, which is the client's in
// the client's own task alone.
func (k kinds) name(id messages.TaskID, name string) string {
	if name == "main" && id != k.base {
		return "main tab"
	}
	return name
}

// has says whether a task that runs has a tab of that name. The client's own has a main from its
// start, which is none until the client has gone somewhere.
func (k kinds) has(id messages.TaskID, name string) bool {
	status, err := k.ask("browser_task_status", map[string]any{"task": id})
	if err != nil || status.Error != nil {
		return false
	}
	tab := tabOf(status, k.name(id, name))
	return tab != nil && (name != "main" || tab["url"] != "about:blank")
}

// close closes a tab, and with its last one a browser that is not the client's own.
func (k kinds) close(name string, given, in map[string]any) (string, error) {
	if given["all"] == true {
		for _, id := range k.others() {
			if _, err := k.ask("browser_task_stop", map[string]any{"task": id}); err != nil {
				return "", err
			}
		}
		in["task"] = k.base
		return "browser_task_stop", nil
	}
	id := k.holder(name)
	in["task"] = id
	if id != k.base && (given["kill"] == true || k.isLast(id)) {
		return "browser_task_stop", nil
	}
	in["action"], in["tab_id"] = "close", k.name(id, name)
	return "browser_tabs", nil
}

// isLast says whether the task ends with one of its tabs.
func (k kinds) isLast(id messages.TaskID) bool {
	if id[len(k.base):][1:1+len(markTaken)] == markTaken {
		return true
	}
	status, err := k.ask("browser_task_status", map[string]any{"task": id})
	if err != nil {
		return false
	}
	data, _ := status.Data.(map[string]any)
	tabs, _ := data["tabs"].([]any)
	return len(tabs) <= 1
}
