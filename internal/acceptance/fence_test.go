package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

// neighbours are two tasks on one browser: s1, whose token the caller has, and s2,
// whose page says secret-of-s2.
func neighbours(t *testing.T, isolation string, change ...func(*node.Config)) (f *front, as func(*http.Request), victim messages.TargetID, browser string) {
	t.Helper()
	change = append(change, func(c *node.Config) {
		c.Egress.CDPHosts, c.Egress.Allow = []string{"127.0.0.1"}, []string{"127.0.0.1"}
	})
	r := setupOn(t, chromiumtest.Launch(t), change...)
	f = r.front()
	as = func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+f.token.ForTask("s1")) }
	browser = r.chrome.Endpoint().Reveal()
	for _, id := range []string{"s1", "s2"} {
		if status, body := f.ask("PUT", "/v1/tasks/"+id, fmt.Sprintf(`{"cdp_url":%q,"scope":"own","isolation":%q}`, browser, isolation)); status != http.StatusCreated {
			t.Fatalf("%d %s", status, body)
		}
	}
	k := &task{r, "s2"}
	k.goTo("http://a.test/plain")
	k.eval("", "document.title = 'secret-of-s2'; document.cookie = 'who=secret-of-s2'; 0")
	return f, as, k.snapshot().PageTargetID, browser
}

// Nothing that the holder of a task's token says gives it another task's page.
func TestSecurity4_AScopeIsNotTheTokensToRaise(t *testing.T) {
	t.Parallel()
	f, as, victim, browser := neighbours(t, "auto")
	for body, want := range map[string]messages.Code{
		fmt.Sprintf(`{"cdp_url":%q,"scope":"browser"}`, browser):                       messages.CodeForbidden,
		fmt.Sprintf(`{"cdp_url":%q,"scope":"target","target_id":%q}`, browser, victim): messages.CodeTargetForeign,
		fmt.Sprintf(`{"target_id":%q}`, victim):                                        messages.CodeTargetForeign,
		`{"scope":"browser"}`:                                                          messages.CodeForbidden,
		`{"isolation":"shared"}`:                                                       messages.CodeForbidden,
		`{"launch":true}`:                                                              messages.CodeForbidden,
		`{"cdp_url":"http://127.0.0.1:1"}`:                                             messages.CodeForbidden,
	} {
		f.refused(http.StatusForbidden, want, "PUT", "/v1/tasks/s1", body, as)
	}
	// Nor with a task that has ended, and starts afresh.
	if status, body := f.ask("DELETE", "/v1/tasks/s1", "", as); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	f.refused(http.StatusForbidden, messages.CodeForbidden, "PUT", "/v1/tasks/s1", fmt.Sprintf(`{"cdp_url":%q,"scope":"browser"}`, strings.Replace(browser, "127.0.0.1", "localhost", 1)), as)
	f.refused(http.StatusForbidden, messages.CodeTargetForeign, "PUT", "/v1/tasks/s1", fmt.Sprintf(`{"cdp_url":%q,"target_id":%q}`, browser, victim), as)
	if status, body := f.ask("PUT", "/v1/tasks/s1", fmt.Sprintf(`{"cdp_url":%q}`, browser), as); status != http.StatusCreated {
		t.Fatalf("a tab of its own: %d %s", status, body)
	}
}

// Under an override, too, a scoped token has tabs of its own alone.
func TestSecurity4_AnOverrideGivesNoBrowserAway(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b, func(c *node.Config) { c.CDPURLOverride = b.Endpoint() })
	f := r.front()
	as := func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+f.token.ForTask("m")) }
	f.refused(http.StatusForbidden, messages.CodeForbidden, "PUT", "/v1/tasks/m", `{"scope":"browser"}`, as)
	f.refused(http.StatusForbidden, messages.CodeForbidden, "PUT", "/v1/tasks/m", `{"target_id":"0123456789ABCDEF0123456789ABCDEF"}`, as)
	if status, body := f.ask("PUT", "/v1/tasks/m", `{}`, as); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
}

// What other tasks of the browser do is not to be read or changed, with contexts or
// without, by the admin's token or the task's.
func TestSecurity6_ASharedBrowserTellsNothingOfOthers(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"context", "shared"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			f, as, _, _ := neighbours(t, isolation)
			for _, method := range []string{
				"Tracing.start", "SystemInfo.getInfo", "SystemInfo.getProcessInfo", "Target.createBrowserContext", "Target.getBrowserContexts",
				"Target.setRemoteLocations", "Tethering.bind", "Browser.crash", "Browser.close", "Browser.getHistograms",
			} {
				for _, c := range []func(*http.Request){as, func(*http.Request) {}} {
					f.refused(http.StatusForbidden, messages.CodeForbidden, "POST", "/v1/tasks/s1/cdp", fmt.Sprintf(`{"method":%q,"params":{}}`, method), c)
				}
			}
			for _, method := range []string{"Network.getAllCookies", "Storage.getCookies"} {
				status, body := f.ask("POST", "/v1/tasks/s1/cdp", fmt.Sprintf(`{"method":%q}`, method), as)
				if strings.Contains(body, "secret-of-s2") || (status == http.StatusOK) != (isolation == "context") {
					t.Errorf("%s: %d %s", method, status, body)
				}
			}
		})
	}
}

// Another task's page and window are not to be had by another spelling.
func TestSecurity7_AnotherSpellingReachesNoPage(t *testing.T) {
	t.Parallel()
	f, as, victim, _ := neighbours(t, "auto")
	own := (&task{f.rig, "s1"}).snapshot().PageTargetID
	for _, params := range []string{
		fmt.Sprintf(`{"targetId":%q}`, victim), fmt.Sprintf(`{"targetId":%q,"TARGETID":%q}`, victim, own),
		fmt.Sprintf(`{"targetId":%q,"targetid":1}`, victim), fmt.Sprintf(`{"targetId":%q,"targetId":%q}`, own, victim),
	} {
		for _, method := range []string{"Target.getTargetInfo", "Target.activateTarget", "Browser.getWindowForTarget", "Target.openDevTools", "Target.getDevToolsTarget", "Target.closeTarget"} {
			status, body := f.ask("POST", "/v1/tasks/s1/cdp", fmt.Sprintf(`{"method":%q,"params":%s}`, method, params), as)
			if status == http.StatusOK || strings.Contains(body, "secret") {
				t.Errorf("%s %s: %d %s", method, params, status, body)
			}
		}
	}
	var window struct {
		ID int `json:"windowId"`
	}
	if err := json.Unmarshal((&task{f.rig, "s2"}).cdp("", "Browser.getWindowForTarget", fmt.Sprintf(`{"targetId":%q}`, victim)), &window); err != nil {
		t.Fatal(err)
	}
	f.refused(http.StatusForbidden, messages.CodeTargetForeign, "POST", "/v1/tasks/s1/cdp",
		fmt.Sprintf(`{"method":"Browser.setWindowBounds","params":{"windowId":%d,"bounds":{"width":333}}}`, window.ID), as)
}
