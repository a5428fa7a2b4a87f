package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/internal/gateway/view"
	"holdfast/internal/rawcdp"
	"holdfast/messages"
)

func target(id, kind, context string) view.Target {
	info := fmt.Sprintf(`{"targetId":%q,"type":%q,"title":"t","url":"http://%s.test/","attached":true,"canAccessOpener":false,"browserContextId":%q}`, id, kind, id, context)
	t, ok := view.ReadTarget([]byte(info))
	if !ok {
		panic("the test writes no target")
	}
	return t
}

// shared is the view of a client of a task that shares its browser.
func shared() *view.View {
	return view.New(view.Config{Caller: rawcdp.Caller{IsShared: true, Context: "ours"}, DefaultContext: "ours"})
}

// show prints effects, one a line.
func show(effects []view.Effect) string {
	var b strings.Builder
	for _, e := range effects {
		switch e := e.(type) {
		case view.Reply:
			if e.Err != nil {
				fmt.Fprintf(&b, "reply %d %s error %d %s\n", e.ID, e.Session, e.Err.Code, e.Err.Message)
			} else {
				fmt.Fprintf(&b, "reply %d %s %s\n", e.ID, e.Session, e.Result)
			}
		case view.Event:
			fmt.Fprintf(&b, "event %s %s %s\n", e.Session, e.Method, e.Params)
		case view.Forward:
			fmt.Fprintf(&b, "forward %d %s %s %s\n", e.ID, e.Session, e.Method, e.Params)
		case view.Call:
			fmt.Fprintf(&b, "call %s %s %s %s\n", e.Session, e.Method, e.Params, e.Child)
		default:
			fmt.Fprintf(&b, "%T %+v\n", e, e)
		}
	}
	return b.String()
}

func command(id int64, method, params string) view.Command {
	return view.Command{ID: id, Method: method, Params: []byte(params)}
}

