package memory_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/internal/gateway/memory"
	"holdfast/messages"
)

func none(messages.FrameID) bool { return false }

// give has the browser take all that a session is given, and returns what that was.
func give(s *memory.Session, link messages.SessionID, tree string) (given []string, told []memory.Event) {
	list := s.Begin(link)
	for len(list) > 0 {
		c := list[0]
		list = list[1:]
		given = append(given, strings.TrimSpace(c.Method+" "+string(c.Params)))
		result := `{"identifier":"1","executionContextId":9}`
		if c.IsTree() {
			result = tree
		}
		events, more := s.Established(c, []byte(result), nil, none)
		told, list = append(told, events...), append(list, more...)
	}
	return given, told
}

const tree = `{"frameTree":{"frame":{"id":"F","loaderId":"L","url":"https://a.test/"}}}`

func has(given []string, what string) bool {
	return slices.ContainsFunc(given, func(g string) bool { return strings.HasPrefix(g, what) })
}

func TestWhatWasSetIsGivenOnce(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	for _, c := range [][2]string{
		{"Page.enable", `{}`},
		{"Runtime.enable", `{}`},
		{"Network.enable", `{}`},
		{"Log.enable", `{}`},
		{"Log.disable", `{}`},
		{"Fetch.enable", `{"patterns":[]}`},
		{"Fetch.enable", `{"patterns":[{"urlPattern":"*"}]}`},
		{"Runtime.addBinding", `{"name":"b"}`},
		{"Emulation.setEmulatedMedia", `{"media":"print"}`},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"1","worldName":"w","runImmediately":true}`},
		{"Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`},
		{"Page.startScreencast", `{}`},
		{"Page.stopScreencast", `{}`},
		{"Runtime.evaluate", `{"expression":"act()"}`},
		{"Page.navigate", `{"url":"https://b.test/"}`},
		{"Input.insertText", `{"text":"x"}`},
	} {
		if memory.IsKept(c[0]) {
			s.Succeeded(c[0], []byte(c[1]), []byte(`{"identifier":"1"}`))
		}
	}
	var events []string
	for _, e := range s.Cut() {
		events = append(events, e.Method)
	}
	if !slices.Equal(events, []string{"Runtime.executionContextsCleared"}) {
		t.Errorf("with the link it is told %v", events)
	}
	want := []string{
		"Page.enable {}", "Page.getFrameTree", "Runtime.enable {}", `Fetch.enable {"patterns":[{"urlPattern":"*"}]}`, "Network.enable {}",
		`Runtime.addBinding {"name":"b"}`, `Emulation.setEmulatedMedia {"media":"print"}`, `Page.addScriptToEvaluateOnNewDocument {"source":"1","worldName":"w"}`,
		`Page.setLifecycleEventsEnabled {"enabled":true}`, `Page.setLifecycleEventsEnabled {"enabled":false}`,
		`Target.setAutoAttach {"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`, "Runtime.runIfWaitingForDebugger",
	}
	for _, link := range []messages.SessionID{"two", "three"} {
		if given, _ := give(s, link, tree); !slices.Equal(given, want) {
			t.Errorf("the session %s is given\n%s\nwant\n%s", link, strings.Join(given, "\n"), strings.Join(want, "\n"))
		}
		s.Cut()
	}
}

