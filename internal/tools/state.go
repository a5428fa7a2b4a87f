package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"holdfast/internal/artifact"
	"holdfast/internal/run"
	"holdfast/messages"
)

// stateTools save what a browser knows of a person, and bring it back (X25).
var stateTools = []Tool{
	define[stateInput, stateOutput](Tool{
		Name: "browser_state", Title: "Save or restore state", Group: "tasks",
		Description: "Export the cookies of the task, and the local storage of its open pages, into an encrypted artifact; import one, also into a new browser or another task, which is then logged in as before. Shows no values.",
		Hints:       messages.ToolHints{Destructive: true},
	}, runState),
}

type stateInput struct {
	on
	Action     string `json:"action" enum:"export|import"`
	ArtifactID string `json:"artifact_id,omitempty" jsonschema:"for import"`
	From       string `json:"from,omitempty" jsonschema:"task whose artifact it is; default: this one"`
}

type stateOutput struct {
	Cookies int      `json:"cookies"`
	Origins []string `json:"origins"`
	// Unread are the tabs whose storage could not be read, as they did not answer.
	Unread []string `json:"unread,omitempty"`
}

// savedState is the content of an artifact of kind state: Playwright's storage state, with cookies
// as CDP has them.
type savedState struct {
	Cookies []map[string]any `json:"cookies"`
	Origins []storedOrigin   `json:"origins"`
}

type storedOrigin struct {
	Origin string       `json:"origin"`
	Items  []storedItem `json:"localStorage"`
}

type storedItem struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// The bounds of a state, in bytes and counts.
const (
	maxState       = 8 << 20
	maxCookies     = 10_000
	maxOrigins     = 100
	storageTimeout = 60 * time.Second
)

// readStorage runs in each frame. A frame without an origin of its own has no storage.
const readStorage = `(() => { try { return { origin: location.origin, localStorage: Object.entries(localStorage).map(([name, value]) => ({ name, value })) } } catch { return null } })()`

// writeStorage is a script beside the page: it opens each origin with an empty document, which no
// server has sent, so that nothing of the page runs.
const writeStorage = `
const other = await browser.newPage();
try {
	await other.setRequestInterception(true);
	other.on("request", (r) => r.respond({ status: 200, contentType: "text/html", body: "" }));
	for (const { origin, localStorage: items } of saved) {
		await other.goto(origin + "/", { waitUntil: "domcontentloaded" });
		await other.evaluate((items) => { for (const { name, value } of items) localStorage.setItem(name, value) }, items);
	}
} finally {
	await other.close();
}`

func runState(ctx context.Context, c *call, in stateInput) (outcome, error) {
	switch {
	case c.artifacts == nil:
		return outcome{}, messages.Errorf(messages.CodeForbidden, "this node keeps no artifacts")
	case in.Action == "import":
		return c.importState(ctx, in)
	case in.ArtifactID != "" || in.From != "":
		return outcome{}, messages.Errorf(messages.CodeInvalidArgument, "artifact_id and from go with import")
	}
	return c.exportState(ctx)
}

func (c *call) exportState(ctx context.Context) (outcome, error) {
	var state savedState
	if err := c.cdp(ctx, "", "Storage.getCookies", map[string]any{}, &state, quickly); err != nil {
		return outcome{}, err
	}
	if len(state.Cookies) > maxCookies {
		return outcome{}, messages.Errorf(messages.CodeMessageTooLarge, "the task has more than %d cookies", maxCookies)
	}
	for _, cookie := range state.Cookies {
		if cookie["session"] == true {
			delete(cookie, "expires") // -1, which no setter takes
		}
		delete(cookie, "session")
		delete(cookie, "size")
	}
	out := stateOutput{Cookies: len(state.Cookies), Origins: []string{}}
	var err error
	if state.Origins, out.Unread, err = c.storages(ctx); err != nil {
		return outcome{}, err
	}
	for _, o := range state.Origins {
		out.Origins = append(out.Origins, o.Origin)
	}
	raw, err := json.Marshal(state)
	if err != nil {
		return outcome{}, err
	}
	if len(raw) > maxState {
		return outcome{}, messages.Errorf(messages.CodeMessageTooLarge, "the state is longer than %d bytes", maxState)
	}
	kept, err := c.artifacts.PutSealed(c.task, messages.Artifact{Kind: messages.ArtifactSavedState, Name: "state.sealed", MIMEType: "application/octet-stream"}, raw)
	if err != nil {
		return outcome{}, err
	}
	text := fmt.Sprintf("Exported %s and the storage of %s, encrypted, as artifact %s.", plural(out.Cookies, "cookie"), plural(len(out.Origins), "origin"), kept.ArtifactID)
	if len(out.Unread) > 0 {
		text += " Not read, since they did not answer: tabs " + strings.Join(out.Unread, ", ") + "."
	}
	return outcome{text: text, data: out, files: []messages.Artifact{kept}, next: []messages.NextAction{
		c.action("browser_state", "bring it back later", messages.ToolInput{"action": "import", "artifact_id": kept.ArtifactID, "from": c.task}),
	}}, nil
}

