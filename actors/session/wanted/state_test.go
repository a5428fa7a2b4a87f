package wanted_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdfast/actors/session/wanted"
	"holdfast/messages"
)

// agent drives a state as the agents of one page do; the browser behind it
// numbers scripts per session.
type agent struct {
	*testing.T
	s       *wanted.State
	at      wanted.Place
	session int
	scripts int
}

func newAgent(t *testing.T) *agent {
	return &agent{T: t, s: &wanted.State{}, at: wanted.Place{Page: "P", Target: "P", Session: "S0"}}
}

// do runs a command that succeeds and returns what the agent gets.
func (a *agent) do(method, params string) string {
	a.Helper()
	send, answer, err := a.s.Prepare(a.at, method, []byte(params))
	if err != nil {
		a.Fatalf("%s %s: %v", method, params, err)
	}
	if answer != nil {
		return string(answer)
	}
	result := `{}`
	if method == "Page.addScriptToEvaluateOnNewDocument" {
		a.scripts++
		result = fmt.Sprintf(`{"identifier":"%d"}`, a.scripts)
	}
	if method == "Page.removeScriptToEvaluateOnNewDocument" {
		defer func() { _ = send }()
	}
	got, _ := a.s.Succeeded(a.at, method, []byte(params), []byte(result))
	return string(got)
}

// begin is the next session of the page; it returns what the page is given.
func (a *agent) begin() []string {
	a.Helper()
	commands := a.next()
	var sent []string
	for _, c := range commands {
		sent = append(sent, strings.TrimSpace(c.Method+" "+string(c.Params)))
		a.established(c, nil)
	}
	return sent
}

func (a *agent) next() []wanted.Command {
	a.session++
	a.scripts = 0
	a.at.Session = messages.SessionID(fmt.Sprint("S", a.session))
	return a.s.Begin(a.at)
}

func (a *agent) established(c wanted.Command, err error) {
	result := `{}`
	if err == nil && c.Method == "Page.addScriptToEvaluateOnNewDocument" {
		a.scripts++
		result = fmt.Sprintf(`{"identifier":"%d"}`, a.scripts)
	}
	a.s.Established(a.at, c.ID, []byte(result), err)
}