func TestWhatTheClientHasMissed(t *testing.T) {
	t.Parallel()
	frameTree := func(loader string, frames ...string) string {
		children := []string{}
		for _, f := range frames {
			children = append(children, fmt.Sprintf(`{"frame":{"id":%q,"parentId":"F","loaderId":"L-%s","url":"about:blank"}}`, f, f))
		}
		return fmt.Sprintf(`{"frameTree":{"frame":{"id":"F","loaderId":%q,"url":"https://%s.test/"},"childFrames":[%s]}}`, loader, loader, strings.Join(children, ","))
	}
	for name, tc := range map[string]struct{ after, want string }{
		"nothing":          {frameTree("a", "x", "y"), ""},
		"a frame less":     {frameTree("a", "x"), "Page.frameDetached y"},
		"a frame more":     {frameTree("a", "x", "y", "z"), "Page.frameAttached z, Page.frameNavigated z, Page.lifecycleEvent z"},
		"another document": {frameTree("b"), "Page.frameDetached x, Page.frameDetached y, Page.frameNavigated F, Page.lifecycleEvent F"},
		"a fragment":       {strings.Replace(frameTree("a", "x", "y"), `"loaderId":"a"`, `"urlFragment":"#f","loaderId":"a"`, 1), "Page.navigatedWithinDocument F"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := memory.NewSession("one")
			s.Succeeded("Page.enable", nil, nil)
			s.Succeeded("Page.setLifecycleEventsEnabled", []byte(`{"enabled":true}`), nil)
			s.Succeeded("Page.getFrameTree", nil, []byte(frameTree("a", "x")))
			s.Heard("Page.frameAttached", []byte(`{"method":"Page.frameAttached","params":{"frameId":"y","parentFrameId":"F"}}`))
			s.Heard("Page.frameNavigated", []byte(`{"method":"Page.frameNavigated","params":{"frame":{"id":"y","parentId":"F","loaderId":"L-y","url":"about:blank"}}}`))
			s.Cut()
			_, told := give(s, "two", tc.after)
			var got []string
			for _, e := range told {
				var p struct {
					ID    string `json:"frameId"`
					Frame struct {
						ID string `json:"id"`
					} `json:"frame"`
				}
				if err := json.Unmarshal(e.Params, &p); err != nil {
					t.Fatalf("%s %s: %v", e.Method, e.Params, err)
				}
				got = append(got, e.Method+" "+p.ID+p.Frame.ID)
			}
			if strings.Join(got, ", ") != tc.want {
				t.Errorf("it is told %v, want %s", got, tc.want)
			}
		})
	}
}

func TestAWorldIsMadeInDocumentsThatAreNew(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	s.Succeeded("Page.enable", nil, nil)
	s.Succeeded("Page.getFrameTree", nil, []byte(tree))
	s.Succeeded("Page.createIsolatedWorld", []byte(`{"frameId":"F","worldName":"w"}`), nil)
	s.Cut()
	if given, _ := give(s, "two", tree); has(given, "Page.createIsolatedWorld") {
		t.Errorf("in the document that has it: %v", given)
	}
	s.Cut()
	if given, _ := give(s, "three", strings.Replace(tree, `"L"`, `"M"`, 1)); !has(given, `Page.createIsolatedWorld {"frameId":"F"`) {
		t.Errorf("in a new document: %v", given)
	}
}

// TestScriptsRunInADocumentThatWasMissed, and in no other once more.
func TestScriptsRunInADocumentThatWasMissed(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	s.Succeeded("Page.enable", nil, nil)
	s.Succeeded("Page.getFrameTree", nil, []byte(tree))
	s.Succeeded("Page.addScriptToEvaluateOnNewDocument", []byte(`{"source":"main()"}`), []byte(`{"identifier":"1"}`))
	s.Succeeded("Page.addScriptToEvaluateOnNewDocument", []byte(`{"source":"apart()","worldName":"w"}`), []byte(`{"identifier":"2"}`))
	s.Cut()
	if given, _ := give(s, "two", tree); has(given, "Runtime.evaluate") {
		t.Errorf("in a document that has run them: %v", given)
	}
	s.Cut()
	given, _ := give(s, "three", strings.Replace(tree, `"L"`, `"M"`, 1))
	if !has(given, `Runtime.evaluate {"expression":"main()","silent":true}`) || !has(given, `Runtime.evaluate {"contextId":9,"expression":"apart()","silent":true}`) {
		t.Errorf("in a new document: %v", given)
	}
}

