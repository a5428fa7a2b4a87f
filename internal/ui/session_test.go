package ui_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

// TestSecurity9_NoTokenStandsInAnAddress: the link's code is worth nothing once it is
// in the history, the session that it opens ends, and a token that any page puts into
// the address is not taken.
func TestSecurity9_NoTokenStandsInAnAddress(t *testing.T) {
	g := newGallery()
	g.put("one", func(*messages.Snapshot) {})
	s := serve(t, g)
	code := s.code(s.admin.Reveal())
	link := s.url + "/ui/#code=" + code
	page := open(t, 1280, 800, "light", link)
	page.until("the task", `document.querySelectorAll(".task").length === 1`)
	if got := page.value(`location.href`); got != s.url+"/ui/#/" {
		t.Errorf("the address is %s", got)
	}
	kept := page.value(`Object.values(sessionStorage).join()`)
	scope, err := s.admin.Verify(kept, time.Now())
	if err != nil || !scope.IsAdmin() || scope.Ends().IsZero() || scope.Ends().After(time.Now().Add(13*time.Hour)) || strings.Contains(kept, s.admin.Reveal()) {
		t.Errorf("the session is %s until %v, %v", scope, scope.Ends(), err)
	}
	again := open(t, 1280, 800, "light", link)
	again.until("the login, with the reason", `document.querySelector("#login-error").innerText.includes("each is good once")`)
	again.Eval(again.Session, `void (location.hash = "#token=`+s.admin.Reveal()+`")`)
	again.painted()
	third := open(t, 1280, 800, "light", s.url+"/ui/#token="+s.admin.Reveal()+"&task=one")
	for name, p := range map[string]*screen{"given later": again, "given at once": third} {
		p.until("the login", `!document.querySelector("#login").hidden`)
		if got := p.value(`location.href + sessionStorage.length + document.querySelectorAll(".task").length`); strings.Contains(got, "token") || !strings.HasSuffix(got, "00") {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A code that is not good ends no session that there is.
	page.Eval(page.Session, `void (location.hash = "#code=wrong")`)
	page.until("the reason", `document.querySelector(".toast")?.innerText.includes("each is good once")`)
	if got := page.value(`document.querySelectorAll(".task").length`); got != "1" {
		t.Errorf("signed out: %s", got)
	}
}