func TestAPageIsToldBeforeTheReplyThatMadeIt(t *testing.T) {
	t.Parallel()
	v := shared()
	if got := show(v.Step(command(1, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`))); got != "view.Holds {IsOn:true}\nreply 1  {}\n" {
		t.Fatal(got)
	}
	open, ok := v.Step(command(2, "Target.createTarget", `{"url":"about:blank"}`))[0].(view.Open)
	if !ok || open.Context != "" || open.URL != "about:blank" {
		t.Fatalf("%+v", open)
	}
	attach, ok := v.Step(view.Seen{Target: target("P1", "page", "ours")})[0].(view.Call)
	if !ok || attach.Method != "Target.attachToTarget" {
		t.Fatalf("%+v", attach)
	}
	if got := show(v.Step(view.Outcome{Tag: open.Tag, Target: "P1"})); got != "" {
		t.Fatalf("the reply came before the attach: %s", got)
	}
	got := show(v.Step(view.Attached{Session: "S1", Target: target("P1", "page", "ours"), Params: []byte(`{"sessionId":"S1"}`)}))
	want := "view.Began {Session:S1 Parent: Target:P1 IsBrowser:false IsWorker:false IsAuto:true}\nevent  Target.attachedToTarget {\"sessionId\":\"S1\"}\nreply 2  {\"targetId\":\"P1\"}\n"
	if got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
	if got := show(v.Step(view.Outcome{Tag: attach.Tag, Result: []byte(`{"sessionId":"S1"}`)})); got != "" {
		t.Fatalf("the client hears of an attach that it has not asked for: %s", got)
	}
}

// TestAFurtherBrowserSessionHasAStateOfItsOwn: it discovers and attaches for itself, under the
// same view.
func TestAFurtherBrowserSessionHasAStateOfItsOwn(t *testing.T) {
	t.Parallel()
	v := shared()
	v.Step(view.Seen{Target: target("P1", "page", "ours")})
	steps := []struct {
		in   any
		want string
	}{
		{command(1, "Target.attachToBrowserTarget", `{}`), "forward 1  Target.attachToBrowserTarget \n"},
		{
			view.Attached{Session: "B", Target: target("guid", "browser", ""), Params: []byte(`{}`)},
			"view.Began {Session:B Parent: Target: IsBrowser:true IsWorker:false IsAuto:false}\n" +
				`event  Target.attachedToTarget {"sessionId":"B","targetInfo":{"attached":true,"canAccessOpener":false,"targetId":"B","title":"","type":"browser","url":""},"waitingForDebugger":false}` + "\n",
		},
		{view.Command{ID: 2, Session: "B", Method: "Target.setDiscoverTargets", Params: []byte(`{"discover":true}`)}, "event B Target.targetCreated {\"targetInfo\":" + strings.Replace(string(target("P1", "page", "ours").Info), `"attached":true`, `"attached":false`, 1) + "}\nreply 2 B {}\n"},
		{view.Command{ID: 3, Session: "B", Method: "Fetch.enable"}, "reply 3 B error -32000 Fetch.enable would reach beyond the task: it shares the browser\n"},
		{view.Command{ID: 4, Session: "B", Method: "Target.setAutoAttach", Params: []byte(`{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`)}, "view.Holds {IsOn:false}\ncall B Target.attachToTarget {\"targetId\":\"P1\",\"flatten\":true} \n"},
		{view.Attached{Parent: "B", Session: "S", Target: target("P1", "page", "ours"), Params: []byte(`{}`)}, "view.Began {Session:S Parent:B Target:P1 IsBrowser:false IsWorker:false IsAuto:true}\nevent B Target.attachedToTarget {}\nreply 4 B {}\n"},
		{view.Command{ID: 5, Session: "S", Method: "Target.attachToBrowserTarget"}, "reply 5 S error -32000 Not allowed\n"},
		{view.Seen{Target: target("P2", "page", "ours")}, "event B Target.targetCreated {\"targetInfo\":" + strings.Replace(string(target("P2", "page", "ours").Info), `"attached":true`, `"attached":false`, 1) + "}\ncall B Target.attachToTarget {\"targetId\":\"P2\",\"flatten\":true} \n"},
		{command(6, "Target.detachFromTarget", `{"sessionId":"B"}`), "call  Target.detachFromTarget  B\n"},
		{view.Detached{Session: "B", Params: []byte(`{"targetId":"guid"}`)}, "view.Holds {IsOn:false}\nview.Ended {Session:B}\nview.Ended {Session:S}\nevent  Target.detachedFromTarget {\"sessionId\":\"B\",\"targetId\":\"B\"}\n"},
		{view.Seen{Target: target("P3", "page", "ours")}, ""},
		{view.Command{ID: 7, Session: "B", Method: "Target.getTargets"}, "reply 7 B error -32001 Session with given id not found.\n"},
	}
	for i, s := range steps {
		if got := show(v.Step(s.in)); got != s.want {
			t.Errorf("step %d: got\n%swant\n%s", i, got, s.want)
		}
	}
}

func TestAPageThatIsClosedMeanwhileIsReplied(t *testing.T) {
	t.Parallel()
	v := shared()
	v.Step(command(1, "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true}`))
	open := v.Step(command(2, "Target.createTarget", `{"url":"about:blank"}`))[0].(view.Open)
	v.Step(view.Seen{Target: target("P1", "page", "ours")})
	v.Step(view.Outcome{Tag: open.Tag, Target: "P1"})
	if got := show(v.Step(view.Lost{Target: "P1"})); got != "reply 2  {\"targetId\":\"P1\"}\n" {
		t.Fatal(got)
	}
}

func TestWhatIsForeignDoesNotExist(t *testing.T) {
	t.Parallel()
	v := shared()
	v.Step(view.Seen{Target: target("P1", "page", "ours")})
	for _, c := range []struct{ method, params, want string }{
		{"Target.attachToTarget", `{"targetId":"X","flatten":true}`, "error -32602 No target with given id found"},
		{"Target.getTargetInfo", `{"targetId":"X"}`, "error -32602 No target with given id found"},
		{"Target.closeTarget", `{"targetId":"X"}`, "error -32602 No target with given id found"},
		{"Target.activateTarget", `{"targetId":"X"}`, "error -32602 No target with given id found"},
		{"Target.detachFromTarget", `{"sessionId":"X"}`, "error -32602 No session with given id"},
		{"Target.createTarget", `{"url":"about:blank","browserContextId":"X"}`, "error -32000 Failed to find browser context with id X"},
		{"Target.disposeBrowserContext", `{"browserContextId":"ours"}`, "error -32000 Failed to find context with id ours"},
		{"Browser.getWindowForTarget", `{"targetId":"X"}`, "error -32000 No target with given id"},
		{"Browser.getWindowBounds", `{"windowId":1}`, "error -32000 Browser window not found"},
		{"Storage.getCookies", `{"browserContextId":"X"}`, "error -32000 Storage.getCookies names a browser context that is not the task's"},
		{"Tracing.start", `{}`, "error -32000 Tracing.start would reach beyond the task: it shares the browser"},
		{"Fetch.enable", `{}`, "error -32000 Fetch.enable would reach beyond the task: it shares the browser"},
		{"Security.setIgnoreCertificateErrors", `{"ignore":true}`, "error -32000 Security.setIgnoreCertificateErrors would reach beyond the task: it shares the browser"},
		{"Foo.bar", `{}`, "error -32601 'Foo.bar' wasn't found"},
		{"Target.getTargets", `{}`, `{"targetInfos":[` + strings.Replace(string(target("P1", "page", "ours").Info), `"attached":true`, `"attached":false`, 1) + `]}`},
		{"Target.getBrowserContexts", ``, `{"browserContextIds":[],"defaultBrowserContextId":"ours"}`},
	} {
		if got := show(v.Step(command(7, c.method, c.params))); got != "reply 7  "+c.want+"\n" {
			t.Errorf("%s %s: %s", c.method, c.params, got)
		}
	}
	if got := show(v.Step(view.Command{ID: 8, Session: "S9", Method: "Target.getTargets"})); got != "reply 8 S9 error -32001 Session with given id not found.\n" {
		t.Error(got)
	}
}

func TestCommandsAreKeptWithinTheContext(t *testing.T) {
	t.Parallel()
	v := shared()
	for _, c := range []struct{ method, params, want string }{
		{"Browser.setDownloadBehavior", `{"behavior":"deny"}`, `{"behavior":"deny","browserContextId":"ours"}`},
		{"Storage.getCookies", ``, `{"browserContextId":"ours"}`},
		{"Browser.grantPermissions", `{"permissions":[]}`, `{"permissions":[],"browserContextId":"ours"}`},
	} {
		if got := show(v.Step(command(7, c.method, c.params))); got != "forward 7  "+c.method+" "+c.want+"\n" {
			t.Errorf("%s %s: %s", c.method, c.params, got)
		}
	}
	v.Step(view.Attached{Session: "S1", Target: target("P1", "page", "ours"), Params: []byte(`{"sessionId":"S1"}`)})
	page := v.Step(view.Command{ID: 7, Session: "S1", Method: "Storage.getCookies"})
	if call, ok := page[0].(view.Call); !ok || call.Session != "" || string(call.Params) != `{"browserContextId":"ours"}` {
		t.Errorf("on a page's session: %s", show(page))
	}
	made := v.Step(command(1, "Target.createBrowserContext", `{"disposeOnDetach":true}`))[0].(view.Call)
	if string(made.Params) != `{"disposeOnDetach":false}` || !made.IsShared {
		t.Fatalf("%+v: the context has to outlive the link", made)
	}
	v.Step(view.Outcome{Tag: made.Tag, Result: []byte(`{"browserContextId":"C1"}`)})
	if got := v.Mine(); len(got) != 1 || got[0] != "C1" {
		t.Fatalf("to be disposed of: %v", got)
	}
	if got := show(v.Step(command(7, "Storage.getCookies", `{"browserContextId":"C1"}`))); !strings.Contains(got, `forward 7  Storage.getCookies {"browserContextId":"C1"}`) {
		t.Error(got)
	}
	other := view.New(view.Config{Caller: rawcdp.Caller{IsShared: true}})
	if got := show(other.Step(command(7, "Browser.setDownloadBehavior", `{"behavior":"deny"}`))); got != "reply 7  {}\n" {
		t.Errorf("Playwright could not connect: %s", got)
	}
}

// TestNoClientSeesTheOtherTask: three clients of two tasks send random commands about ids of
// both; no effect of a client's view names what is the other task's.
func TestNoClientSeesTheOtherTask(t *testing.T) {
	t.Parallel()
	methods := make([]string, 0, len(view.Methods()))
	for m := range view.Methods() {
		methods = append(methods, m)
	}
	methods = append(methods, "Page.close", "Page.handleJavaScriptDialog", "Storage.getCookies", "DOM.setFileInputFiles", "Foo.bar")
	rapid.Check(t, func(t *rapid.T) {
		type client struct {
			*view.View
			task   string
			awaits map[int64]int
			calls  map[view.Tag]bool
		}
		var clients []*client
		for _, task := range []string{"aaa", "aaa", "bbb"} {
			clients = append(clients, &client{
				View: view.New(view.Config{Caller: rawcdp.Caller{IsShared: true, Context: task + "-ctx"}, DefaultContext: task + "-ctx", Dialogs: view.DialogsClient}),
				task: task, awaits: map[int64]int{}, calls: map[view.Tag]bool{},
			})
		}
		check := func(c *client, effects []view.Effect) {
			foreign := []byte(map[string]string{"aaa": "bbb", "bbb": "aaa"}[c.task])
			for _, e := range effects {
				var text []byte
				switch e := e.(type) {
				case view.Reply:
					if text = e.Result; e.Err != nil {
						text = nil // it may repeat what the client has sent
					}
					c.awaits[e.ID]--
				case view.Event:
					text = append([]byte(e.Session), e.Params...)
				case view.Forward:
					c.awaits[e.ID]-- // its reply is the browser's
					text = append([]byte(e.Session), e.Params...)
				case view.Call:
					text = append([]byte(e.Session+e.Child), e.Params...)
					c.calls[e.Tag] = true
				case view.Open:
					text = []byte(e.Context)
					c.calls[e.Tag] = true
				case view.Close:
					text = []byte(e.Target)
					c.calls[e.Tag] = true
				case view.AnswerDialog:
					text = []byte(e.Target)
					c.calls[e.Tag] = true
				}
				if bytes.Contains(text, foreign) {
					t.Fatalf("a client of %s gets %T %s", c.task, e, text)
				}
			}
		}
		id := func(label string) string {
			return rapid.SampledFrom([]string{"aaa", "bbb"}).Draw(t, label) + rapid.SampledFrom([]string{"-p1", "-p2", "-tab", "-ctx", "-s1", "-s2", "-b1"}).Draw(t, label)
		}
		next := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			c := rapid.SampledFrom(clients).Draw(t, "client")
			own := c.task + rapid.SampledFrom([]string{"-p1", "-p2", "-tab"}).Draw(t, "own")
			kind := "page"
			if strings.HasSuffix(own, "tab") {
				kind = "tab"
			}
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				check(c, c.Step(view.Seen{Target: target(own, kind, c.task+"-ctx")}))
			case 1:
				check(c, c.Step(view.Lost{Target: messages.TargetID(own)}))
			case 2:
				s := messages.SessionID(c.task + rapid.SampledFrom([]string{"-s1", "-s2"}).Draw(t, "session"))
				check(c, c.Step(view.Attached{Session: s, Target: target(own, kind, c.task+"-ctx"), Params: []byte(`{}`)}))
			case 3:
				check(c, c.Step(view.Detached{Session: messages.SessionID(c.task + "-s1"), Params: []byte(`{}`)}))
			case 7: // another browser session, whose target's id is the browser's secret
				in := any(view.Attached{Session: messages.SessionID(c.task + "-b1"), Target: target("secret", "browser", ""), Params: []byte(`{"secret":1}`)})
				if rapid.Bool().Draw(t, "its end") {
					in = view.Detached{Session: messages.SessionID(c.task + "-b1"), Params: []byte(`{"secret":1}`)}
				}
				out := c.Step(in)
				if text := show(out); strings.Contains(text, "secret") {
					t.Fatalf("a client is told the browser's secret: %s", text)
				}
				check(c, out)
			case 4:
				for tag := range c.calls {
					delete(c.calls, tag)
					check(c, c.Step(view.Outcome{Tag: tag, Target: messages.TargetID(own), Result: []byte(`{"browserContextId":"` + c.task + `-made","windowId":1}`)}))
					break
				}
			default:
				params := map[string]any{}
				for _, name := range []string{"targetId", "browserContextId", "sessionId", "openerId"} {
					if rapid.Bool().Draw(t, name) {
						params[name] = id(name)
					}
				}
				for _, name := range []string{"autoAttach", "waitForDebuggerOnStart", "flatten", "discover", "accept", "disposeOnDetach"} {
					if rapid.Bool().Draw(t, name) {
						params[name] = true
					}
				}
				if rapid.Bool().Draw(t, "url") {
					params["url"] = "about:blank"
				}
				raw, err := json.Marshal(params)
				if err != nil {
					t.Fatal(err)
				}
				next++
				cmd := view.Command{ID: next, Method: rapid.SampledFrom(methods).Draw(t, "method"), Params: raw}
				if rapid.Bool().Draw(t, "on a session") {
					cmd.Session = messages.SessionID(id("session"))
				}
				isBrowser := strings.HasSuffix(string(cmd.Session), "-b1")
				if cmd.Session != "" && !isBrowser && (view.IsDirect(cmd.Method) || rawcdp.Of(cmd.Method) == rawcdp.Machine) {
					continue // Chrome looks at none of these names there
				}
				c.awaits[next] = 1
				if cmd.Session != "" && strings.HasPrefix(string(cmd.Session), map[string]string{"aaa": "bbb", "bbb": "aaa"}[c.task]) {
					out := c.Step(cmd)
					if r, ok := out[0].(view.Reply); !ok || len(out) != 1 || r.Err == nil || r.Err.Code != view.CodeNoSession {
						t.Fatalf("a session of the other task: %s", show(out))
					}
					c.awaits[next]--
					continue
				}
				out := c.Step(cmd)
				if strings.Contains(fmt.Sprint(params["browserContextId"]), "made") {
					continue
				}
				check(c, filterSent(out, cmd))
			}
			for n, owed := range c.awaits {
				if owed < 0 {
					t.Fatalf("command %d was replied twice", n)
				}
			}
		}
	})
}

