package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"holdfast/messages"
)

// pageTools are about tabs, and where they are.
var pageTools = []Tool{
	define[navigate, navigated](Tool{
		Name: "browser_navigate", Title: "Navigate", Group: "pages", IsCore: true,
		Description: "Go to a URL and wait until it has loaded. Returns at once when a dialog opens.",
		Hints:       messages.ToolHints{OpenWorld: true},
	}, runNavigate),
	define[tabsInput, tabList](Tool{
		Name: "browser_tabs", Title: "Tabs", Group: "pages", IsCore: true,
		Description: "List, open, select or close tabs. Ids are stable. A new tab opens in the background: pass its id as tab, or select it to make it main.",
		Hints:       messages.ToolHints{OpenWorld: true, Destructive: true},
	}, runTabs),
}

type navigate struct {
	on
	Snapshot  bool    `json:"snapshot,omitempty" jsonschema:"add what the page shows"`
	URL       string  `json:"url" jsonschema:"address; https is assumed"`
	WaitUntil string  `json:"wait_until,omitempty" enum:"commit|domcontentloaded|load|networkidle0|networkidle2" jsonschema:"default load"`
	TimeoutS  float64 `json:"timeout_s,omitempty" jsonschema:"1 to 300, default 30"`
}

type navigated struct {
	URL      string `json:"url"`
	Download bool   `json:"download,omitempty"`
}

type tabsInput struct {
	on
	Action string `json:"action" enum:"list|new|select|close"`
	TabID  string `json:"tab_id,omitempty" jsonschema:"for select and close"`
	URL    string `json:"url,omitempty" jsonschema:"for new"`
	Name   string `json:"name,omitempty" maxlen:"64" jsonschema:"name to give to the tab"`
	Match  string `json:"match,omitempty" maxlen:"1000" jsonschema:"for select: part of the address or title"`
	// Viewport is nil where nothing is said: the tab keeps what it has.
	Viewport *viewport `json:"viewport,omitempty" jsonschema:"size for new and select"`
}

type tabState struct {
	TabID     string             `json:"tab_id"`
	Name      string             `json:"name,omitempty"`
	Names     []string           `json:"names,omitempty"` // all, where it has several
	TargetID  messages.TargetID  `json:"target_id"`
	URL       string             `json:"url"`
	Title     string             `json:"title"`
	PageState messages.PageState `json:"page_state"`
}

type tabList struct {
	Tabs []tabState `json:"tabs"`
	// TabID is the tab that was opened, selected or closed.
	TabID string `json:"tab_id,omitempty"`
}

// clampTimeout keeps a timeout to what it may be (T3); 0 is the default.
func clampTimeout(s float64) float64 {
	if s == 0 {
		return 0
	}
	return min(max(s, 1), messages.MaxCallTimeout.Seconds())
}

