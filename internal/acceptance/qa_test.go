package acceptance_test

import (
	"net/http"
	"slices"
	"strings"

	"holdfast/messages"
)

// checkedPages checks a page that is well, one with a fault of each kind, and one that breaks on the way.
func checkedPages(h *hands) {
	h.site.Handle("/broken", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	address := func(path string) string { return h.site.URL("http://a.test" + path) }
	page := func(path, script string) {
		h.site.Set(path, `<title>shop</title><p>Welcome</p><b hidden>ready</b><button onclick="nothing.at.all">Buy</button><script>
			const ready = () => { document.querySelector('b').hidden = false };`+script+`</script>`)
	}
	page("/well", "ready()")
	page("/throws", "setTimeout(() => { ready(); null.x })")
	page("/logs", "console.error('bad token xoxb-0123456789-abcdefghijkl'); ready()")
	page("/asks", "new PerformanceObserver(l => { if (l.getEntries().some(e => e.name.includes('/broken'))) ready() }).observe({type: 'resource', buffered: true}); fetch('/broken?page')")
	if r := h.use("browser_qa", `{"url":"`+address("/well")+`","texts":["ready"],"selector":"button","steps":[{"tool":"browser_evaluate","input":{"expression":"1"}}]}`); !strings.HasPrefix(r.Text, "1 of 1 steps done\nok text\nok element\nok page_errors\nok console_errors\nok failed_requests") {
		h.Error(r.Text)
	}
	ignored := "of the page before"
	for _, c := range []struct{ path, more, check, want, next string }{
		{"/throws", "", "page_errors", "null", "browser_console_messages"},
		{"/logs", "", "console_errors", "bad token", "browser_console_messages"},
		{"/asks", "", "failed_requests", "500 fetch http", "browser_network_requests"},
		{"/well", `,"texts":["Sold out"],"timeout_s":1`, "text", "Sold out", "browser_snapshot"},
		{"/well", `,"selector":"#none","timeout_s":1`, "element", "#none", "browser_snapshot"},
	} {
		more := c.more
		if more == "" {
			more = `,"texts":["ready"]`
		}
		input := `{"url":"` + address(c.path) + `"` + more + `}`
		if c.check == "page_errors" || c.check == "console_errors" {
			// The task hears of an error beside what the page shows: it is waited for, and the page checked as it is.
			h.use("browser_navigate", `{"url":"`+address(c.path)+`"}`)
			h.await("an error", func(s *messages.Snapshot) bool {
				return slices.ContainsFunc(s.ConsoleErrors, func(e messages.ConsoleError) bool { return strings.Contains(e.Text, c.want) })
			})
			input = `{"ignore":["` + ignored + `"]` + more + `}`
			ignored = c.want
		}
		r := h.try("browser_qa", input)
		if r.OK || r.Code != messages.CodeCheckFailed || r.Error.Details["check"] != c.check || !strings.Contains(r.Text, "FAILED "+c.check+"\n- ") ||
			!strings.Contains(r.Text, c.want) || len(r.NextActions) != 1 || r.NextActions[0].Tool != c.next || strings.Contains(r.Text, "xoxb-0") {
			h.Errorf("%s: %+v", c.path, r)
		}
	}
	// A step that breaks the page is the last, unless every check is wanted; what does not count is named.
	steps := `"steps":[{"tool":"browser_click","input":{"selector":"button"}},{"tool":"browser_wait_for","input":{"time_s":1}},{"tool":"browser_navigate","input":{"url":"` + address("/asks") + `"}}]`
	if r := h.try("browser_qa", `{"url":"`+address("/well")+`",`+steps+`}`); r.Code != messages.CodeCheckFailed || strings.Contains(r.Text, "3 of 3 steps done") || r.Error.Details["check"] != "page_errors" {
		h.Errorf("%+v", r)
	}
	if r := h.try("browser_qa", `{"url":"`+address("/well")+`","texts":["ready"],"keep_going":true,`+steps+`}`); r.Code != messages.CodeCheckFailed || strings.Count(r.Text, "FAILED") != 2 || !strings.Contains(r.Text, "3 of 3") {
		h.Errorf("%+v", r)
	}
	h.use("browser_qa", `{"url":"`+address("/well")+`","ignore":["nothing is not defined","/broken"],`+steps+`}`)
}
