package chaos

import (
	"slices"
	"strings"
	"time"

	"holdfast/messages"
)

// coming is the next document of a page, once the browser has given the page to it: the
// renderer has only to put it in the place of the old one, which it cannot do while that
// asks. So what the old one asks is doomed (C58).
type coming struct{ commit func() }

// comes is how long a renderer takes for that when it is free.
const comes = 5 * time.Millisecond

const textInactive = "Not attached to an active page"

// OpenDoomedDialog has a script of a page's main frame send it to url, of the same site.
// The script raises a dialog once the browser has given the page to that document. nil
// means that there is no such page, or that its scripts cannot do so: they hang, are held,
// or ask over a bridge.
func (b *Browser) OpenDoomedDialog(id messages.TargetID, url string, kind DialogType, message, defaultPrompt string) (d *Dialog) {
	b.withTarget(id, func(t *target) {
		f, p := t.root, t.page
		if t.kind != kindPage || t.start != nil || t.proc.pause != nil || t.proc.isBlocking(inRenderer) || b.areScriptsHeld(t.proc) ||
			p.coming != nil || len(p.dialogs) > 0 || len(f.bridges) > 0 || site(url) == "" || site(url) != t.proc.site {
			return
		}
		t.each(isPageInRenderer, "Page.frameRequestedNavigation", requestedParams{f.id, "scriptInitiated", url, "currentTab"})
		loader, doc := b.announce(f, url, "differentDocument"), b.options.Load(url)
		p.coming = &coming{func() { b.commitPage(f, url, loader, "Navigation", doc) }}
		d = b.openDialog(f, kind, message, defaultPrompt)
		b.letCome(p)
	})
	return d
}

// letCome has the document that a page waits for come, unless something asks.
func (b *Browser) letCome(p *page) {
	c := p.coming
	if c == nil {
		return
	}
	time.AfterFunc(comes, func() {
		b.do(func() {
			if !b.isDead && p.coming == c && len(p.dialogs) == 0 && b.frame(p.main.id) == p.main {
				b.come(p)
			}
		})
	})
}

// come ends a page's wait for its next document.
func (b *Browser) come(p *page) {
	if c := p.coming; c != nil {
		p.coming = nil
		c.commit()
	}
}

// leavesDoomed says whether the end of s, or of its Page domain, is the end of the
// browser: it could have answered a dialog that no session can.
func (s *session) leavesDoomed() bool {
	return s.isPageInBrowser && s.target != nil && s.target.page.coming != nil &&
		slices.ContainsFunc(s.target.page.dialogs, func(d *Dialog) bool { return slices.Contains(d.audience, s) })
}

// refuseInactive refuses what needs the page's active document, where it has none.
func (c *call) refuseInactive() bool {
	if c.s.target.page.coming == nil || c.s.target.parent != nil {
		return false
	}
	c.fail(codeServer, textInactive)
	return true
}

// active is a method that needs the page's active document.
func active(run func(*call)) func(*call) {
	return func(c *call) {
		if !c.refuseInactive() {
			run(c)
		}
	}
}

// hasForeignDialog says whether a frame of another process asks: the browser does not
// survive a Page.close or Page.crash then (C60).
func (p *page) hasForeignDialog() bool {
	return slices.ContainsFunc(p.dialogs, func(d *Dialog) bool { return d.frame.target != p.target })
}

func navigateToHistoryEntry(c *call) {
	var p struct{ EntryID int }
	c.bind(&p)
	page := c.s.target.page
	for _, e := range page.history {
		if e.ID == p.EntryID {
			c.ok()
			c.b.navigate(page, e.URL, func(string, string) {})
			return
		}
	}
	c.fail(codeInvalidParams, "No entry with passed id")
}

// isRefusedScheme says whether an address is of a scheme that Chrome hands to no program, so
// that a navigation there ends without a document.
func isRefusedScheme(url string) bool { return strings.HasPrefix(url, "hcp:") }
