package wanted_test

import (
	"encoding/json"
	"testing"

	"holdfast/actors/session/wanted"
)

// Parameters come from agents and results from browsers: whatever they hold,
// what is sent again is JSON.
func FuzzState(f *testing.F) {
	for _, s := range [][3]string{
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"1","runImmediately":true}`, `{"identifier":"1"}`},
		{"Page.addScriptToEvaluateOnNewDocument", `[]`, `{"identifier":7}`},
		{"Page.removeScriptToEvaluateOnNewDocument", `{"identifier":"1@S"}`, `{}`},
		{"Browser.grantPermissions", `{"origin":null,"permissions":[]}`, `{}`},
		{"Runtime.addBinding", `{"name":"\u0000"}`, `null`},
		{"Network.enable", ``, ``},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, method, params, result string) {
		var s wanted.State
		at := wanted.Place{Page: "P", Target: "P", Session: "S"}
		for range 2 {
			send, answer, err := s.Prepare(at, method, []byte(params))
			if err != nil || answer != nil {
				t.Fatalf("on a session that stands: %s, %v", answer, err)
			}
			if json.Valid([]byte(params)) != json.Valid(send) {
				t.Errorf("%s became %s", params, send)
			}
			s.Succeeded(at, method, []byte(params), []byte(result))
		}
		at.Session = "next"
		for _, c := range s.Begin(at) {
			if !wanted.IsKept(c.Method) {
				t.Errorf("%s is sent again", c.Method)
			}
			s.Established(at, c.ID, []byte(result), nil)
		}
	})
}