// hasScheme says that an address begins with a scheme, such as https:.
var hasScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(?:[^0-9]|$)`)

func runNavigate(ctx context.Context, c *call, in navigate) (outcome, error) {
	if in.URL != "" && !hasScheme.MatchString(in.URL) {
		in.URL = "https://" + in.URL
	}
	text, err := goTo(ctx, c, messages.NavigateRequest{URL: in.URL, WaitUntil: messages.WaitUntil(in.WaitUntil), TimeoutS: clampTimeout(in.TimeoutS)})
	if err != nil {
		return outcome{}, err
	}
	out := outcome{text: text, data: navigated{URL: c.went.URL, Download: c.went.Download}, isOfPage: true}
	if c.went.Download {
		c.downloaded(ctx, &out)
	}
	c.lookAfter(ctx, &out, acting{Snapshot: in.Snapshot}, false)
	return out, nil
}

// goTo sends the tab of the call to an address, and says where it is.
func goTo(ctx context.Context, c *call, r messages.NavigateRequest) (string, error) {
	snap, err := c.snapshot()
	if err != nil {
		return "", err
	}
	if len(snap.Pages) > 0 || c.tabName != "" {
		if r.TargetID, err = c.page(); err != nil {
			return "", err
		}
	}
	if err := r.Validate(); err != nil {
		return "", err
	}
	res, err := c.node.Navigate(ctx, c.task, r)
	if err != nil {
		return "", err
	}
	c.target, res.URL = res.TargetID, cut(res.URL, maxShownURL)
	c.went = res
	if res.Download {
		return "The address is a download; the page stays where it was.", nil
	}
	return "Opened " + res.URL, nil
}

func runTabs(ctx context.Context, c *call, in tabsInput) (outcome, error) {
	in.TabID = cmp.Or(in.TabID, in.Tab)
	if in.Name != "" && strings.HasPrefix(in.Name, "t") && strings.Trim(in.Name[1:], "0123456789") == "" && len(in.Name) > 1 {
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "name must not look like the id of a tab")
	}
	var text, id string
	var err error
	switch in.Action {
	case "new":
		text, id, err = c.newTab(ctx, in)
	case "select":
		text, id, err = c.selectTab(in)
	case "close":
		text, id, err = c.closeTab(ctx, in)
	}
	if err == nil && in.Viewport != nil {
		err = c.resize(ctx, in)
	}
	if err != nil {
		return outcome{text: text}, err
	}
	snap, err := c.snapshot()
	if err != nil {
		return outcome{text: text}, err
	}
	data := tabList{Tabs: tabStates(c.memory.tabs(snap)), TabID: id}
	var b strings.Builder
	if text != "" {
		b.WriteString(text + "\n")
	}
	if in.Action == "list" || in.Action == "close" {
		writeTabs(&b, data.Tabs)
	}
	return outcome{text: strings.TrimSpace(b.String()), data: data, isOfPage: true}, nil
}

func (c *call) newTab(ctx context.Context, in tabsInput) (text, id string, err error) {
	params, err := json.Marshal(map[string]any{"url": "about:blank", "background": true})
	if err != nil {
		return "", "", err
	}
	res, err := c.node.CDP(ctx, c.task, messages.CDPRequest{Method: "Target.createTarget", Params: params})
	if err != nil {
		return "", "", err
	}
	var made struct {
		TargetID messages.TargetID `json:"targetId"`
	}
	if err := json.Unmarshal(res.Result, &made); err != nil {
		return "", "", messages.Errorf(messages.CodeCDPError, "the browser's answer to Target.createTarget cannot be read")
	}
	if err := c.awaitPage(ctx, made.TargetID); err != nil {
		return "", "", err
	}
	snap, err := c.snapshot()
	if err != nil {
		return "", "", err
	}
	c.target, id = made.TargetID, c.memory.tabs(snap).idOf(made.TargetID)
	c.tabName = id
	text = "Opened tab " + id + "."
	if in.Name != "" {
		if err := c.memory.name(in.Name, made.TargetID); err != nil {
			return text, id, err
		}
	}
	if in.URL != "" {
		if !hasScheme.MatchString(in.URL) {
			in.URL = "https://" + in.URL
		}
		went, err := goTo(ctx, c, messages.NavigateRequest{URL: in.URL})
		if err != nil {
			return text, id, err
		}
		text += " " + went
	}
	return text, id, nil
}

// awaitPage waits until the task has a page.
func (c *call) awaitPage(ctx context.Context, target messages.TargetID) error {
	events, err := c.node.Watch(ctx, c.task, 0, false)
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		snap, err := c.snapshot()
		if err != nil {
			return err
		}
		for _, p := range snap.Pages {
			if p.TargetID == target {
				return nil
			}
		}
		if _, err := events.Next(ctx); err != nil {
			if err == io.EOF { //nolint:errorlint // the stream's own word for its end
				return messages.Errorf(messages.CodeUpstreamUnavailable, "the task ended before the tab was open")
			}
			return err
		}
	}
}

func (c *call) selectTab(in tabsInput) (text, id string, err error) {
	if in.Match != "" {
		if in.TabID != "" {
			return "", "", messages.Errorf(messages.CodeInvalidArgument, "give tab_id or match")
		}
		found, err := c.matching(in.Match)
		if err != nil {
			return "", "", err
		}
		in.TabID = string(found)
	}
	target, id, err := c.namedTab(in)
	if err != nil {
		return "", "", err
	}
	name := cmp.Or(in.Name, mainTab)
	if err := c.memory.name(name, target); err != nil {
		return "", "", err
	}
	c.target = target
	return fmt.Sprintf("Tab %s is %s now.", id, name), id, nil
}

func (c *call) closeTab(ctx context.Context, in tabsInput) (text, id string, err error) {
	target, id, err := c.namedTab(in)
	if err != nil {
		return "", "", err
	}
	params, err := json.Marshal(map[string]any{"targetId": target})
	if err != nil {
		return "", "", err
	}
	if _, err := c.node.CDP(ctx, c.task, messages.CDPRequest{Method: "Target.closeTarget", Params: params}); err != nil {
		return "", "", err
	}
	return "Closed tab " + id + ".", id, nil
}

func (c *call) namedTab(in tabsInput) (target messages.TargetID, id string, err error) {
	c.tabName = in.TabID
	if target, err = c.page(); err != nil {
		return "", "", err
	}
	c.target = "" // the tab may be gone by the end
	snap, err := c.snapshot()
	if err != nil {
		return "", "", err
	}
	return target, c.memory.tabs(snap).idOf(target), nil
}

func tabStates(all tabs) []tabState {
	out := []tabState{}
	for _, one := range all.list {
		p := one.page
		state := tabState{
			TabID: one.id, Name: all.nameOf(p.TargetID), TargetID: p.TargetID, URL: cut(p.URL, maxShownURL), Title: cut(p.Title, maxShownTitle), PageState: p.PageState,
		}
		if names := all.namesOf(p.TargetID); len(names) > 1 {
			state.Names = names
		}
		out = append(out, state)
	}
	return out
}

// maxListed bounds the tabs that a text lists; the data has all.
const maxListed = 50

func writeTabs(b *strings.Builder, list []tabState) {
	for i, t := range list {
		if i == maxListed {
			fmt.Fprintf(b, "- %d more\n", len(list)-i)
			break
		}
		name, state := "", ""
		if t.Name != "" {
			name = " (" + t.Name + ")"
		}
		if t.PageState != messages.PageOK {
			state = " [" + string(t.PageState) + "]"
		}
		fmt.Fprintf(b, "- %s%s%s %q %s\n", t.TabID, name, state, cut(t.Title, 100), cut(t.URL, 200))
	}
	if len(list) == 0 {
		b.WriteString("No tabs.\n")
	}
}
