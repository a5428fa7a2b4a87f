package acceptance_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"holdfast/messages"
)

// TestX27_BlockersAreShownAndAnswered: what keeps a page from being shown, besides dialogs.
func TestX27_BlockersAreShownAndAnswered(t *testing.T) {
	t.Parallel()
	r := setupOn(t, nil)
	if _, _, err := r.node.GetOrStart(r.ctx, "x27", messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil {
		t.Fatal(err)
	}
	h := (&task{r, "x27"}).hands()
	h.site.Set("/before", `<title>before</title>`)
	h.site.Set("/choose", `<input type=file id=pick hidden multiple><button onclick="pick.click()">Pick</button><input type=file id=never onclick="event.preventDefault()" aria-label=Never>`)
	h.site.Handle("/auth", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, word, _ := r.BasicAuth(); user != "ann" || word != "p@ss/word" {
			w.Header().Set("WWW-Authenticate", `Basic realm="shop"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>in</title>welcome"))
	}))
	on := func(url string) string { return onLocalhost.ReplaceAllString(h.site.URL(url), "localhost:") }
	blocked := func(url, kind string) {
		t.Helper()
		h.use("browser_navigate", `{"url":"`+on("http://a.test/before")+`"}`)
		r := h.try("browser_navigate", `{"url":"`+url+`"}`)
		if r.OK || len(r.NextActions) != 2 || r.NextActions[0].Tool != "browser_blocker" {
			t.Fatalf("%s: %s %+v", url, r.Text, r.NextActions)
		}
		if text := h.look(`{}`); !regexp.MustCompile(`BLOCKER (b-\d+ )?` + kind + " " + regexp.QuoteMeta(url)).MatchString(text) {
			t.Error(text)
		}
	}
	blocked(on("http://a.test/auth"), "basic_auth")
	if r := h.try("browser_blocker", `{"action":"accept","username":"ann","password":"wrong"}`); r.OK || r.NextActions[0].Tool != "browser_blocker" || strings.Contains(r.Text, "wrong") {
		t.Errorf("%+v", r)
	}
	r2 := h.use("browser_blocker", `{"action":"accept","username":"ann","password":"p@ss/word"}`)
	if r2.Page.Title != "in" || strings.Contains(r2.Text+r2.Page.URL, "ann") {
		t.Errorf("%+v %s", r2.Page, r2.Text)
	}
	if got := h.eval("", "performance.getEntriesByType('navigation')[0].name + document.body.innerText"); strings.Contains(got, "ann") || !strings.Contains(got, "welcome") {
		t.Errorf("what the page can read: %s", got)
	}
	if text := h.look(`{}`); strings.Contains(text, "BLOCKER") {
		t.Error(text)
	}
	blocked(on("https://a.test/plain"), "certificate")
	h.use("browser_blocker", `{"action":"dismiss"}`)
	h.wantEval("document.title", `"before"`)
	blocked(on("https://a.test/plain"), "certificate")
	h.use("browser_blocker", `{"action":"accept"}`)
	h.wantEval("location.protocol", `"https:"`)
	if r := h.try("browser_blocker", `{"action":"accept"}`); r.Code != messages.CodeNotActionable {
		t.Errorf("%+v", r)
	}
	h.use("browser_navigate", `{"url":"`+on("http://a.test/choose")+`"}`)
	chosen := h.use("browser_click", `{"selector":"button"}`)
	if chosen.Category != "blocker" || len(chosen.NextActions) != 1 || chosen.NextActions[0].Input["selector"] != "#pick" {
		t.Errorf("%+v", chosen)
	}
	if r := h.use("browser_click", `{"selector":"#never"}`); r.Category == "blocker" {
		t.Errorf("no chooser opens: %+v", r)
	}
}
