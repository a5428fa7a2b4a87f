package recordings

import "testing"

// scenario is a client's side of a story, in words that the fake and a real
// page both understand (chaos/script.go).
type scenario struct {
	name string
	play func(t testing.TB, s *stage)
	// kills says that the browser is gone at the end.
	kills bool
	// unsure is an event that comes on some runs and on others not.
	unsure string
}

var scenarios = []scenario{
	{name: "attach", play: attach},
	{name: "navigate", play: navigate},
	{name: "oopif", play: oopif},
	{name: "dialogs", play: dialogs},
	{name: "dialog-in-oopif", play: dialogInOOPIF},
	{name: "two-clients", play: twoClients},
	{name: "two-dialogs", play: twoDialogs},
	{name: "two-dialogs-reload", play: twoDialogsReload},
	{name: "popup", play: popup},
	{name: "popup-two-waiters", play: popupTwoWaiters},
	{name: "crash", play: crash},
	{name: "crash-frames", play: crashFrames},
	{name: "errors", play: errorsOfEveryKind},
	{name: "beforeunload", play: beforeUnload},
	{name: "dropped-dialog", play: droppedDialog},
	{name: "release", play: release},
	{name: "busy", play: busy},
	{name: "console-replay", play: consoleReplay},
	{name: "poison", play: poison, kills: true},
	{name: "bridge", play: bridged},
	{name: "bridge-navigates", play: bridgeNavigates},
	{name: "bridge-two", play: bridgeTwo},
	{name: "bridge-frames", play: bridgeFrames},
	// V8 tells of a script once, and may find the popup's among those of its opener.
	{name: "bridge-popup", play: bridgePopup, unsure: "Debugger.scriptParsed"},
	{name: "bridge-unload", play: bridgeUnload},
	{name: "bridge-child", play: bridgeChild},
}

const (
	attachPages    = `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{"type":"page"}]}`
	attachChildren = `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}`
	enabled        = `{"enabled":true}`
)

// root is what every client begins with; it returns the page's session and
// target.
func (c *client) root() (session, target string) {
	c.t.Helper()
	c.send("", "Target.setDiscoverTargets", `{"discover":true}`)
	c.send("", "Target.setAutoAttach", attachPages)
	return c.attached()
}

// batch is the recipe for one session.
func (c *client) batch(session string) {
	c.t.Helper()
	c.send(session, "Inspector.enable", "")
	c.send(session, "Page.enable", "")
	c.send(session, "Runtime.enable", "")
	c.send(session, "Target.setAutoAttach", attachChildren)
	c.send(session, "Page.getFrameTree", "")
	c.send(session, "Runtime.runIfWaitingForDebugger", "")
}

// begin is root, batch and a page.
func (c *client) begin() (session, target string) {
	c.t.Helper()
	session, target = c.root()
	c.batch(session)
	c.send(session, "Page.navigate", `{"url":"http://a.test/p"}`)
	return session, target
}

func (c *client) addFrame(session, id, url string) {
	c.t.Helper()
	c.evaluate(session, `void document.body.appendChild(Object.assign(document.createElement('iframe'),{id:'`+id+`',src:'`+url+`'}))`)
}

func (c *client) setSource(session, id, url string) {
	c.t.Helper()
	c.evaluate(session, `void(document.getElementById('`+id+`').src='`+url+`')`)
}