// TestInterceptionIsInForceInADocumentThatWasBeingLoaded: Chrome intercepts nothing in a
// document whose load had begun.
func TestInterceptionIsInForceInADocumentThatWasBeingLoaded(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	s.Succeeded("Page.enable", nil, nil)
	s.Succeeded("Fetch.enable", []byte(`{"n":1}`), nil)
	navigated := []byte(`{"method":"Page.frameNavigated","params":{"frame":{"id":"F","loaderId":"L","url":"https://a.test/"}}}`)
	if _, _, more := s.Heard("Page.frameNavigated", navigated); more != nil {
		t.Errorf("without a drop it is given %v", more)
	}
	s.Cut()
	give(s, "two", tree)
	if _, _, more := s.Heard("Page.frameNavigated", navigated); len(more) != 1 || more[0].Method != "Fetch.enable" || string(more[0].Params) != `{"n":1}` {
		t.Errorf("after a drop it is given %v", more)
	}
	s.Again()
	if _, _, more := s.Heard("Page.frameNavigated", navigated); more != nil {
		t.Errorf("a while later it is given %v", more)
	}
}

// TestMessagesOfTheConsoleAreToldOnce: a domain that is enabled anew repeats what it has.
func TestMessagesOfTheConsoleAreToldOnce(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	s.Succeeded("Runtime.enable", nil, nil)
	said := func(at float64) bool {
		isTold, _, _ := s.Heard("Runtime.consoleAPICalled", fmt.Appendf(nil, `{"method":"Runtime.consoleAPICalled","params":{"timestamp":%f}}`, at))
		return isTold
	}
	said(1)
	said(2)
	s.Cut()
	list := s.Begin("two")
	if said(1) || said(2) || !said(3) {
		t.Error("while the domain is enabled, what is old counts as new, or what is new as old")
	}
	for _, c := range list {
		s.Established(c, []byte(`{}`), nil, none)
	}
	if !said(2.5) {
		t.Error("behind it everything is new")
	}
}

// TestALoadThatWasMissedIsTold: a client that waits for the load event of a document is told,
// whenever it came.
func TestALoadThatWasMissedIsTold(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	s.Succeeded("Page.enable", nil, nil)
	s.Heard("Page.frameNavigated", []byte(`{"method":"Page.frameNavigated","params":{"frame":{"id":"F","loaderId":"L","url":"https://a.test/"}}}`))
	s.Cut()
	list := s.Begin("two")
	for _, c := range list[:2] { // Page.enable and the tree
		s.Established(c, []byte(tree), nil, none)
	}
	load := []byte(`{"method":"Page.lifecycleEvent","params":{"frameId":"F","loaderId":"L","name":"load","timestamp":1.5}}`)
	isTold, told, _ := s.Heard("Page.lifecycleEvent", load)
	if isTold || len(told) != 3 || told[1].Method != "Page.loadEventFired" || string(told[1].Params) != `{"timestamp":1.5}` {
		t.Errorf("told %t and %v", isTold, told)
	}
	if _, told, _ := s.Heard("Page.lifecycleEvent", load); told != nil {
		t.Errorf("and once more: %v", told)
	}
}

func TestScriptsKeepTheirIdentifiers(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	add := func(chrome string) string {
		r := s.Succeeded("Page.addScriptToEvaluateOnNewDocument", []byte(`{"source":"1"}`), fmt.Appendf(nil, `{"identifier":%q}`, chrome))
		return string(r)
	}
	first, second := add("1"), add("2")
	if first != `{"identifier":"1"}` || second != `{"identifier":"2"}` {
		t.Fatalf("%s %s", first, second)
	}
	if send, _, err := s.Prepare("Page.removeScriptToEvaluateOnNewDocument", []byte(`{"identifier":"1"}`)); err != nil {
		t.Fatal(err)
	} else {
		s.Succeeded("Page.removeScriptToEvaluateOnNewDocument", []byte(`{"identifier":"1"}`), nil)
		_ = send
	}
	s.Cut()
	give(s, "two", tree) // the browser calls the second one 1 now
	send, _, err := s.Prepare("Page.removeScriptToEvaluateOnNewDocument", []byte(`{"identifier":"2"}`))
	if err != nil || string(send) != `{"identifier":"1"}` {
		t.Errorf("the second is removed by %s, %v", send, err)
	}
	if third := add("2"); third == second {
		t.Errorf("a third script is called %s, as the second", third)
	}
}

