package metrics

// OrphansReaped counts browsers of an earlier node that were ended.
func (m *Metrics) OrphansReaped(n int) {
	if c, ok := m.orphans.at(key{}); ok {
		c.Add(float64(n))
	}
}

// BrowserExited counts the end of a launched browser, in one of the ways of
// internal/browser.
func (m *Metrics) BrowserExited(how string) { m.browserEnds.inc(how) }