func attach(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	c.send("", "Browser.getVersion", "")
	session, target := c.root()
	c.send(session, "Page.setLifecycleEventsEnabled", enabled)
	c.batch(session)
	c.send(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"1","runImmediately":true}`)
	c.send("", "Target.setAutoAttach", attachPages) // adds nothing
	c.send("", "Target.getTargetInfo", `{"targetId":"`+target+`"}`)
	c.send(session, "Target.getTargetInfo", "")
	c.send("", "Target.createTarget", `{"url":"about:blank","background":true}`)
	second, other := c.attached()
	c.batch(second)
	c.send(second, "Page.getNavigationHistory", "")
	c.send("", "Target.attachToTarget", `{"targetId":"`+other+`","flatten":true}`)
	third, _ := c.attached()
	c.evaluate(third, "1+1")
	c.send("", "Target.detachFromTarget", `{"sessionId":"`+third+`"}`)
	c.evaluate(third, "1+1")
	c.send("", "Target.closeTarget", `{"targetId":"`+other+`"}`)
	c.evaluate(second, "1+1")
}

func navigate(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.send(session, "Page.setLifecycleEventsEnabled", enabled)
	c.evaluate(session, "document.title")
	c.evaluate(session, "location.href")
	c.send(session, "Page.navigate", `{"url":"http://a.test/q"}`)
	c.send(session, "Page.navigate", `{"url":"http://b.test/x"}`)
	c.send(session, "Page.reload", "")
	c.send(session, "Page.getFrameTree", "")
	c.send(session, "Page.getNavigationHistory", "")
	c.evaluate(session, "console.error('boo \u00e9 \u20ac')")
	c.evaluate(session, "setTimeout(()=>{throw new Error('late')},0)")
	c.evaluate(session, "throw new Error('now')")
	c.send(session, "Page.navigate", `{"url":"http://unresolvable.invalid/"}`) // last: it reloads itself after a second
}

func oopif(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.addFrame(session, "f", "/child")
	c.setSource(session, "f", s.url("http://b.test/x"))
	inner, _ := c.attached()
	c.batch(inner)
	c.send(inner, "Page.getFrameTree", "")
	c.send(session, "Page.getFrameTree", "")
	c.addFrame(inner, "g", s.url("http://c.test/n"))
	nested, _ := c.attached()
	c.batch(nested)
	c.setSource(session, "f", s.url("http://d.test/y")) // cross → other cross
	c.setSource(session, "f", "/back")                  // cross → same
	c.addFrame(session, "h", s.url("http://b.test/x"))
	inner, _ = c.attached()
	c.batch(inner)
	c.addFrame(inner, "g", s.url("http://c.test/n"))
	nested, _ = c.attached()
	c.batch(nested)
	c.evaluate(session, "document.getElementById('h').remove()")
	c.addFrame(session, "h", s.url("http://b.test/x"))
	inner, _ = c.attached()
	c.batch(inner)
	c.send(session, "Page.reload", "")
	c.addFrame(session, "h", s.url("http://b.test/x"))
	inner, _ = c.attached()
	c.batch(inner)
	c.send(session, "Page.navigate", `{"url":"http://d.test/y"}`)
}

func dialogs(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.evaluate(session, "prompt('q','dd')")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true,"promptText":"t"}`)
	c.evaluate(session, "prompt('q','dd')")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.evaluate(session, "prompt('q','dd')")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":false,"promptText":"t"}`)
	c.evaluate(session, "setTimeout(()=>confirm('c'),0)")
	c.send(session, "Page.getFrameTree", "")
	c.send(session, "Page.getNavigationHistory", "")
	c.send(session, "Network.getCookies", "")
	c.send(session, "Input.dispatchKeyEvent", `{"type":"keyUp","key":"Shift"}`)
	c.send(session, "Input.dispatchMouseEvent", `{"type":"mouseMoved","x":1,"y":1}`)
	c.send(session, "Emulation.setFocusEmulationEnabled", enabled)
	c.send(session, "Target.setAutoAttach", attachChildren)
	c.send(session, "Runtime.runIfWaitingForDebugger", "")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.evaluate(session, "setTimeout(()=>alert('a'),0)")
	c.send(session, "Page.navigate", `{"url":"http://a.test/q"}`)
	c.evaluate(session, "setTimeout(()=>alert('a'),0)")
	c.send(session, "Page.reload", "")
}