// TestReplayIsWhatAFreshSessionNeeds: whatever a client has set and taken back, and however
// often the link is lost, a new session is given each setting that stands, once, with its
// last parameters, and nothing else.
func TestReplayIsWhatAFreshSessionNeeds(t *testing.T) {
	t.Parallel()
	domains := []string{"Page", "Runtime", "Network", "Fetch", "Debugger", "DOM"}
	settings := map[string]string{"Page.setLifecycleEventsEnabled": "Page", "Debugger.setSkipAllPauses": "Debugger", "Network.setCacheDisabled": "Network", "Page.startScreencast": "Page"}
	names := slices.Sorted(maps.Keys(settings))
	rapid.Check(t, func(t *rapid.T) {
		s := memory.NewSession("0")
		model := map[string]string{}
		links := 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				links++
				s.Cut()
				given, _ := give(s, messages.SessionID(fmt.Sprint(links)), tree)
				got := map[string]string{}
				for _, g := range given {
					method, params, _ := strings.Cut(g, " ")
					switch {
					case method == "Page.getFrameTree", method == "Runtime.runIfWaitingForDebugger":
					case method == "Page.setLifecycleEventsEnabled":
						if model[method] != "" && strings.Contains(params, "true") {
							got[method] = model[method]
						}
					case got[method] != "":
						t.Fatalf("%s is given twice", method)
					default:
						got[method] = params
					}
				}
				if !maps.Equal(got, model) {
					t.Fatalf("given %v, want %v", got, model)
				}
			case 1, 2:
				d := rapid.SampledFrom(domains).Draw(t, "domain")
				params := fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 9).Draw(t, "n"))
				s.Succeeded(d+".enable", []byte(params), nil)
				model[d+".enable"] = params
			case 3:
				d := rapid.SampledFrom(domains).Draw(t, "domain")
				s.Succeeded(d+".disable", nil, nil)
				for m := range model {
					if strings.HasPrefix(m, d+".") {
						delete(model, m)
					}
				}
			default:
				m := rapid.SampledFrom(names).Draw(t, "setting")
				params := fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 9).Draw(t, "n"))
				if model[settings[m]+".enable"] == "" {
					continue // Chrome refuses it
				}
				s.Succeeded(m, []byte(params), nil)
				model[m] = params
			}
		}
	})
}

func TestMarks(t *testing.T) {
	t.Parallel()
	told := `{"result":{"objectId":"-12.3.4","value":"\"objectId\":\"1.2.3\""},"requestId":"interception-job-2.0","networkId":"7.8","x":{"requestId":"1000.7"}}`
	marked := memory.Mark([]byte(told), 2)
	want := `{"result":{"objectId":"-12.3.4@2","value":"\"objectId\":\"1.2.3\""},"requestId":"interception-job-2.0@2","networkId":"7.8","x":{"requestId":"1000.7"}}`
	if string(marked) != want {
		t.Errorf("marked\n%s\nwant\n%s", marked, want)
	}
	if back, ok := memory.Unmark(marked, 2); !ok || string(back) != told {
		t.Errorf("unmarked %t %s", ok, back)
	}
	for params, ok := range map[string]bool{
		`{"objectId" : "1.2.3"}`: false, `{"objectId":"1.2.3@1"}`: false, `{"objectId":"1.2.3@2"}`: true, `{"objectId":"mine"}`: true,
		`{"requestId":"interception-job-1.0"}`: false, `{"requestId":"1.2"}`: true, `{}`: true, ``: true,
	} {
		if _, got := memory.Unmark([]byte(params), 2); got != ok {
			t.Errorf("%s is of the link: %t", params, got)
		}
	}
}

