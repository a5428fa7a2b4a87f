package chaos

import (
	"slices"

	"holdfast/messages"
)

var targetMethods = map[string]method{
	"Target.setDiscoverTargets":    {on: onAny, needs: []string{"discover:bool"}, run: setDiscoverTargets},
	"Target.setAutoAttach":         {on: onAny, where: onAttach, needs: []string{"autoAttach:bool", "waitForDebuggerOnStart:bool"}, run: setAutoAttach},
	"Target.getTargets":            {on: onAny, run: getTargets},
	"Target.getTargetInfo":         {on: onAny, run: getTargetInfo},
	"Target.attachToTarget":        {on: onAny, needs: []string{"targetId:string"}, run: attachToTarget},
	"Target.attachToBrowserTarget": {on: onBrowser, run: attachToBrowserTarget},
	"Target.detachFromTarget":      {on: onAny, run: detachFromTarget},
	"Target.createTarget":          {on: onBrowser, needs: []string{"url:string"}, run: createTarget},
	"Target.closeTarget":           {on: onAny, needs: []string{"targetId:string"}, run: closeTarget},
	"Target.activateTarget":        {on: onAny, needs: []string{"targetId:string"}, run: activateTarget},
	"Target.createBrowserContext":  {on: onBrowser, run: createBrowserContext},
	"Target.disposeBrowserContext": {on: onBrowser, needs: []string{"browserContextId:string"}, run: disposeBrowserContext},
	"Target.getBrowserContexts": {on: onBrowser, run: func(c *call) {
		c.reply(struct {
			IDs     []string `json:"browserContextIds"`
			Default string   `json:"defaultBrowserContextId"`
		}{append([]string{}, c.b.contexts...), c.b.context})
	}},
}

func setDiscoverTargets(c *call) {
	var p struct {
		Discover bool `json:"discover"`
	}
	c.bind(&p)
	if p.Discover && !c.s.isDiscovering {
		for _, t := range c.b.targets {
			c.s.send("Target.targetCreated", infoParams{c.b.info(t)})
		}
	}
	c.s.isDiscovering = p.Discover
	c.ok()
}

// defaultFilter is what auto-attach without a filter takes on a browser
// session (C27).
var defaultFilter = []filterEntry{{Type: "browser", Exclude: true}, {Type: "tab", Exclude: true}, {}}

func setAutoAttach(c *call) {
	var p struct {
		AutoAttach             bool `json:"autoAttach"`
		WaitForDebuggerOnStart bool `json:"waitForDebuggerOnStart"`
		Flatten                bool `json:"flatten"`
		Filter                 *[]filterEntry
	}
	c.bind(&p)
	root := c.s.target == nil
	if root && !p.Flatten {
		c.fail(codeInvalidParams, "Only flatten protocol is supported with browser level auto-attach")
		return
	}
	filter := defaultFilter
	if p.Filter != nil {
		filter = *p.Filter
	}
	a := autoAttach{isOn: p.AutoAttach, mustWait: p.WaitForDebuggerOnStart, filter: filter}
	if a.wants("tab") && a.wants(kindPage) {
		c.fail(codeInvalidParams, `Filter should not simultaneously allow "tab" and "page", page targets are attached via tab targets`)
		return
	}
	c.s.auto = a
	if !a.isOn {
		c.b.sessions(func(s *session) {
			if s.owner == c.s && s.isAuto {
				c.b.detach(s, false)
			}
		})
		c.ok()
		return
	}
	for _, t := range append([]*target(nil), c.b.targets...) {
		if c.s.canSee(t) && a.wants(t.kind) && !c.b.isAttachedBy(c.s, t) {
			c.b.attach(c.s, t, true, false)
		}
	}
	c.ok()
}

func getTargets(c *call) {
	infos := []targetInfo{}
	for _, t := range c.b.targets {
		infos = append(infos, c.b.info(t))
	}
	c.reply(struct {
		Infos []targetInfo `json:"targetInfos"`
	}{infos})
}

