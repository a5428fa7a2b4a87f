package facts_test

import (
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
)

// Rule: the Storage domain's commands over cookies run on the browser's session, and name the context.
// On a page's session they would give one task the cookies of others.
func TestC68_StorageCookiesOnAPagesSessionAreThoseOfTheDefaultContext(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	context := chromiumtest.Field(c.Must("", "Target.createBrowserContext", nil), "browserContextId")
	p := c.NewPage(site.URL("http://a.test/plain"))
	other := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": "about:blank", "browserContextId": context}), "targetId")
	session := c.Attach(other)
	cookie := func(name string) params {
		return params{"cookies": []params{{"name": name, "value": "v", "domain": "a.test", "path": "/"}}}
	}
	c.Must(p.Session, "Network.setCookies", cookie("ofdefault"))
	c.Must(session, "Network.setCookies", cookie("ofcontext"))
	has := func(session, method string, with params) string {
		got := string(c.Must(session, method, with))
		var names []string
		for _, name := range []string{"ofdefault", "ofcontext"} {
			if strings.Contains(got, name) {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	want(t, "Network.getAllCookies in the context", has(session, "Network.getAllCookies", nil), "ofcontext")
	want(t, "Storage.getCookies in the context", has(session, "Storage.getCookies", nil), "ofdefault")
	want(t, "Storage.getCookies of the browser", has("", "Storage.getCookies", params{"browserContextId": context}), "ofcontext")
	_, err := c.Call(session, "Storage.getCookies", params{"browserContextId": context})
	want(t, "that names its context", err != nil && strings.Contains(err.Error(), "only allowed for Browser target"), true)
}
