package chaos

import (
	"slices"
	"strconv"
)

var pageMethods = map[string]method{
	"Inspector.enable": {on: onTarget, run: func(c *call) {
		c.s.isInspectorOn = true
		if c.s.target.proc.isCrashed {
			c.s.send("Inspector.targetCrashed", empty{})
		}
		c.ok()
	}},
	"Inspector.disable": {on: onTarget, run: func(c *call) { c.s.isInspectorOn = false; c.ok() }},

	// The browser's half is enabled at once, whatever the renderer does (C22).
	"Page.enable": {
		on: onTarget, where: inRenderer,
		early: func(c *call) { c.s.isPageInBrowser = true },
		run:   func(c *call) { c.s.isPageInRenderer = true; c.ok() },
	},
	"Page.disable": {
		on: onTarget, where: inRenderer,
		early: func(c *call) {
			if c.s.leavesDoomed() {
				c.b.die()
			}
			c.s.disablePage()
		},
		run: func(c *call) { c.s.isPageInRenderer = false; c.ok() },
	},
	"Page.getFrameTree": {on: onTarget, where: inRenderer, run: func(c *call) {
		c.reply(struct {
			Tree frameTree `json:"frameTree"`
		}{c.s.target.root.tree()})
	}},
	"Page.setLifecycleEventsEnabled": {on: onTarget, where: inRenderer, needs: []string{"enabled:bool"}, run: setLifecycle},
	"Page.addScriptToEvaluateOnNewDocument": {on: onTarget, where: inRenderer, needs: []string{"source:string"}, run: func(c *call) {
		id := c.addScript()
		c.runImmediately()
		c.reply(struct {
			ID string `json:"identifier"`
		}{id})
	}},
	"Page.removeScriptToEvaluateOnNewDocument": {on: onTarget, where: inRenderer, needs: []string{"identifier:string"}, run: func(c *call) {
		var p struct{ Identifier string }
		c.bind(&p)
		i := slices.IndexFunc(c.s.scripts, func(s script) bool { return s.id == p.Identifier })
		if i < 0 {
			c.fail(codeServer, "Script not found")
			return
		}
		c.s.scripts = slices.Delete(c.s.scripts, i, i+1)
		c.ok()
	}},
	"Page.createIsolatedWorld": {on: onTarget, where: inRenderer, needs: []string{"frameId:string"}, run: func(c *call) {
		c.s.target.proc.contexts++
		c.reply(struct {
			ID int `json:"executionContextId"`
		}{c.s.target.proc.contexts})
	}},
	"Page.setBypassCSP":                  {on: onTarget, where: inRenderer, run: (*call).ok},
	"Page.setInterceptFileChooserDialog": {on: onTarget, where: inRenderer, run: (*call).ok},
	"Page.captureScreenshot":             {on: onTarget, where: inRenderer, run: captureScreenshot},
	"Page.getLayoutMetrics":              {on: onTarget, where: inRenderer, run: (*call).ok},
	"Page.bringToFront":                  {on: onTarget, run: func(c *call) { c.b.foreground(c.s.target.page); c.ok() }},
	"Page.stopLoading":                   {on: onTarget, run: active((*call).ok)},
	"Page.setDownloadBehavior":           {on: onTarget, run: (*call).ok},
	"Page.startScreencast":               {on: onTarget, run: (*call).ok},
	"Page.stopScreencast":                {on: onTarget, run: (*call).ok},
	"Page.getNavigationHistory":          {on: onTarget, run: active(getNavigationHistory)},
	"Page.navigateToHistoryEntry":        {on: onTarget, needs: []string{"entryId:int"}, run: active(navigateToHistoryEntry)},
	"Page.navigate":                      {on: onTarget, needs: []string{"url:string"}, run: pageNavigate},
	"Page.reload":                        {on: onTarget, run: active(pageReload)},
	"Page.close":                         {on: onTarget, run: active(pageClose)},
	"Page.crash":                         {on: onTarget, where: inRenderer, run: pageCrash},
	"Page.handleJavaScriptDialog":        {on: onTarget, needs: []string{"accept:bool"}, run: handleDialog},
}

// addScript returns the identifier: the highest there is, and one.
func (c *call) addScript() (id string) {
	var p struct{ Source string }
	c.bind(&p)
	last := 0
	if n := len(c.s.scripts); n > 0 {
		last = atoi(c.s.scripts[n-1].id)
	}
	id = strconv.Itoa(last + 1)
	c.s.scripts = append(c.s.scripts, script{id, p.Source})
	return id
}