func getTargetInfo(c *call) {
	t, ok := c.named()
	switch {
	case !ok:
		c.fail(codeInvalidParams, textNoTarget)
	case t != nil:
		c.reply(infoParams{c.b.info(t)})
	case c.s.target != nil:
		c.reply(infoParams{c.b.info(c.s.target)})
	default:
		c.reply(infoParams{targetInfo{TargetID: messages.TargetID(c.b.guid), Type: "browser", Attached: true}})
	}
}

// named returns the target that the command names; nil, true when it names
// none.
func (c *call) named() (t *target, ok bool) {
	var p struct{ TargetID *messages.TargetID }
	c.bind(&p)
	if p.TargetID == nil {
		return nil, true
	}
	t = c.b.target(*p.TargetID)
	return t, t != nil
}

type sessionParams struct {
	SessionID messages.SessionID `json:"sessionId"`
}

func attachToTarget(c *call) {
	t, ok := c.named()
	if !ok {
		c.fail(codeInvalidParams, textNoTarget)
		return
	}
	s := c.b.attach(c.s, t, false, false)
	c.reply(sessionParams{s.id})
}

// attachToBrowserTarget gives a client a browser session of its own (C57).
func attachToBrowserTarget(c *call) {
	s := &session{id: messages.SessionID(c.b.ids.token()), conn: c.s.conn, owner: c.s}
	c.s.conn.sessions = append(c.s.conn.sessions, s)
	c.s.send("Target.attachedToTarget", attachedParams{
		s.id, targetInfo{TargetID: messages.TargetID(c.b.guid), Type: "browser", Attached: true}, false,
	})
	c.reply(sessionParams{s.id})
}

func detachFromTarget(c *call) {
	var p sessionParams
	c.bind(&p)
	s := c.s.conn.session(p.SessionID)
	if s == nil || s.owner != c.s {
		c.fail(codeInvalidParams, "No session with given id")
		return
	}
	if s.target == nil {
		c.s.send("Target.detachedFromTarget", detachedParams{s.id, messages.TargetID(c.b.guid)})
		c.b.forget(s)
	} else {
		c.b.detach(s, false)
	}
	c.ok()
}

func createTarget(c *call) {
	var p struct {
		URL        string
		Background bool   `json:"background"`
		NewWindow  bool   `json:"newWindow"`
		Context    string `json:"browserContextId"`
	}
	c.bind(&p)
	if p.Context != "" && !slices.Contains(c.b.contexts, p.Context) {
		c.fail(codeServer, "Failed to find browser context with id "+p.Context)
		return
	}
	t := c.b.addPage(p.URL, pageOptions{isForeground: !p.Background, isHeld: true, context: p.Context})
	c.reply(targetIDParams{t.id})
	if t.start == nil {
		t.root.title = p.URL
		c.b.tellNavigated(t)
		return
	}
	// The document is not held, even where a client waits (C30).
	start := t.start
	t.start = nil
	start()
}

func closeTarget(c *call) {
	t, ok := c.named()
	if !ok || t.kind != kindPage {
		c.fail(codeInvalidParams, textNoTarget)
		return
	}
	// Closing removes the frames first: what one of another process asks becomes
	// poison on the way (C15).
	foreign := func(d *Dialog) bool { return d.frame.target != t }
	if len(t.sessions) > 0 && (t.page.isPoisoned() || slices.ContainsFunc(t.page.dialogs, foreign)) {
		c.b.die()
		return
	}
	c.reply(struct {
		Success bool `json:"success"`
	}{true})
	t.isClosing = true
	c.b.closePage(t.page)
}

func activateTarget(c *call) {
	t, ok := c.named()
	if !ok {
		c.fail(codeInvalidParams, textNoTarget)
		return
	}
	c.b.foreground(t.page)
	c.ok()
}