func dialogInOOPIF(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.addFrame(session, "f", s.url("http://b.test/x"))
	inner, _ := c.attached()
	c.batch(inner)
	c.evaluate(inner, "setTimeout(()=>prompt('q','dd'),0)")
	c.send(inner, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.evaluate(session, "1+1")
	c.evaluate(inner, "1+1")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true,"promptText":"t"}`)
	c.send("", "Page.handleJavaScriptDialog", `{"accept":true,"promptText":"t"}`)
	c.evaluate(inner, "setTimeout(()=>confirm('c'),0)")
	c.setSource(session, "f", s.url("http://c.test/n"))
	c.linger()
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.linger()
}

func twoClients(t testing.TB, s *stage) {
	a, b := s.connect(t, "A"), s.connect(t, "B")
	first, _ := a.begin()
	second, _ := b.root()
	b.batch(second)
	a.evaluate(first, "setTimeout(()=>confirm('one'),0)")
	b.settle()
	b.send(second, "Page.handleJavaScriptDialog", `{"accept":true}`)
	a.settle()
	a.send(first, "Page.handleJavaScriptDialog", `{"accept":false}`)
	b.settle()
	a.evaluate(first, "setTimeout(()=>prompt('two'),0)")
	b.settle()
	a.drop()
	b.settle()
	b.send(second, "Page.handleJavaScriptDialog", `{"accept":true,"promptText":"kept"}`)
	b.evaluate(second, "1+1")
}

func twoDialogs(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.addFrame(session, "f", s.url("http://b.test/x"))
	inner, _ := c.attached()
	c.batch(inner)
	c.evaluate(inner, "setTimeout(()=>confirm('one'),0)")
	c.evaluate(session, "setTimeout(()=>confirm('two'),0)")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.evaluate(inner, "1+1")
	c.evaluate(session, "1+1")
}

func twoDialogsReload(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.addFrame(session, "f", s.url("http://b.test/x"))
	inner, _ := c.attached()
	c.batch(inner)
	c.evaluate(session, "setTimeout(()=>confirm('one'),0)")
	c.evaluate(inner, "setTimeout(()=>confirm('two'),0)")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.evaluate(session, "1+1")
	c.send(session, "Page.reload", "")
}

func popup(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.evaluate(session, "void setTimeout(()=>window.open('/pop'),0)")
	opened, _ := c.attached()
	c.evaluate(session, "1+1")
	c.batch(opened)
	c.evaluate(opened, "document.title")
	c.send(opened, "Page.close", "")
}

func popupTwoWaiters(t testing.TB, s *stage) {
	a, b := s.connect(t, "A"), s.connect(t, "B")
	first, _ := a.begin()
	b.root()
	a.evaluate(first, "void setTimeout(()=>window.open('/pop'),0)")
	b.settle()
	one, _ := a.attached()
	two, _ := b.attached()
	a.send(one, "Page.enable", "")
	b.send(two, "Page.enable", "")
	a.send(one, "Runtime.runIfWaitingForDebugger", "")
	b.settle()
	b.send(two, "Runtime.runIfWaitingForDebugger", "")
	a.settle()
}

func crash(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, target := c.begin()
	c.send(session, "Page.crash", "")
	c.evaluate(session, "1+1")
	c.send("", "Target.attachToTarget", `{"targetId":"`+target+`","flatten":true}`)
	late, _ := c.attached()
	c.send(late, "Inspector.enable", "")
	c.send(late, "Page.enable", "")
	c.send(late, "Target.setAutoAttach", attachChildren)
	c.send(late, "Input.dispatchKeyEvent", `{"type":"keyUp","key":"Shift"}`)
	c.send(session, "Page.reload", "")
	c.evaluate(session, "1+1")
}

// crashFrames is a crash of a page that has a frame of another process, with one more within.
func crashFrames(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.addFrame(session, "f", s.url("http://b.test/x"))
	inner, _ := c.attached()
	c.batch(inner)
	c.addFrame(inner, "g", s.url("http://c.test/n"))
	nested, _ := c.attached()
	c.batch(nested)
	c.send(inner, "Page.crash", "")
	c.linger()
	c.addFrame(session, "h", s.url("http://c.test/n"))
	other, _ := c.attached()
	c.batch(other)
	c.send(session, "Page.crash", "")
	c.linger()
	c.send(session, "Page.reload", "")
	c.evaluate(session, "1+1")
}

func errorsOfEveryKind(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.root()
	for _, text := range []string{
		`{"id":1.5,"method":"Browser.getVersion"}`, `{"id":"x","method":"Browser.getVersion"}`,
		`{"id":2147483648,"method":"Browser.getVersion"}`, `{"method":"Browser.getVersion"}`,
		`{"id":500}`, `{"id":501,"method":5}`, `[]`, `nonsense`,
		`{"id":502,"method":"Browser.getVersion","params":[]}`,
		`{"id":503,"method":"Browser.getVersion","sessionId":5}`,
		`{"id":504,"method":"Browser.getVersion","sessionId":"ABCD"}`,
		`{"id":505,"method":"Browser.getVersion","sessionId":""}`,
		`{"id":506,"method":"Browser.getVersion","extra":1}`,
		`{"id":-1,"method":"Browser.getVersion"}`,
	} {
		c.raw(text)
	}
	c.send(session, "Browser.getVersion", "")
	for _, method := range []string{"Nope.nope", "Page.enable", "Runtime.evaluate"} {
		c.send("", method, "")
	}
	c.send(session, "Nope.nope", "")
	c.send(session, "Page.nope", "")
	c.send(session, "Page.handleJavaScriptDialog", "")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.send(session, "Page.navigate", "")
	c.send(session, "Page.navigate", `{"url":5}`)
	c.send(session, "Page.navigate", `{"url":"not a url"}`)
	for _, method := range []string{"Target.closeTarget", "Target.attachToTarget", "Target.getTargetInfo", "Target.activateTarget"} {
		c.send("", method, `{"targetId":"NOPE"}`)
	}
	c.send("", "Target.detachFromTarget", `{"sessionId":"NOPE"}`)
	c.send("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,"filter":[{}]}`)
	c.send("", "Target.setAutoAttach", `{"autoAttach":true}`)
	c.send("", "Target.setAutoAttach", `{"autoAttach":true,"waitForDebuggerOnStart":false}`)
}

