package wanted_test

import (
	"bytes"
	"testing"

	"holdfast/actors/session/wanted"
)

// What agents have set in pages is set on the sessions of another node.
func TestWhatIsWantedGoesToAnotherNode(t *testing.T) {
	t.Parallel()
	s := wanted.New(func() {})
	if b := s.Remember(); b != nil {
		t.Errorf("nothing is remembered as %s", b)
	}
	here := wanted.Place{Page: "P", Target: "P", Session: "S", Link: 1}
	s.Begin(here)
	set := func(method, params string) {
		t.Helper()
		send, _, err := s.Prepare(here, method, []byte(params))
		if err != nil {
			t.Fatal(err)
		}
		s.Succeeded(here, method, send, []byte(`{"identifier":"1"}`))
	}
	set("Emulation.setTimezoneOverride", `{"timezoneId":"Europe/Paris"}`)
	set("Page.addScriptToEvaluateOnNewDocument", `{"source":"1"}`)
	b := s.Remember()
	other := wanted.New(func() {})
	if err := other.Recall(b); err != nil {
		t.Fatal(err)
	}
	commands := other.Begin(wanted.Place{Page: "P", Target: "P", Session: "S", Link: 1})
	if len(commands) != 2 || commands[0].Method != "Emulation.setTimezoneOverride" || !bytes.Contains(commands[0].Params, []byte("Paris")) || commands[1].Method != "Page.addScriptToEvaluateOnNewDocument" {
		t.Errorf("%+v", commands)
	}
	if again := other.Remember(); !bytes.Equal(again, b) {
		t.Errorf("it is remembered as %s, and then as %s", b, again)
	}
	for _, bad := range []string{`{`, `[{"target":"T","items":[{"method":"Browser.close"}]}]`, `[{"target":"T"},{"target":"T"}]`, `[{"target":"T","items":[{"method":"Emulation.setTimezoneOverride","act":99}]}]`} {
		if err := wanted.New(func() {}).Recall([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func FuzzRecall(f *testing.F) {
	f.Add([]byte(`[{"target":"T","items":[{"method":"Emulation.setTimezoneOverride","params":{},"key":"k"}]}]`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		s := wanted.New(func() {})
		if s.Recall(b) == nil {
			s.Begin(wanted.Place{Page: "T", Target: "T", Session: "S", Link: 1})
			s.Remember()
		}
	})
}
