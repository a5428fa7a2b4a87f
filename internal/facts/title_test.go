package facts_test

import (
	"testing"

	"holdfast/internal/chromiumtest"
)

// Rule: no event tells of a title that a document sets once it is there. The browser
// process knows it and says it when asked, so that is what has to be done.
func TestC66_NoEventTellsOfATitleThatAScriptSets(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	c.Must("", "Target.setDiscoverTargets", params{"discover": true})
	p := c.NewPage(site.URL("http://a.test/plain"))
	title := func() string {
		result := c.Must("", "Target.getTargetInfo", params{"targetId": p.Target})
		return chromiumtest.Field([]byte(chromiumtest.Field(result, "targetInfo")), "title")
	}
	want(t, "the title of the load", title(), "/plain")
	p.Eval(p.Session, "document.title = 'later'")
	for title() != "later" { // ends with the test
	}
	told := func(e chromiumtest.Event) bool {
		return e.Method == "Target.targetInfoChanged" && info(e, "targetId") == p.Target && info(e, "title") == "later"
	}
	want(t, "told of it", c.HasSeen(told, within), false)
}