// filterSent leaves out the commands that go to the browser with ids that it does not look
// at: of openerId and sessionId no method of the table reads one.
func filterSent(out []view.Effect, cmd view.Command) []view.Effect {
	var kept []view.Effect
	for _, e := range out {
		if f, ok := e.(view.Forward); ok {
			var p map[string]json.RawMessage
			if json.Unmarshal(f.Params, &p) == nil {
				delete(p, "openerId")
				delete(p, "sessionId")
				f.Params, _ = json.Marshal(p)
			}
			e = f
		}
		if c, ok := e.(view.Call); ok && c.Method == cmd.Method {
			var p map[string]json.RawMessage
			if json.Unmarshal(c.Params, &p) == nil {
				delete(p, "openerId")
				delete(p, "sessionId")
				c.Params, _ = json.Marshal(p)
			}
			e = c
		}
		kept = append(kept, e)
	}
	return kept
}

// TestTabsAreLookedAtByFilter: the gateway asks whose tabs are only for a client that is shown them.
func TestTabsAreLookedAtByFilter(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]bool{
		`{"discover":true,"filter":[{}]}`:                                  true,
		`{"autoAttach":true,"filter":[{"type":"page","exclude":true},{}]}`: true,
		`{"filter":[{"type":"tab"}]}`:                                      true,
		`{"discover":true}`:                                                false,
		`{"filter":[{"type":"page"}]}`:                                     false,
		`{"filter":[{"type":"tab","exclude":true},{}]}`:                    false,
		`{"filter":1}`:                                                     false,
		``:                                                                 false,
	} {
		for _, method := range []string{"Target.setDiscoverTargets", "Target.setAutoAttach", "Target.getTargets"} {
			if got := view.HasTabs(method, []byte(params)); got != want {
				t.Errorf("%s %s: %v", method, params, got)
			}
		}
		if view.HasTabs("Target.createTarget", []byte(params)) {
			t.Errorf("Target.createTarget %s looks at tabs", params)
		}
	}
}

// TestAPageIsClosedBeforeItsSessionEnds: the supervisor's word of the close may come behind the
// browser's of the session's end.
func TestAPageIsClosedBeforeItsSessionEnds(t *testing.T) {
	t.Parallel()
	v := shared()
	page := target("P", "page", "ours")
	v.Step(view.Seen{Target: page})
	v.Step(view.Attached{Session: "S", Target: page, Params: []byte(`{"sessionId":"S"}`)})
	closing := v.Step(view.Command{ID: 7, Session: "S", Method: "Page.close"})
	end, ok := closing[0].(view.Close)
	if !ok {
		t.Fatal(show(closing))
	}
	got := show(v.Step(view.Detached{Session: "S", Params: []byte(`{"sessionId":"S"}`)}))
	if !strings.HasPrefix(got, "reply 7 S {}\n") || !strings.HasSuffix(got, "event  Target.detachedFromTarget {\"sessionId\":\"S\"}\n") {
		t.Errorf("got %s", got)
	}
	if late := v.Step(view.Outcome{Tag: end.Tag}); len(late) > 0 {
		t.Errorf("the second reply is %s", show(late))
	}
}
