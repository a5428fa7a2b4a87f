package chaos

import "strings"

// methods is everything the fake understands. What is not here is answered
// with -32601 in Chrome's words.
var methods = map[string]method{}

func init() {
	for _, table := range []map[string]method{browserMethods, targetMethods, pageMethods, runtimeMethods, debuggerMethods, boxMethods, otherMethods} {
		for name, m := range table {
			methods[name] = m
		}
	}
}

var browserMethods = map[string]method{
	"Browser.getVersion": {on: onAny, run: func(c *call) {
		agent := userAgent
		if c.b.options.IsHeaded {
			agent = strings.Replace(agent, "Headless", "", 1)
		}
		c.reply(struct {
			Protocol string `json:"protocolVersion"`
			Product  string `json:"product"`
			Revision string `json:"revision"`
			Agent    string `json:"userAgent"`
			JS       string `json:"jsVersion"`
		}{"1.3", product, revision, agent, jsVersion})
	}},
	"Browser.close": {on: onAny, run: func(c *call) {
		c.ok()
		c.b.after = append(c.b.after, c.b.Kill)
	}},
	"Browser.crash":               {on: onAny, run: func(c *call) { c.b.die() }},
	"Browser.setDownloadBehavior": {on: onAny, run: (*call).setting},
	"Browser.grantPermissions":    {on: onBrowser, needs: []string{"permissions"}, run: (*call).setting},
	"Browser.resetPermissions":    {on: onBrowser, run: func(c *call) { c.unset("Browser.grantPermissions") }},
}

// otherMethods answer without a model behind them; what matters is where.
var otherMethods = map[string]method{
	"Input.dispatchKeyEvent":      {on: onTarget, where: inputEvent, needs: []string{"type:string"}, run: (*call).ok},
	"Input.dispatchMouseEvent":    {on: onTarget, where: inputEvent, needs: []string{"type:string"}, run: dispatchMouse},
	"Input.insertText":            {on: onTarget, where: inRenderer, needs: []string{"text:string"}, run: (*call).ok},
	"Fetch.enable":                {on: onAny, run: (*call).ok},
	"Fetch.disable":               {on: onAny, run: (*call).ok},
	"Network.enable":              {on: onTarget, where: inRenderer, run: (*call).setting},
	"Network.disable":             {on: onTarget, where: inRenderer, run: func(c *call) { c.unset("Network.") }},
	"Network.setExtraHTTPHeaders": {on: onTarget, where: inRenderer, needs: []string{"headers"}, run: (*call).setting},
	"Network.getCookies":          {on: onTarget, run: replyCookies},
	"Storage.getCookies":          {on: onAny, run: replyCookies},
	"Security.enable":             {on: onTarget, run: (*call).ok},
	"ServiceWorker.enable":        {on: onTarget, run: (*call).ok},
	"Log.enable":                  {on: onTarget, where: inRenderer, run: (*call).ok},
	"DOM.enable":                  {on: onTarget, where: inRenderer, run: (*call).ok},
	"CSS.enable":                  {on: onTarget, where: inRenderer, run: (*call).ok},
	"Overlay.enable":              {on: onTarget, where: inRenderer, run: (*call).ok},
	"Performance.enable":          {on: onTarget, where: inRenderer, run: (*call).ok},
	"Accessibility.enable":        {on: onTarget, where: inRenderer, run: (*call).ok},
	"Emulation.setFocusEmulationEnabled": {on: onTarget, where: inRenderer, needs: []string{"enabled:bool"}, run: func(c *call) {
		var p struct{ Enabled bool }
		c.bind(&p)
		c.s.isFocusEmulated = p.Enabled
		c.ok()
	}},
	"Emulation.setDeviceMetricsOverride": {on: onTarget, where: inRenderer, run: (*call).setting},
	"Emulation.clearDeviceMetricsOverride": {on: onTarget, where: inRenderer, run: func(c *call) {
		c.unset("Emulation.setDeviceMetricsOverride")
	}},
	"Emulation.setLocaleOverride":      {on: onTarget, where: inRenderer, run: exclusive("Another locale override is already in effect")},
	"Emulation.setTimezoneOverride":    {on: onTarget, where: inRenderer, needs: []string{"timezoneId:string"}, run: exclusive("Timezone override is already in effect")},
	"Network.emulateNetworkConditions": {on: onTarget, where: inRenderer, run: (*call).setting},
	"Emulation.setEmulatedMedia":       {on: onTarget, where: inRenderer, run: (*call).setting},
}

// setting is a command whose effect lasts as long as its session.
func (c *call) setting() {
	if c.s.settings == nil {
		c.s.settings = map[string]string{}
	}
	c.s.settings[c.method] = string(c.params)
	c.ok()
}

// exclusive is for one session at a time, in Chrome's words for another.
func exclusive(words string) func(*call) {
	return func(c *call) {
		for _, s := range c.s.target.sessions {
			if _, has := s.settings[c.method]; has && s != c.s {
				c.fail(codeServer, words)
				return
			}
		}
		c.setting()
	}
}

// clearEmulation is the end of a session: what it had emulated is emulated no more
// any more, also where another session has set it since (C61).
func (s *session) clearEmulation(t *target) {
	for method := range s.settings {
		if !strings.HasPrefix(method, "Emulation.") {
			continue
		}
		for _, other := range t.sessions {
			delete(other.settings, method)
		}
	}
}

func (c *call) unset(prefix string) {
	for name := range c.s.settings {
		if strings.HasPrefix(name, prefix) {
			delete(c.s.settings, name)
		}
	}
	c.ok()
}

// dispatchMouse answers unless the tab is in the background (section 3).
func dispatchMouse(c *call) {
	p := c.s.target.page
	if c.b.front != p && len(p.dialogs) == 0 {
		return
	}
	if c.s.target.root.parent == nil && len(p.dialogs) == 0 {
		p.main.isActivated = true
	}
	c.ok()
}

func replyCookies(c *call) {
	c.reply(struct {
		Cookies []empty `json:"cookies"`
	}{[]empty{}})
}
