package chaos

import "slices"

type browserContextParams struct {
	ID string `json:"browserContextId"`
}

// createBrowserContext makes a context: of its pages cookies and storage are their own.
func createBrowserContext(c *call) {
	id := c.b.ids.token()
	c.b.contexts = append(c.b.contexts, id)
	c.reply(browserContextParams{id})
}

// disposeBrowserContext closes every page of the context, whatever it shows. A page
// with poison, to which a client is attached, takes the browser along (C15).
func disposeBrowserContext(c *call) {
	var p browserContextParams
	c.bind(&p)
	i := slices.Index(c.b.contexts, p.ID)
	if i < 0 {
		c.fail(codeServer, "Failed to find context with id "+p.ID)
		return
	}
	c.b.contexts = slices.Delete(c.b.contexts, i, i+1)
	for _, page := range slices.Clone(c.b.pages) {
		if page.context != p.ID {
			continue
		}
		foreign := func(d *Dialog) bool { return d.frame.target != page.target }
		if len(page.target.sessions) > 0 && (page.isPoisoned() || slices.ContainsFunc(page.dialogs, foreign)) {
			c.b.die()
			return
		}
		page.target.isClosing = true
		c.b.closePage(page)
	}
	c.ok()
}

// Contexts are the browser contexts there are, but for the browser's own.
func (b *Browser) Contexts() (ids []string) {
	b.do(func() { ids = slices.Clone(b.contexts) })
	return ids
}
