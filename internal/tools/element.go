package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/tools/outline"
	"holdfast/messages"
)

// pointer names one element: by ref, by selector, or by role and name.
type pointer struct {
	Ref      string `json:"ref,omitempty" jsonschema:"from the snapshot, such as e12"`
	Selector string `json:"selector,omitempty" maxlen:"10000" jsonschema:"CSS, text/…, aria/…, xpath/… or pierce/…"`
	Target   string `json:"target,omitempty" maxlen:"10000" jsonschema:"ref or selector"`
	Role     string `json:"role,omitempty" maxlen:"100" jsonschema:"with name"`
	Name     string `json:"name,omitempty" maxlen:"1000" jsonschema:"accessible name, with role"`
}

// isZero says that nothing is named.
func (p pointer) isZero() bool { return p == pointer{} }

// String is the pointer as results say it.
func (p pointer) String() string {
	switch {
	case p.Ref != "":
		return cut(p.Ref, 50)
	case p.Selector != "" || p.Target != "":
		return cut(p.Selector+p.Target, 200)
	}
	return cut(strings.TrimSpace(fmt.Sprintf("%s %q", p.Role, p.Name)), 200)
}

// element is one element of a page, held for a call.
type element struct {
	place
	object string // CDP's id of it, in a world of our own
	what   string
}

// worldName is the isolated world in which tools run script: a page sees nothing of it, and
// cannot change what it uses.
const worldName = "holdfast"

// quickly bounds one question to a page that answers.
const quickly = 10 * time.Second

// world returns the id of our world in a frame.
func (c *call) world(ctx context.Context, p place) (int64, error) {
	var got struct {
		ID int64 `json:"executionContextId"`
	}
	err := c.cdp(ctx, p.session, "Page.createIsolatedWorld", map[string]any{"frameId": p.frame, "worldName": worldName}, &got, quickly)
	return got.ID, err
}

// element finds what a pointer names. The error is stale_ref where the ref's element is gone,
// and element_not_found where there is none.
func (c *call) element(ctx context.Context, p pointer) (element, error) {
	named := 0
	for _, isNamed := range []bool{p.Ref != "", p.Selector != "", p.Target != "", p.Role != "" || p.Name != ""} {
		if isNamed {
			named++
		}
	}
	if named != 1 {
		return element{}, messages.Errorf(messages.CodeInvalidArgument, "give one of ref, selector, target, or role with name")
	}
	target, err := c.page()
	if err != nil {
		return element{}, err
	}
	if err := c.awaitBusy(ctx, target); err != nil {
		return element{}, err
	}
	if refText.MatchString(p.Target) {
		p.Ref = p.Target
	} else if p.Target != "" {
		p.Selector = p.Target
	}
	switch {
	case p.Ref != "":
		return c.byRef(ctx, p.Ref)
	case p.Selector != "":
		return c.bySelector(ctx, p.Selector)
	}
	return c.byRole(ctx, p.Role, p.Name)
}

func staleRef(text, why string) error {
	return messages.Errorf(messages.CodeStaleRef, "ref %s %s; nothing was done. Take a new snapshot", cut(text, 50), why)
}

// byRef finds the element of a ref. A ref of a document that is gone is refused here, before
// anything is sent to an element (W8).
func (c *call) byRef(ctx context.Context, text string) (element, error) {
	r, ok := c.memory.ref(text)
	if !ok {
		return element{}, staleRef(text, "is of no snapshot of this task")
	}
	target, err := c.page()
	if err != nil {
		return element{}, err
	}
	if r.target != target {
		if c.tabName != "" {
			return element{}, staleRef(text, "is of another tab")
		}
		c.target = r.target // a ref says which tab it means
		if c.stateOf(r.target) == "" {
			return element{}, staleRef(text, "is of a tab that is closed")
		}
	}
	tree, err := c.localFrames(ctx, r.session)
	switch messages.CodeOf(err) {
	case "":
	case messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF:
		return element{}, staleRef(text, "is of a frame that is gone")
	default:
		return element{}, err
	}
	isThere := false
	tree.each("", func(id, _ messages.FrameID, loader string) {
		isThere = isThere || id == r.frame && loader == r.loader
	})
	if !isThere {
		return element{}, staleRef(text, "is of a document that is gone")
	}
	e, err := c.hold(ctx, r.place, r.backend)
	if messages.CodeOf(err) == messages.CodeCDPError {
		return element{}, staleRef(text, "is of an element that is gone")
	}
	e.what = describe(r.role, r.name)
	return e, err
}

func describe(role, name string) string {
	if name == "" {
		return role
	}
	return fmt.Sprintf("%s %q", role, cut(name, 80))
}

// hold gets a node into our world.
func (c *call) hold(ctx context.Context, at place, backend int64) (element, error) {
	world, err := c.world(ctx, at)
	if err != nil {
		return element{}, err
	}
	var got struct {
		Object remote `json:"object"`
	}
	if err := c.cdp(ctx, at.session, "DOM.resolveNode", map[string]any{"backendNodeId": backend, "executionContextId": world}, &got, quickly); err != nil {
		return element{}, err
	}
	return element{place: at, object: got.Object.ObjectID}, nil
}