func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ commands, want []string }{
		"nothing":                {nil, nil},
		"the last one wins":      {[]string{`Emulation.setTimezoneOverride {"timezoneId":"a"}`, `Emulation.setTimezoneOverride {"timezoneId":"b"}`}, []string{`Emulation.setTimezoneOverride {"timezoneId":"b"}`}},
		"each thing of its own":  {[]string{`Emulation.setTimezoneOverride {"timezoneId":"a"}`, `Emulation.setLocaleOverride {"locale":"b"}`}, []string{`Emulation.setTimezoneOverride {"timezoneId":"a"}`, `Emulation.setLocaleOverride {"locale":"b"}`}},
		"what is taken back":     {[]string{`Emulation.setDeviceMetricsOverride {"width":1}`, `Emulation.clearDeviceMetricsOverride`}, nil},
		"by its older name":      {[]string{`Emulation.setGeolocationOverride {"latitude":1}`, `Page.clearGeolocationOverride`}, nil},
		"two names, one thing":   {[]string{`Network.setUserAgentOverride {"userAgent":"a"}`, `Emulation.setUserAgentOverride {"userAgent":"b"}`}, []string{`Emulation.setUserAgentOverride {"userAgent":"b"}`}},
		"domains come first":     {[]string{`Network.setExtraHTTPHeaders {"headers":{}}`, `Network.enable`}, []string{`Network.enable`, `Network.setExtraHTTPHeaders {"headers":{}}`}},
		"a domain goes with all": {[]string{`Network.enable`, `Network.setExtraHTTPHeaders {"headers":{}}`, `DOM.enable`, `Network.disable`}, []string{`DOM.enable`}},
		"several of a kind":      {[]string{`Runtime.addBinding {"name":"a"}`, `Runtime.addBinding {"name":"b"}`, `Runtime.removeBinding {"name":"a"}`}, []string{`Runtime.addBinding {"name":"b"}`}},
		"nothing of the session": {[]string{`Runtime.addBinding {"name":"a","executionContextId":3}`}, nil},
		"scripts run once":       {[]string{`Page.addScriptToEvaluateOnNewDocument {"source":"1","runImmediately":true}`}, []string{`Page.addScriptToEvaluateOnNewDocument {"source":"1"}`}},
		"equal scripts are two":  {[]string{`Page.addScriptToEvaluateOnNewDocument {"source":"1"}`, `Page.addScriptToEvaluateOnNewDocument {"source":"1"}`}, []string{`Page.addScriptToEvaluateOnNewDocument {"source":"1"}`, `Page.addScriptToEvaluateOnNewDocument {"source":"1"}`}},
		"nothing that acts": {[]string{
			`Page.navigate {"url":"x"}`, `Runtime.evaluate {"expression":"1"}`, `Input.insertText {"text":"x"}`, `Debugger.enable`, `Fetch.enable`,
			`Emulation.setVirtualTimePolicy {"policy":"pause"}`, `Emulation.setPageScaleFactor {"pageScaleFactor":2}`, `Tracing.start`,
			`Network.setCookie {"name":"a"}`, `Page.setDocumentContent {}`, `Page.setWebLifecycleState {"state":"frozen"}`, `Profiler.start`,
			`HeapProfiler.enable`, `Page.enable`, `Runtime.enable`, `Target.setAutoAttach {}`, `DOM.setAttributeValue {}`, `CSS.setStyleTexts {}`,
		}, nil},
		"permissions in their order": {[]string{
			`Browser.setPermission {"permission":{"name":"a"},"setting":"denied"}`, `Browser.grantPermissions {"permissions":["a"]}`, `Browser.setPermission {"permission":{"name":"a"},"setting":"granted"}`,
		}, []string{`Browser.grantPermissions {"permissions":["a"]}`, `Browser.setPermission {"permission":{"name":"a"},"setting":"granted"}`}},
		"permissions of one context": {[]string{
			`Browser.grantPermissions {"permissions":["a"],"browserContextId":"c"}`, `Browser.grantPermissions {"permissions":["a"]}`, `Browser.resetPermissions {"browserContextId":"c"}`,
		}, []string{`Browser.grantPermissions {"permissions":["a"]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t)
			for _, c := range tc.commands {
				method, params, _ := strings.Cut(c, " ")
				a.do(method, params)
			}
			for range 3 { // and once more, and once more
				if got := a.begin(); !slices.Equal(got, tc.want) {
					t.Fatalf("session %s is given\n%q, want\n%q", a.at.Session, got, tc.want)
				}
			}
			if again := a.s.Begin(a.at); again != nil {
				t.Errorf("the same session is given %v once more", again)
			}
		})
	}
}

const (
	add    = "Page.addScriptToEvaluateOnNewDocument"
	remove = "Page.removeScriptToEvaluateOnNewDocument"
)

func TestIdentifiersOutliveTheirSessions(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	sent := func(given string) string {
		t.Helper()
		send, _, err := a.s.Prepare(a.at, remove, []byte(`{"identifier":"`+given+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		return string(send)
	}
	for n, source := range []string{"one", "two", "three"} {
		if got, want := a.do(add, `{"source":"`+source+`"}`), fmt.Sprintf(`{"identifier":"%d"}`, n+1); got != want {
			t.Fatalf("identifier %s, want the browser's own %s", got, want)
		}
	}
	a.do(remove, `{"identifier":"1"}`)
	a.begin()
	for given, want := range map[string]string{"2": "1", "3": "2"} {
		if got := sent(given); got != `{"identifier":"`+want+`"}` {
			t.Errorf("script %s is %s now, want %s", given, got, want)
		}
	}
	if got := sent("1"); got != `{"identifier":"none: 1"}` { // the browser's 1 is another by now
		t.Errorf("script 1, which is gone, is %s", got)
	}
	if got := a.do(add, `{"source":"four"}`); got != `{"identifier":"4"}` {
		t.Errorf("the next script is %s, want a number that nobody has", got)
	}
	a.do(remove, `{"identifier":"3"}`)
	if got := a.begin(); len(got) != 2 || got[0] != add+` {"source":"two"}` || got[1] != add+` {"source":"four"}` {
		t.Errorf("left are %q", got)
	}
}

func TestWhileAScriptComesBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		outcome func(a *agent, c wanted.Command)
		want    string
	}{
		"its outcome is awaited":   {func(*agent, wanted.Command) {}, "upstream_unavailable"},
		"it did not":               {func(a *agent, c wanted.Command) { a.established(c, errors.New("no")) }, "{}"},
		"it did":                   {func(a *agent, c wanted.Command) { a.established(c, nil) }, "sent"},
		"its outcome is another's": {func(a *agent, c wanted.Command) { c.ID++; a.established(c, nil) }, "upstream_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAgent(t)
			a.do(add, `{"source":"1"}`)
			commands := a.next()
			tc.outcome(a, commands[0])
			_, answer, err := a.s.Prepare(a.at, remove, []byte(`{"identifier":"1"}`))
			got := "sent"
			if err != nil {
				got = string(messages.CodeOf(err))
			} else if answer != nil {
				got = string(answer)
			}
			if got != tc.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestAnAttachIsNotOvertaken(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.do("Emulation.setTimezoneOverride", `{"timezoneId":"a"}`)
	next := a.at
	next.Session = "S1"
	// The call is faster than the attach: it would be undone by what is kept.
	_, _, err := a.s.Prepare(next, "Emulation.setTimezoneOverride", []byte(`{"timezoneId":"b"}`))
	var e *messages.Error
	if !errors.As(err, &e) || e.Code != messages.CodeUpstreamUnavailable || e.Sent != messages.SentNo {
		t.Errorf("got %v", err)
	}
	a.begin()
	a.do("Emulation.setTimezoneOverride", `{"timezoneId":"b"}`)
	if got := a.begin(); len(got) != 1 || !strings.Contains(got[0], `"b"`) {
		t.Errorf("given %q", got)
	}
}

func TestACrashNeedsOnlyWhatWasOnItsWay(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.do("Emulation.setTimezoneOverride", `{"timezoneId":"a"}`)
	a.do(add, `{"source":"1"}`)
	commands := a.next()
	a.established(commands[0], nil)
	again := a.s.Revive(a.at) // the browser gives the new renderer what stood
	if len(again) != 2 || again[0].Method != remove || string(again[0].Params) != `{"identifier":"1"}` || again[1].Method != add {
		t.Fatalf("given %v", again)
	}
	again = again[1:]
	a.established(commands[1], errors.New("target crashed")) // late, and of the first attempt
	if _, _, err := a.s.Prepare(a.at, remove, []byte(`{"identifier":"1"}`)); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
		t.Errorf("got %v", err)
	}
	a.established(again[0], nil)
	if again = a.s.Revive(a.at); again != nil {
		t.Errorf("given %v though all stands", again)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	set := func(a *agent, n int) (remembered bool) {
		_, remembered = a.s.Succeeded(a.at, "Runtime.addBinding", []byte(fmt.Sprintf(`{"name":"%d"}`, n)), []byte(`{}`))
		return remembered
	}
	t.Run("commands of a target", func(t *testing.T) {
		t.Parallel()
		a := newAgent(t)
		for n := range wanted.MaxCommands {
			if !set(a, n) {
				t.Fatalf("no room for %d", n)
			}
		}
		if set(a, -1) {
			t.Error("there is no end")
		}
		if !set(a, 0) {
			t.Error("what is kept cannot be set anew")
		}
		if got := a.begin(); len(got) != wanted.MaxCommands {
			t.Errorf("%d are kept", len(got))
		}
	})
	t.Run("bytes of a target", func(t *testing.T) {
		t.Parallel()
		a := newAgent(t)
		script := fmt.Appendf(nil, `{"source":"%s"}`, strings.Repeat("x", wanted.MaxBytes/2))
		if _, remembered := a.s.Succeeded(a.at, add, script, []byte(`{"identifier":"1"}`)); !remembered {
			t.Fatal("no room for the first")
		}
		got, remembered := a.s.Succeeded(a.at, add, script, []byte(`{"identifier":"2"}`))
		if remembered || string(got) != `{"identifier":"2@S0"}` {
			t.Fatalf("the second is %s, remembered: %v", got, remembered)
		}
		// It can be taken back on its own session and names nothing on another.
		if send, _, _ := a.s.Prepare(a.at, remove, got); string(send) != `{"identifier":"2"}` {
			t.Errorf("sent %s", send)
		}
		a.begin()
		if send, _, _ := a.s.Prepare(a.at, remove, got); string(send) != `{"identifier":"none: 2@S0"}` {
			t.Errorf("sent %s", send)
		}
	})
	t.Run("what does not fit takes the place of what it replaces", func(t *testing.T) {
		t.Parallel()
		a := newAgent(t)
		a.do("Network.setExtraHTTPHeaders", `{"headers":{"a":"1"}}`)
		big := fmt.Appendf(nil, `{"headers":{"a":"%s"}}`, strings.Repeat("x", wanted.MaxBytes))
		if _, remembered := a.s.Succeeded(a.at, "Network.setExtraHTTPHeaders", big, []byte(`{}`)); remembered {
			t.Error("it fits")
		}
		if got := a.begin(); got != nil { // neither, rather than the old one
			t.Errorf("given %.80q", got)
		}
	})
	t.Run("frames that are gone make room", func(t *testing.T) {
		t.Parallel()
		a := newAgent(t)
		fill := func(target messages.TargetID) bool {
			a.at = wanted.PlaceOf("P", target, messages.SessionID("S"+target), at("http://b.test/"))
			for n := range wanted.MaxCommands {
				if !set(a, n) {
					return false
				}
			}
			return true
		}
		for n := range 8 {
			if !fill(messages.TargetID(fmt.Sprint("F", n))) {
				t.Fatalf("no room for frame %d", n)
			}
		}
		if fill("P") {
			t.Fatal("a task has no bound")
		}
		a.s.End(wanted.Place{Page: "P", Target: "F3", Session: "SF3"})
		if !fill("P") {
			t.Error("a frame that is gone keeps its room")
		}
		if got := a.s.Begin(wanted.PlaceOf("P", "F4", "new", at("http://b.test/"))); len(got) != wanted.MaxCommands {
			t.Errorf("a frame that lives has lost all but %d", len(got))
		}
	})
	t.Run("a page that is closed", func(t *testing.T) {
		t.Parallel()
		a := newAgent(t)
		a.do("DOM.enable", "")
		a.s.Forget("P")
		if got := a.begin(); got != nil {
			t.Errorf("given %q", got)
		}
	})
}
