package recordings

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The bridge's part: a page whose alert, confirm and prompt stop in the debugger
// until they are answered. The script is the product's own.

const (
	bridgeName  = "5f2c4a1e9d3b7a60"
	bridgeToken = "c0ffee0123456789"
	bridgeSeen  = "0a1b2c3d4e5f6071"
	bridgeOff   = "1111111111111111"
	bridgeOn    = "2222222222222222"
)

func bridgeScript(t testing.TB) string {
	t.Helper()
	source := func(name string) string {
		text, err := os.ReadFile("../../actors/session/bridge/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return strings.NewReplacer("WAIT", source("debugger.js"), "'SEEN'", "'"+bridgeSeen+"'", "'TOKEN'", "'"+bridgeToken+"'", "'SHARES'", "'5a5a'",
		"'WORDS'", "'"+bridgeOff+bridgeOn+"'", "'WORD'", "'"+bridgeOn+"'", "EPOCH", "1", "sourceURL=NAME", "sourceURL="+bridgeName).Replace(source("bridge.js"))
}

// bridge is what the product sends a session whose dialogs it wants.
func (c *client) bridge(session string) {
	c.t.Helper()
	c.send(session, "Debugger.setBlackboxPatterns", `{"patterns":["^(?!`+bridgeName+`$)"],"skipAnonymous":true}`)
	c.send(session, "Debugger.enable", "")
	c.send(session, "Page.addScriptToEvaluateOnNewDocument", encode(c.t, map[string]any{"source": bridgeScript(c.t), "runImmediately": true}))
}

func encode(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// waits returns the call that a session was told of last: its frame on the stack, and
// its name.
func (c *client) waits(session string) (frame, key string) {
	c.t.Helper()
	c.stage.mu.Lock()
	defer c.stage.mu.Unlock()
	for _, l := range slices.Backward(c.stage.lines) {
		var e struct {
			Method    string
			SessionID string
			Params    struct {
				CallFrames []struct {
					CallFrameID string
					This        struct{ Value string }
				}
			}
		}
		if l.conn == c.name && l.dir == "recv" && json.Unmarshal(l.raw, &e) == nil && e.Method == "Debugger.paused" && e.SessionID == session {
			at := e.Params.CallFrames[0]
			key, _, _ = strings.Cut(strings.TrimPrefix(at.This.Value, bridgeToken), " ")
			return at.CallFrameID, key
		}
	}
	c.t.Fatalf("%s never paused in %s", c.name, session)
	return "", ""
}

// set gives the waiting call its answer, which it takes when it is resumed.
func (c *client) set(session, answer string) {
	c.t.Helper()
	frame, key := c.waits(session)
	c.setIn(session, frame, key, answer)
}

func (c *client) setIn(session, frame, key, answer string) {
	c.t.Helper()
	c.send(session, "Debugger.evaluateOnCallFrame", encode(c.t, map[string]any{
		"callFrameId": frame, "expression": `id==="` + key + `"&&(answer=` + answer + `,true)`, "silent": true, "returnByValue": true,
	}))
}

func (c *client) reply(session, answer string) {
	c.t.Helper()
	c.set(session, answer)
	c.send(session, "Debugger.resume", "")
}

func bridged(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, target := c.begin()
	c.bridge(session)
	c.evaluate(session, "confirm('c \u00e9')")
	c.evaluate(session, "1+1")
	c.evaluate(session, "confirm('within')")
	c.send(session, "Page.getFrameTree", "")
	c.send(session, "Target.setAutoAttach", attachChildren)
	c.send(session, "Network.getSecurityIsolationStatus", `{"frameId":"`+target+`"}`)
	frame, _ := c.waits(session)
	c.setIn(session, frame, "another", "true")
	c.reply(session, "true")
	c.setIn(session, frame, "late", "true")
	c.send(session, "Debugger.resume", "")
	c.evaluate(session, "prompt('q','dd')")
	c.reply(session, `"typed"`)
	c.evaluate(session, "prompt('q')")
	c.reply(session, "false")
	c.evaluate(session, "setTimeout(()=>alert('a'),0)")
	c.setIn(session, "nonsense", "x", "true")
	c.reply(session, "true")
	c.evaluate(session, "confirm('who resumes is asked again')")
	for range 3 {
		c.send(session, "Debugger.resume", "")
	}
	c.evaluate(session, "confirm('given back')")
	c.reply(session, "null")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.evaluate(session, "setTimeout(()=>confirm('first'),0)")
	c.evaluate(session, "setTimeout(()=>confirm('second'),0)")
	c.reply(session, "true")
	c.reply(session, "true")
	c.send(session, "Page.removeScriptToEvaluateOnNewDocument", `{"identifier":"1"}`)
	c.evaluate(session, "for (const f of [alert, confirm, prompt]) { const heard = f['"+bridgeOff+"']; if (heard) heard() }")
	c.evaluate(session, "confirm('native')")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":true}`)
	c.send(session, "Debugger.disable", "")
	c.send(session, "Debugger.resume", "")
	c.setIn(session, frame, "x", "true")
}

func bridgeNavigates(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.bridge(session)
	c.send(session, "Page.navigate", `{"url":"http://a.test/q"}`)
	for _, then := range [][2]string{
		{"Page.navigate", `{"url":"http://a.test/p"}`},
		{"Page.navigate", `{"url":"http://b.test/x"}`},
		{"Page.reload", ""},
	} {
		c.evaluate(session, "setTimeout(()=>confirm('c'),0)")
		c.send(session, then[0], then[1])
		c.evaluate(session, "1+1")
	}
	c.evaluate(session, "setTimeout(()=>confirm('c'),0)")
	c.send(session, "Page.crash", "")
	c.send(session, "Page.reload", "")
	// Its debugger is on and stops nowhere, until it is turned on anew.
	c.evaluate(session, "confirm('missed')")
	c.send(session, "Debugger.enable", "")
	c.evaluate(session, "confirm('missed again')")
	c.send(session, "Debugger.disable", "")
	c.send(session, "Debugger.enable", "")
	c.evaluate(session, "setTimeout(()=>confirm('c'),0)")
	c.send(session, "Page.navigate", `{"url":"http://a.test/p"}`)
}

func bridgeTwo(t testing.TB, s *stage) {
	a, b := s.connect(t, "A"), s.connect(t, "B")
	first, _ := a.begin()
	second, _ := b.root()
	b.batch(second)
	a.bridge(first)
	b.bridge(second)
	a.evaluate(first, "setTimeout(()=>confirm('one'),0)")
	b.settle()
	b.reply(second, "true")
	a.settle()
	a.evaluate(first, "setTimeout(()=>confirm('two'),0)")
	b.settle()
	a.drop()
	b.settle()
	c := s.connect(t, "C")
	third, _ := c.root()
	c.batch(third)
	c.bridge(third)
	b.send(second, "Debugger.disable", "")
	c.reply(third, "true")
	b.settle()
	c.evaluate(third, "setTimeout(()=>confirm('three'),0)")
	c.drop()
	b.evaluate(second, "1+1")
	b.evaluate(second, "confirm('four')")
}

func bridgeFrames(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.bridge(session)
	c.addFrame(session, "f", "/child")
	c.addFrame(session, "g", s.url("http://b.test/x"))
	inner, target := c.attached()
	c.batch(inner)
	c.bridge(inner)
	c.send(session, "DOM.getFrameOwner", `{"frameId":"`+target+`"}`)
	c.evaluate(inner, "setTimeout(()=>confirm('inner'),0)")
	c.evaluate(session, "setTimeout(()=>confirm('outer'),0)")
	c.reply(session, "true")
	c.reply(inner, "true")
	c.evaluate(inner, "setTimeout(()=>confirm('moved'),0)")
	c.setSource(session, "g", s.url("http://c.test/n"))
	c.evaluate(inner, "setTimeout(()=>confirm('removed'),0)")
	c.evaluate(session, "document.getElementById('g').remove()")
	c.evaluate(session, "1+1")
}

func bridgePopup(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.bridge(session)
	c.evaluate(session, "void setTimeout(()=>window.open('/pop'),0)")
	opened, _ := c.attached()
	c.send(opened, "Inspector.enable", "")
	c.send(opened, "Page.enable", "")
	c.send(opened, "Runtime.enable", "")
	c.bridge(opened)
	c.send(opened, "Runtime.runIfWaitingForDebugger", "")
	// One process: who waits holds the other's scripts too.
	c.evaluate(opened, "setTimeout(()=>confirm('popup'),0)")
	c.evaluate(session, "1+1")
	c.evaluate(session, "confirm('within')")
	c.evaluate(session, "setTimeout(()=>confirm('opener'),0)")
	c.send(session, "Debugger.resume", "")
	c.reply(opened, "true")
	c.reply(session, "true")
}

func bridgeUnload(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.bridge(session)
	c.send(session, "Runtime.evaluate", `{"expression":"void(onbeforeunload=e=>e.preventDefault())","userGesture":true}`)
	c.evaluate(session, "setTimeout(()=>confirm('c'),0)")
	c.send(session, "Page.navigate", `{"url":"http://a.test/q"}`)
	c.linger()
	c.evaluate(session, "1+1")
	c.send(session, "Page.handleJavaScriptDialog", `{"accept":false}`)
	c.reply(session, "true")
	c.evaluate(session, "1+1")
}

func bridgeChild(t testing.TB, s *stage) {
	c := s.connect(t, "A")
	session, _ := c.begin()
	c.bridge(session)
	c.addFrame(session, "f", "/child")
	c.send(session, "Runtime.evaluate", `{"expression":"setTimeout(()=>confirm('c'),0)","contextId":3}`)
	c.setSource(session, "f", "/back")
	c.linger()
	c.evaluate(session, "setTimeout(()=>alert('later'),0)")
	c.send(session, "Debugger.resume", "")
	c.linger()
	c.evaluate(session, "1+1")
}