// runImmediately runs a script in the documents that are there.
func (c *call) runImmediately() {
	var p struct {
		Source         string
		RunImmediately bool `json:"runImmediately"`
	}
	c.bind(&p)
	if p.RunImmediately {
		c.s.target.root.local(func(f *frame) {
			if f.context != 0 {
				c.b.inject(f, p.Source)
			}
		})
	}
}

// disablePage also gives up the right to answer: Page.disable under a dialog
// orphans it (C17).
func (s *session) disablePage() { s.isPageInBrowser = false }

func setLifecycle(c *call) {
	var p struct{ Enabled bool }
	c.bind(&p)
	c.s.isLifecycleOn = p.Enabled
	if p.Enabled {
		c.s.target.root.local(func(f *frame) {
			for _, name := range []string{"commit", "DOMContentLoaded", "load", "networkAlmostIdle", "networkIdle"} {
				c.s.send("Page.lifecycleEvent", lifecycleParams{f.id, f.loader, name, c.b.ids.timestamp()})
			}
		})
	}
	c.ok()
}

// pixel is a transparent PNG.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// captureScreenshot never answers for a background tab that does not believe
// itself in front (section 3).
func captureScreenshot(c *call) {
	var p struct{ FromSurface *bool }
	c.bind(&p)
	if c.b.front != c.s.target.page && !c.s.isFocusEmulated && (p.FromSurface == nil || *p.FromSurface) {
		return
	}
	c.reply(struct {
		Data string `json:"data"`
	}{pixel})
}

func getNavigationHistory(c *call) {
	p := c.s.target.page
	if c.refuseStranded() {
		return
	}
	history := p.history
	if len(history) == 0 {
		history = []historyEntry{{TransitionType: "link"}} // no document has been committed
	}
	c.reply(struct {
		Current int            `json:"currentIndex"`
		Entries []historyEntry `json:"entries"`
	}{p.current, history})
}

// refuseStranded fails a command for a page that is between two documents.
func (c *call) refuseStranded() bool {
	if c.s.target.page.isStranded {
		c.fail(codeServer, textNotActive)
	}
	return c.s.target.page.isStranded
}

func pageNavigate(c *call) {
	var p struct{ URL string }
	c.bind(&p)
	if !isReachable(p.URL) {
		c.fail(codeServer, "Cannot navigate to invalid URL")
		return
	}
	f := c.s.target.root
	if f.page.isStranded {
		return // another process has no say any more
	}
	if f.parent != nil {
		loader := c.b.announce(f, p.URL, "differentDocument")
		c.reply(navigateResult{FrameID: f.id, LoaderID: loader})
		c.b.load(f, p.URL, loader, "Navigation")
		return
	}
	if f.page.isAsking() {
		return // nothing moves before the open beforeunload is answered (C20)
	}
	c.b.navigate(f.page, p.URL, func(loader, failure string) {
		c.reply(navigateResult{FrameID: f.id, LoaderID: loader, ErrorText: failure})
	})
}

func pageReload(c *call) {
	if c.refuseStranded() {
		return
	}
	if c.s.target.page.isAsking() {
		c.ok()
		return
	}
	c.b.reload(c.s.target.page, c.ok)
}

func pageClose(c *call) {
	p := c.s.target.page
	if p.isPoisoned() || p.hasForeignDialog() {
		c.b.die()
		return
	}
	c.ok()
	if p.isAsking() {
		return
	}
	c.b.leave(p, func() {}, func() { c.b.closePage(p) })
}

// isAsking says whether a beforeunload dialog is open.
func (p *page) isAsking() bool {
	for _, d := range p.dialogs {
		if d.kind == BeforeUnload {
			return true
		}
	}
	return false
}

// pageCrash has no reply until the page lives again, and then it is an error.
// Under a dialog it hangs like everything else (M4).
func pageCrash(c *call) {
	if c.s.target.page.hasForeignDialog() {
		c.b.die() // (C60)
		return
	}
	p := c.s.target.proc
	p.work = append(p.work, work{call: c})
	c.b.crash(p)
}

func handleDialog(c *call) {
	if c.s.target.parent != nil {
		c.fail(codeServer, "Command can only be executed on top-level targets")
		return
	}
	var p struct {
		Accept     bool `json:"accept"`
		PromptText string
	}
	c.bind(&p)
	if c.refuseStranded() {
		return
	}
	if c.refuseInactive() {
		return
	}
	d := c.s.target.page.pending(c.s)
	if d == nil {
		c.fail(codeInvalidParams, textNoDialog)
		return
	}
	if d.isPoisoned {
		c.b.die()
		return
	}
	c.b.closeDialog(d, DialogResult{
		IsAccepted: p.Accept, Text: p.PromptText, By: ClosedByAnswer, Session: c.s.id, Conn: c.s.conn.number, Host: c.s.conn.host,
	})
	c.ok()
	c.b.settle(d)
}