func beforeUnload(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.send(session, "Runtime.evaluate", `{"expression":"void(onbeforeunload=e=>e.preventDefault())","userGesture":true}`)
	c.send(session, "Page.navigate", `{"url":"http://a.test/q"}`)
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":false}`)
	c.send(session, "Page.reload", "")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":false}`)
	c.send(session, "Page.close", "")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":false}`)
	c.send(session, "Page.navigate", `{"url":"http://a.test/q"}`)
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
}

func droppedDialog(t testing.TB, s *stage) {
	a := s.connect(t, "A")
	first, _ := a.begin()
	a.evaluate(first, "setTimeout(()=>confirm('c'),0)")
	a.drop()
	b := s.connect(t, "B")
	second, _ := b.root()
	b.batch(second)
	b.send(second, "Page.handleJavaScriptDialog", `{"accept":true}`)
}

func consoleReplay(t testing.TB, s *stage) {
	a := s.connect(t, "A")
	first, _ := a.begin()
	a.evaluate(first, "console.error('gone with its document')")
	a.send(first, "Page.navigate", `{"url":"http://a.test/q"}`)
	a.evaluate(first, "console.error('seen')")
	a.evaluate(first, "setTimeout(()=>{throw new Error('late')},0)")
	a.drop()
	b := s.connect(t, "B")
	second, _ := b.root()
	b.batch(second)
	b.evaluate(second, "console.error('after')")
	b.send(second, "Runtime.enable", "") // once more: nothing
	b.send(second, "Runtime.disable", "")
	b.send(second, "Runtime.enable", "")
	b.send(second, "Page.navigate", `{"url":"http://b.test/x"}`)
	b.send(second, "Runtime.disable", "")
	b.send(second, "Runtime.enable", "")
}

func release(t testing.TB, s *stage) {
	a := s.connect(t, "A")
	first, _ := a.begin()
	a.evaluate(first, "setTimeout(()=>confirm('c'),0)")
	a.drop()
	b := s.connect(t, "B")
	b.send("", "Target.setDiscoverTargets", `{"discover":true}`)
	b.send("", "Target.setAutoAttach", attachPages)
	second, target := b.attached()
	b.send("", "Target.detachFromTarget", `{"sessionId":"`+second+`"}`)
	b.send("", "Target.setAutoAttach", `{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}`)
	b.send("", "Target.createTarget", `{"url":"about:blank","newWindow":true}`)
	b.settle()
	b.send("", "Target.attachToTarget", `{"targetId":"`+target+`","flatten":true}`)
	third, _ := b.attached()
	b.send(third, "Page.enable", "")
	b.evaluate(third, "1+1")
}

func busy(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, target := c.begin()
	c.evaluate(session, "setTimeout(()=>{while(true);},0)")
	c.send("", "Target.attachToTarget", `{"targetId":"`+target+`","flatten":true}`)
	late, _ := c.attached()
	c.send(late, "Inspector.enable", "")
	c.send(late, "Page.enable", "")
	c.send(late, "Input.dispatchKeyEvent", `{"type":"keyUp","key":"Shift"}`)
	c.send(late, "Page.getNavigationHistory", "")
	c.send(session, "Runtime.terminateExecution", "")
	c.evaluate(session, "1+1")
}

func poison(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.addFrame(session, "f", s.url("http://b.test/x"))
	inner, _ := c.attached()
	c.batch(inner)
	c.evaluate(inner, "setTimeout(()=>confirm('c'),0)")
	c.evaluate(session, "document.getElementById('f').remove()")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	select {
	case <-c.done:
	default:
		c.settle()
	}
}