// run calls a function of ours on an element and decodes what it returns into v.
func (c *call) run(ctx context.Context, e element, function string, v any, args ...any) error {
	list := make([]map[string]any, len(args))
	for i, a := range args {
		list[i] = map[string]any{"value": a}
	}
	var got evaluation
	params := map[string]any{"functionDeclaration": function, "objectId": e.object, "arguments": list, "returnByValue": true, "awaitPromise": true}
	if err := c.cdp(ctx, e.session, "Runtime.callFunctionOn", params, &got, quickly); err != nil {
		return err
	}
	if err := got.failure(); err != nil {
		return err
	}
	if v == nil || len(got.Result.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(got.Result.Value, v); err != nil {
		return messages.Errorf(messages.CodeCDPError, "the page's answer cannot be read")
	}
	return nil
}

// byRole finds the only element, or the first, with a role and a name.
func (c *call) byRole(ctx context.Context, role, name string) (element, error) {
	if e, err := c.queryWith(ctx, mainFrame(c), largeScript, strings.ToLower(role), name); err == nil && e.object != "" {
		e.what = describe(role, name)
		return e, nil
	}
	return c.search(ctx, describe(role, name), name, func(d *outline.Document) (int64, bool) { return d.FindRole(role, name) })
}

// search looks through all frames of the page, the main frame first. Where nothing is found it notes
// what is like the name.
func (c *call) search(ctx context.Context, what, name string, find func(*outline.Document) (int64, bool)) (element, error) {
	page, err := c.capture(ctx)
	if err != nil {
		return element{}, err
	}
	for _, d := range page.root.All() {
		if backend, ok := find(d); ok {
			e, err := c.hold(ctx, page.places[d], backend)
			e.what = what
			return e, err
		}
	}
	c.noteAlike(page, name)
	return element{}, notFound(what)
}

func notFound(what string) error {
	return messages.Errorf(messages.CodeElementNotFound, "the page has no element %s", cut(what, 200))
}

// bySelector finds the first visible element that a selector matches, in any frame.
func (c *call) bySelector(ctx context.Context, selector string) (element, error) {
	kind, query, ok := strings.Cut(strings.TrimPrefix(selector, "p-"), "/")
	switch {
	case !ok || strings.ContainsAny(kind, " .#[>:") || kind == "":
		kind, query = "css", selector
	case kind == "text":
		return c.search(ctx, selector, query, func(d *outline.Document) (int64, bool) { return d.FindText(query) })
	case kind == "aria":
		role := ""
		if i := strings.Index(query, `[role="`); i >= 0 {
			role, query = strings.TrimSuffix(query[i+len(`[role="`):], `"]`), query[:i]
		}
		return c.search(ctx, selector, query, func(d *outline.Document) (int64, bool) { return d.FindRole(role, query) })
	case kind == "xpath", kind == "pierce":
	default:
		return element{}, messages.Errorf(messages.CodeInvalidArgument, "selector: %q is no kind of selector; there are CSS, text/, aria/, xpath/ and pierce/", cut(kind, 40))
	}
	target, err := c.page()
	if err != nil {
		return element{}, err
	}
	places, err := c.framePlaces(ctx, target)
	if err != nil {
		return element{}, err
	}
	for _, at := range places {
		e, err := c.query(ctx, at, kind, query)
		switch messages.CodeOf(err) {
		case "":
			if e.object != "" {
				e.what = selector
				return e, nil
			}
		case messages.CodeScriptError:
			return element{}, messages.Errorf(messages.CodeInvalidArgument, "selector: the browser does not take %s", cut(selector, 200))
		case messages.CodeCDPError, messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF:
			// A frame that came or left meanwhile.
		default:
			return element{}, err
		}
	}
	if c.isTyping() {
		if page, err := c.capture(ctx); err == nil {
			c.noteAlike(page, "")
		}
	}
	return element{}, notFound(selector)
}

// framePlaces are all frames of the page, the main frame first.
func (c *call) framePlaces(ctx context.Context, target messages.TargetID) ([]place, error) {
	snap, err := c.node.Snapshot(c.task, messages.SnapshotOptions{TargetID: target, Full: true})
	if err != nil {
		return nil, err
	}
	var out []place
	for _, s := range sessionsOf(snap) {
		tree, err := c.localFrames(ctx, s)
		if err != nil {
			if s == "" {
				return nil, err
			}
			continue
		}
		tree.each("", func(id, _ messages.FrameID, loader string) { out = append(out, place{target, s, id, loader}) })
	}
	return out, nil
}

// query looks for an element in one frame.
func (c *call) query(ctx context.Context, at place, kind, query string) (element, error) {
	return c.queryWith(ctx, at, queryScript, kind, query)
}

// queryWith has a script of two texts look for it.
func (c *call) queryWith(ctx context.Context, at place, script, first, second string) (element, error) {
	world, err := c.world(ctx, at)
	if err != nil {
		return element{}, err
	}
	var got evaluation
	params := map[string]any{"functionDeclaration": script, "executionContextId": world, "arguments": []map[string]any{{"value": first}, {"value": second}}}
	if err := c.cdp(ctx, at.session, "Runtime.callFunctionOn", params, &got, quickly); err != nil {
		return element{}, err
	}
	if err := got.failure(); err != nil {
		return element{}, err
	}
	return element{place: at, object: got.Result.ObjectID}, nil
}

// mainFrame is the place of the page's main frame; its id is the target's.
func mainFrame(c *call) place {
	target, err := c.page()
	if err != nil {
		return place{}
	}
	return place{target: target, frame: messages.FrameID(target)}
}
