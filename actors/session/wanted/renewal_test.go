package wanted_test

import (
	"errors"
	"slices"
	"testing"

	"holdfast/actors/session/wanted"
)

func at(url string) *wanted.Site {
	s := new(wanted.Site)
	s.Show(url)
	return s
}

func methods(commands []wanted.Command) (list []string) {
	for _, c := range commands {
		list = append(list, c.Method+" "+string(c.Params))
	}
	return list
}

func wantMethods(t *testing.T, what string, got []wanted.Command, want ...string) {
	t.Helper()
	if !slices.Equal(methods(got), want) {
		t.Errorf("%s: given %q, want %q", what, methods(got), want)
	}
}

const (
	tokyo   = `Emulation.setTimezoneOverride {"timezoneId":"Asia/Tokyo"}`
	german  = `Emulation.setLocaleOverride {"locale":"de-DE"}`
	secret  = `Network.setExtraHTTPHeaders {"headers":{"authorization":"Bearer bank"}}`
	secretP = `{"headers":{"authorization":"Bearer bank"}}`
)

// C61: what an old session's late end may have dropped is given again, and what was
// refused until then.
func TestAgain(t *testing.T) {
	t.Parallel()
	setup := func() (*wanted.State, wanted.Place) {
		var s wanted.State
		first := wanted.PlaceOf("P", "P", "S1", nil)
		s.Succeeded(first, "Emulation.setTimezoneOverride", []byte(`{"timezoneId":"Asia/Tokyo"}`), []byte(`{}`))
		s.Succeeded(first, "Emulation.setLocaleOverride", []byte(`{"locale":"de-DE"}`), []byte(`{}`))
		s.Succeeded(first, "Network.setExtraHTTPHeaders", []byte(secretP), []byte(`{}`))
		return &s, wanted.PlaceOf("P", "P", "S2", nil)
	}
	settle := func(s *wanted.State, p wanted.Place, commands []wanted.Command, refused string) {
		for _, c := range commands {
			var err error
			if c.Method == refused {
				err = errors.New("another override is already in effect")
			}
			s.Established(p, c.ID, []byte(`{}`), err)
		}
	}

	s, p := setup()
	begun := s.Begin(p)
	wantMethods(t, "at the attach", begun, tokyo, german, secret)
	wantMethods(t, "while that is under way", s.Again(p))
	settle(s, p, begun, "Emulation.setLocaleOverride")
	if got := s.Refused(p); !slices.Equal(got, []string{"Emulation.setLocaleOverride"}) {
		t.Errorf("refused %q", got)
	}
	again := s.Again(p)
	wantMethods(t, "again", again, tokyo, german)
	settle(s, p, again, "")
	if got := s.Refused(p); got != nil {
		t.Errorf("refused %q, and it stands", got)
	}
	wantMethods(t, "by another session", s.Again(wanted.PlaceOf("P", "P", "S1", nil)))

	// An agent sets, and takes back, what is under way again: its word is the last.
	again = s.Again(p)
	s.Succeeded(p, "Emulation.setTimezoneOverride", []byte(`{"timezoneId":"UTC"}`), []byte(`{}`))
	s.Succeeded(p, "Emulation.clearDeviceMetricsOverride", []byte(`{}`), []byte(`{}`))
	settle(s, p, again, "")
	wantMethods(t, "behind it", s.Behind(p), `Emulation.setTimezoneOverride {"timezoneId":"UTC"}`)
	wantMethods(t, "once", s.Behind(p))

	s, p = setup()
	s.Succeeded(p, "Emulation.setDeviceMetricsOverride", []byte(`{"width":1}`), []byte(`{}`))
	again = s.Again(p)
	s.Succeeded(p, "Emulation.clearDeviceMetricsOverride", []byte(`{}`), []byte(`{}`))
	settle(s, p, again, "")
	wantMethods(t, "taken back", s.Behind(p), `Emulation.clearDeviceMetricsOverride {}`)
}

// What is set for a frame stays with the site it was set for.
func TestAFramesStateStaysWithItsSite(t *testing.T) {
	t.Parallel()
	var s wanted.State
	bank := wanted.PlaceOf("P", "F", "S1", at("https://www.bank.test/login"))
	s.Succeeded(bank, "Network.setExtraHTTPHeaders", []byte(secretP), []byte(`{}`))
	s.Succeeded(bank, "Page.addScriptToEvaluateOnNewDocument", []byte(`{"source":"1"}`), []byte(`{"identifier":"1"}`))
	for _, url := range []string{"https://evil.test/", "http://www.bank.test/", "about:blank", "", "https://bank.test.evil.test/"} {
		p := wanted.PlaceOf("P", "F", "S-"+bank.Session, at(url))
		if got := s.Begin(p); got != nil {
			t.Errorf("%q is given %q", url, methods(got))
		}
		if got := append(s.Again(p), s.Revive(p)...); got != nil {
			t.Errorf("%q is given %q later", url, methods(got))
		}
		s.Begin(bank) // and back, with another session
	}
	// On the session that had it, which Chrome keeps.
	shown := at("https://bank.test/")
	same := wanted.PlaceOf("P", "F", "S8", shown)
	for _, c := range s.Begin(same) {
		s.Established(same, c.ID, []byte(`{"identifier":"1"}`), nil)
	}
	wantMethods(t, "at home", s.Leaving(same))
	shown.Show("https://evil.test/")
	wantMethods(t, "away", s.Leaving(same), `Network.setExtraHTTPHeaders {"headers":{}}`)
	wantMethods(t, "away, once", append(s.Leaving(same), s.Again(same)...))
	shown.Show("https://www.bank.test/")
	wantMethods(t, "back", append(s.Leaving(same), s.Again(same)...), secret)
	// The site comes to be known on the session.
	site := at("")
	p := wanted.PlaceOf("P", "F", "S9", site)
	wantMethods(t, "before its document", s.Begin(p))
	site.Show("https://api.bank.test/")
	wantMethods(t, "with its document", s.Again(p), secret, `Page.addScriptToEvaluateOnNewDocument {"source":"1"}`)
}
