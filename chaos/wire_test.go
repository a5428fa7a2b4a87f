package chaos_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"holdfast/chaos"
)

// FuzzCommand: whatever a client sends, the browser answers with JSON or not at all, and
// keeps answering.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"Browser.getVersion"}`, `{"id":1.5,"method":"Browser.getVersion"}`, `[]`, `nonsense`, `null`, `{}`,
		`{"id":1,"method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}}`,
		`{"id":1,"method":"Target.createTarget","params":{"url":"http://a.test/\u00e9"}}`,
		`{"id":1,"method":"Target.createTarget","params":{"url":"http://[::1"}}`,
		`{"id":1,"method":"Target.closeTarget","params":{"targetId":""}}`,
		`{"id":1,"method":"Target.detachFromTarget","params":{"sessionId":""}}`,
		`{"id":1,"method":"Target.attachToTarget","params":{"targetId":5}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		synctest.Test(t, func(t *testing.T) {
			w := open(t, chaos.Options{Pages: 1})
			c := w.dial()
			c.write(text)
			synctest.Wait()
			if w.b.IsDead() {
				return
			}
			c.next = 1 << 20
			id := c.send("", "Target.getTargets", "")
			synctest.Wait()
			if c.replies(id) != 1 {
				t.Errorf("no answer after %q", text)
			}
			for _, m := range c.all() {
				if !json.Valid([]byte(m.raw)) {
					t.Errorf("said %q", m.raw)
				}
			}
		})
	})
}

// FuzzExpression does the same for what a page is asked to run.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"1+1", "'a\\'b'", "document.title", "void(void(1))", "setTimeout(()=>{alert('x')},0)", "confirm('x')", "prompt('a','b')",
		"document.body.appendChild(Object.assign(document.createElement('iframe'),{id:'f',src:'http://b.test/x'}))",
		"document.getElementById('f').src='http://c.test/'", "window.open('/pop')", "location.href='http://b.test/'",
		"throw new Error('x')", "while(true);", "setTimeout(()=>setTimeout(()=>1,0),0)", "\x00unknown",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		synctest.Test(t, func(t *testing.T) {
			_, c, _, s := supervised(t, chaos.Options{})
			quoted, err := json.Marshal(expression)
			if err != nil {
				t.Fatal(err)
			}
			c.send(s, "Runtime.evaluate", `{"expression":`+string(quoted)+`}`)
			id := c.send("", "Target.getTargets", "")
			synctest.Wait()
			if c.replies(id) != 1 {
				t.Errorf("no answer after %q", expression)
			}
		})
	})
}