// FuzzMark: what is marked and taken back is what it was, and JSON stays JSON.
func FuzzMark(f *testing.F) {
	f.Add(`{"objectId":"1.2.3"}`, 1)
	f.Add(`{"objectId" :"1.2.3","requestId":"interception-job-1.0"}`, 12)
	f.Fuzz(func(t *testing.T, text string, epoch int) {
		if !json.Valid([]byte(text)) || epoch < 0 || strings.Contains(text, "@") {
			return
		}
		marked := memory.Mark([]byte(text), epoch)
		if !json.Valid(marked) {
			t.Fatalf("%s became %s", text, marked)
		}
		if back, ok := memory.Unmark(marked, epoch); !ok || string(back) != text {
			t.Fatalf("%s became %s and %s", text, marked, back)
		}
	})
}

func TestBreakpointsAreSetAgain(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	for _, c := range [][3]string{
		{"Debugger.enable", `{}`, `{}`},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":1,"url":"a"}`, `{"breakpointId":"1:1:0:a","locations":[]}`},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":2,"url":"a"}`, `{"breakpointId":"1:2:0:a","locations":[]}`},
		{"Debugger.setBreakpoint", `{"location":{"scriptId":"7","lineNumber":3}}`, `{"breakpointId":"4:3:0:7"}`},
		{"Debugger.removeBreakpoint", `{"breakpointId":"1:1:0:a"}`, `{}`},
		{"DOMDebugger.setXHRBreakpoint", `{"url":"x"}`, `{}`},
		{"DOMDebugger.setXHRBreakpoint", `{"url":"y"}`, `{}`},
		{"DOMDebugger.removeXHRBreakpoint", `{"url":"x"}`, `{}`},
		{"EventBreakpoints.setInstrumentationBreakpoint", `{"eventName":"e"}`, `{}`},
		{"EventBreakpoints.removeInstrumentationBreakpoint", `{"eventName":"e"}`, `{}`},
	} {
		if !memory.IsKept(c[0]) {
			t.Errorf("%s is not kept", c[0])
		}
		s.Succeeded(c[0], []byte(c[1]), []byte(c[2]))
	}
	s.Cut()
	given, _ := give(s, "two", tree)
	want := []string{
		"Debugger.enable {}", `Debugger.setBreakpointByUrl {"lineNumber":2,"url":"a"}`, `Debugger.setBreakpoint {"location":{"scriptId":"7","lineNumber":3}}`,
		`DOMDebugger.setXHRBreakpoint {"url":"y"}`, "Runtime.runIfWaitingForDebugger",
	}
	if !slices.Equal(given, want) {
		t.Errorf("it is given %q, want %q", given, want)
	}
	s.Succeeded("Debugger.disable", []byte(`{}`), []byte(`{}`))
	s.Cut()
	if given, _ := give(s, "three", tree); has(given, "Debugger.set") {
		t.Errorf("after the debugger was disabled it is given %q", given)
	}
}

// TestWhatACrashHasSwallowedIsGivenAgain: commands to a crashed page wait, and fail once it has
// another renderer (C22), which has had none of them.
func TestWhatACrashHasSwallowedIsGivenAgain(t *testing.T) {
	t.Parallel()
	s := memory.NewSession("one")
	for _, method := range []string{"Page.enable", "Runtime.enable"} {
		s.Succeeded(method, []byte(`{}`), []byte(`{}`))
	}
	s.Succeeded("Runtime.addBinding", []byte(`{"name":"b"}`), []byte(`{}`))
	s.Cut()
	list := s.Begin("two")
	for _, c := range list {
		told, more := s.Established(c, nil, memory.ErrCrashed, none)
		if len(told) > 0 || len(more) != 1 || more[0].Method != c.Method || string(more[0].Params) != string(c.Params) {
			t.Errorf("behind %s it is told %v and given %+v", c.Method, told, more)
		}
		if _, more = s.Established(more[0], []byte(tree), nil, none); len(more) > 0 && more[0].Method == c.Method {
			t.Errorf("%s is given once more", c.Method)
		}
	}
}