// storages reads the local storage of every frame of the task's pages.
func (c *call) storages(ctx context.Context) (out []storedOrigin, unread []string, err error) {
	snap, err := c.snapshot()
	if err != nil {
		return nil, nil, err
	}
	defer func(was messages.TargetID) { c.target = was }(c.target)
	known := map[string]bool{}
	for _, tab := range c.memory.tabs(snap).list {
		c.target = tab.page.TargetID
		places, err := c.framePlaces(ctx, tab.page.TargetID)
		if err != nil {
			unread = append(unread, tab.id)
			continue
		}
		for _, at := range places {
			one, err := c.storageAt(ctx, at)
			switch {
			case err != nil:
				continue // a frame that left
			case one.Origin == "" || known[one.Origin] || len(one.Items) == 0:
				continue
			case messages.SiteOf(one.Origin) != messages.SiteOf(tab.page.URL):
				continue // its storage is a partition of this page's, and no address leads there
			case len(out) >= maxOrigins:
				return nil, nil, messages.Errorf(messages.CodeLimitReached, "the task's pages have more than %d origins", maxOrigins)
			}
			known[one.Origin] = true
			out = append(out, one)
		}
	}
	return out, unread, nil
}

func (c *call) storageAt(ctx context.Context, at place) (out storedOrigin, err error) {
	world, err := c.world(ctx, at)
	if err != nil {
		return out, err
	}
	var got evaluation
	params := map[string]any{"expression": readStorage, "contextId": world, "returnByValue": true}
	if err := c.cdp(ctx, at.session, "Runtime.evaluate", params, &got, quickly); err != nil {
		return out, err
	}
	if err := got.failure(); err != nil {
		return out, err
	}
	if len(got.Result.Value) > maxState {
		return out, nil
	}
	err = json.Unmarshal(got.Result.Value, &out)
	return out, err
}

func (c *call) importState(ctx context.Context, in stateInput) (outcome, error) {
	from := c.task
	if in.From != "" {
		var err error
		if from, err = messages.ParseTaskID(in.From); err != nil {
			return outcome{}, err
		}
		if !c.by.allows(from) {
			return outcome{}, messages.Errorf(messages.CodeForbidden, "the token does not cover task %s", from)
		}
	}
	id, err := artifact.ParseID(in.ArtifactID)
	if err != nil {
		return outcome{}, err
	}
	raw, err := c.artifacts.OpenSealed(from, id)
	if err != nil {
		return outcome{}, err
	}
	state, err := readState(raw)
	if err != nil {
		return outcome{}, err
	}
	if len(state.Origins) > 0 && c.scripts == nil {
		return outcome{}, messages.Errorf(messages.CodeForbidden, "this node runs no scripts, by which local storage is written")
	}
	if err := c.cdp(ctx, "", "Storage.setCookies", map[string]any{"cookies": state.Cookies}, nil, quickly); err != nil {
		return outcome{}, err
	}
	out := stateOutput{Cookies: len(state.Cookies), Origins: []string{}}
	if len(state.Origins) > 0 {
		target, err := c.page()
		if err != nil {
			return outcome{}, err
		}
		code := "const saved = " + string(asJSON(state.Origins)) + ";" + writeStorage
		if _, err := c.scripts.Run(ctx, run.Script{Task: c.task, Target: target, Code: code, Timeout: storageTimeout, Tools: [][2]string{}}); err != nil {
			return outcome{text: "The cookies are set, the storage is not."}, err
		}
	}
	for _, o := range state.Origins {
		out.Origins = append(out.Origins, o.Origin)
	}
	text := fmt.Sprintf("Imported %s and the storage of %s. Pages that are open see it once they load anew.", plural(out.Cookies, "cookie"), plural(len(out.Origins), "origin"))
	return outcome{text: text, data: out, next: []messages.NextAction{c.onPage("browser_evaluate", "load the page anew", messages.ToolInput{"expression": "location.reload()"})}}, nil
}

// readState reads the content of an artifact of kind state. The node has written it itself; it is
// checked all the same, since origins become addresses.
func readState(raw []byte) (savedState, error) {
	var state savedState
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&state); err != nil || len(raw) > maxState || len(state.Cookies) > maxCookies || len(state.Origins) > maxOrigins {
		return savedState{}, messages.Errorf(messages.CodeInvalidArgument, "the artifact is no exported state")
	}
	if state.Cookies == nil {
		state.Cookies = []map[string]any{}
	}
	for _, o := range state.Origins {
		if u, err := url.Parse(o.Origin); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != o.Origin {
			return savedState{}, messages.Errorf(messages.CodeInvalidArgument, "the artifact names %q, which is no origin of the web", cut(o.Origin, 100))
		}
	}
	return state, nil
}
