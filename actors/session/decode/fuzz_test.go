package decode_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/actors/session/page"
	"holdfast/actors/session/sessiontest"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// What a browser says runs through here on the link's reader: whatever it is,
// it may not end the node, and nothing unbounded may come out of it.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"type":"error"}`,
		`{"type":"error","args":[null,{"type":"string","value":"token=abcdef123456"}],"timestamp":1,"stackTrace":{"callFrames":[null]}}`,
		`{"timestamp":1,"exceptionDetails":{"text":"Uncaught","exception":null,"stackTrace":{"callFrames":[null]}}}`,
		`{"frame":{"id":"F","parentId":"P","loaderId":"L","url":"http://a.test/","securityOrigin":"://"},"type":"BackForwardCacheRestore"}`,
		`{"frameId":"F","parentFrameId":"P","reason":"swap","loaderId":"L","name":"load","url":"http://a.test/"}`,
		`{"sessionId":"S","targetInfo":{"targetId":"T","type":"page","title":"t","url":"u","attached":true},"waitingForDebugger":true}`,
		`{"url":"http://a.test","frameId":"F","message":"m\ud800","type":"prompt","hasBrowserHandler":true,"defaultPrompt":"d"}`,
		`{"type":"error","args":[{"type":"number","value":"` + "\xdd" + `"}]}`, // is said as it stands
		`{"frameId":"F","result":true,"userInput":""}`,
		`{"name":"` + bridge.NewSecret(sessiontest.Secret).Binding() + `","payload":"` + sessiontest.Secret[16:32] + `1-2-3-4 prompt 4 5 u://said?dflt","executionContextId":3}`,
		`{"name":"` + bridge.NewSecret(sessiontest.Secret).Binding() + `","payload":"` + sessiontest.Secret[16:32] + `+","executionContextId":3}`,
		`{"name":"` + bridge.NewSecret(sessiontest.Secret).Asks() + `","payload":"{\"kind\":\"permission\",\"key\":\"1\",\"names\":\"camera,microphone\",\"origin\":\"https://a.test\",\"top\":\"https://a.test\"}","executionContextId":3}`,
		`{"frameId":"F","mode":"selectMultiple","backendNodeId":7}`,
		`{"requestId":"interception-job-1.0","frameId":"F","request":{"url":"https://` + bridge.NewSecret(sessiontest.Secret).Host() + `/label.1-2-3-4"}}`,
		`{"requestId":"interception-job-1.0","frameId":"F","request":{"url":"https://a.test/` + bridge.NewSecret(sessiontest.Secret).Path() + `/label.1-2-3-4"}}`,
	} {
		f.Add([]byte(seed))
	}
	bridge := bridge.Settings{IsOn: true, By: mail.ByRequest, Epoch: 1, Secret: bridge.NewSecret(sessiontest.Secret)}
	cfg := page.Config{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}, IsPage: true, Bridge: bridge}
	root := decode.Source{Identity: effect.Identity{Gen: 1}, Secret: bridge.Secret}
	f.Fuzz(func(t *testing.T, params []byte) {
		m := page.New(cfg)
		m.Step(time.Unix(0, 0), effect.Start{})
		browser := link.NewPrimary(link.Config{Gen: 1, Bridge: bridge})
		browser.Step(time.Unix(0, 0), effect.Start{})
		if fact := root.Decode(time.Unix(0, 0), "Fetch.requestPaused", params); fact != nil {
			for _, e := range browser.Step(time.Unix(1, 0), fact) {
				if to, ok := e.(effect.ToSupervisor); ok {
					held := to.Msg.(mail.RequestHeld)
					if held.Label == "" || len(held.Label) > 64 || held.Key == "" || len(held.Key) > 64 || len(held.Request) > 256 {
						t.Errorf("a request %+v", held)
					}
					m.Step(time.Unix(1, 0), held)
				}
			}
		}
		for _, method := range decode.Events() {
			fact := cfg.Source().Decode(time.Unix(0, 0), method, params)
			if fact == nil {
				continue
			}
			if c, ok := fact.(mail.ConsoleReported); ok {
				if len(c.Entry.Text) > decode.MaxConsoleText || !utf8.ValidString(c.Entry.Text) {
					t.Errorf("console text of %d bytes: %.80q", len(c.Entry.Text), c.Entry.Text)
				}
				if strings.Contains(c.Entry.Text, "abcdef123456") && strings.Contains(c.Entry.Text, "token=") {
					t.Errorf("a secret stands in the console: %q", c.Entry.Text)
				}
			}
			if b, ok := fact.(mail.BlockerRaised); ok && (len(b.Asked.Key) > 64 || len(b.Asked.Names) > 300 || strings.ContainsAny(b.Asked.Names, "'\"\\ ")) {
				t.Errorf("a blocker %+v", b)
			}
			m.Step(time.Unix(1, 0), fact)
		}
	})
}

// FuzzUnwanted: what ends in the link's reader is nothing that decode would have made
// something of. Of members that come twice the reader believes the first, which no
// browser writes, and no page can make one write.
func FuzzUnwanted(f *testing.F) {
	for _, seed := range []string{
		`{"type":"log","args":[]},"sessionId":"S"}`, `{"type":"error","args":[],"timestamp":1},"sessionId":"S"}`, `{"type":"assert"}}`,
		`{"type":"errors"}}`, `{"type":"err\u006fr"}}`, `{ "type":"error"}}`, `{"args":[],"type":"error"}}`, `{}}`, `null}`, `"error"}`, ``,
		`{"type":"log"},"params":{"type":"error"}}`, `{"type":"warning","args":[{"type":"string","value":"\",\"type\":\"error\""}]}}`,
		`{"timestamp":1,"exceptionDetails":{"text":"Uncaught"}}}`, `{"frameId":"F","loaderId":"L","name":"load"}}`,
	} {
		for _, method := range []string{"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Page.lifecycleEvent"} {
			f.Add(method, []byte(seed))
		}
	}
	for _, url := range []string{"", sessiontest.Secret[:16], sessiontest.Secret[:16] + "0", sessiontest.Secret[:16][1:], `\u0030` + sessiontest.Secret[:16][1:], "http://a.test/" + sessiontest.Secret[:16], "x"} {
		f.Add("Debugger.scriptParsed", []byte(`{"scriptId":"7","url":"`+url+`","executionContextId":3,"executionContextAuxData":{"frameId":"F"}},"sessionId":"S"}`))
	}
	f.Fuzz(func(t *testing.T, method string, head []byte) {
		if !slices.Contains(decode.Events(), method) || !decode.IsUnwanted(method, head) {
			return
		}
		msg := append([]byte(`{"method":"`+method+`","params":`), head...)
		e, err := transport.Scan(msg)
		if err != nil || e.Params == nil || len(head) == 0 || &e.Params[0] != &msg[len(msg)-len(head)] {
			return // no message, or params that come twice
		}
		if fact := (decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}, Secret: bridge.NewSecret(sessiontest.Secret)}).Decode(time.Unix(0, 0), string(e.Method), e.Params); fact != nil && string(e.Method) == method {
			t.Errorf("%s is unwanted, and means %+v", msg, fact)
		}
	})
}

// FuzzUnread: an event that is taken before it was scanned means the same as after.
func FuzzUnread(f *testing.F) {
	for _, e := range events {
		f.Add(e.method, []byte(e.params))
		f.Add(e.method, []byte(e.params+`,"more":[]`))
	}
	for _, more := range []string{`,"id":1`, `,"params":{"type":"log"}`, `,"method":"Page.frameNavigated"`, `,"sessionId":"T"`, `}`, ` `, `,"`} {
		f.Add("Runtime.consoleAPICalled", []byte(`{"type":"error","args":[{"type":"string","value":"boom"}],"timestamp":5}`+more))
	}
	cfg := decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if !decode.IsFrequent(method, params) {
			return
		}
		var want any
		e, err := transport.Scan([]byte(`{"method":"` + method + `","params":` + string(params) + `,"sessionId":"S"}`))
		if err == nil && !e.HasID && string(e.Method) == method {
			want = cfg.Decode(time.Time{}, method, e.Params)
		}
		got := decode.DecodeUnread(cfg, method, params)
		if d := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("%s %s: %s", method, params, d)
		}
	})
}

func TestWhatAPageLogsIsUnwantedAndItsErrorsAreNot(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"log", "debug", "info", "error", "warning", "dir", "dirxml", "table", "trace", "clear", "startGroup", "startGroupCollapsed", "endGroup", "assert", "profile", "profileEnd", "count", "timeEnd"} {
		head := []byte(`{"type":"` + kind + `","args":[],"executionContextId":1,"timestamp":1},"sessionId":"S"}`)
		if got, want := decode.IsUnwanted("Runtime.consoleAPICalled", head), kind != "error" && kind != "assert"; got != want {
			t.Errorf("console.%s: unwanted %v", kind, got)
		}
	}
	for _, method := range decode.Events() {
		if method != "Runtime.consoleAPICalled" && decode.IsUnwanted(method, []byte(`{"type":"log"}}`)) {
			t.Errorf("%s is unwanted", method)
		}
	}
}

func TestWhatAPageEvaluatesIsUnwantedAndTheBridgesScriptIsNot(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"": true, "http://a.test/app.js": true, "x": true, "evalmachine.<anonymous>": true,
		sessiontest.Secret[:16]: false, sessiontest.Secret[:16] + "0": true, sessiontest.Secret[:16][1:]: true, `\u0030` + sessiontest.Secret[:16][1:]: false,
	} {
		head := []byte(`{"scriptId":"31","url":"` + url + `","startLine":0,"executionContextId":3,"executionContextAuxData":{"frameId":"F"}},"sessionId":"S"}`)
		if got := decode.IsUnwanted("Debugger.scriptParsed", head); got != want {
			t.Errorf("a script of the name %q: unwanted %v", url, got)
		}
	}
	for _, head := range []string{`{"url":"","scriptId":"3"}}`, `{"scriptId":"3"}}`, `{"scriptId":"a","url":""}}`, `{"scriptId":"3","url":"0`, `{}}`, ``} {
		if decode.IsUnwanted("Debugger.scriptParsed", []byte(head)) {
			t.Errorf("%s is unwanted", head)
		}
	}
}

func FuzzDecodeFrameTree(f *testing.F) {
	f.Add([]byte(`{"frameTree":{"frame":{"id":"F","loaderId":"L","url":"u"},"childFrames":[null,{"frame":null},{"frame":{"id":"G","parentId":"F"}}]}}`))
	f.Add([]byte(`{"frameTree":null}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		frames, err := decode.DecodeFrameTree(result)
		if err != nil && frames != nil {
			t.Errorf("%d frames and %v", len(frames), err)
		}
	})
}

func TestAStackTraceOfNothingIsNoPanic(t *testing.T) {
	t.Parallel()
	for method, params := range map[string]string{
		"Runtime.consoleAPICalled": `{"type":"error","args":[],"stackTrace":{"callFrames":[null]}}`,
		"Runtime.exceptionThrown":  `{"exceptionDetails":{"text":"x","stackTrace":{"callFrames":[null]}}}`,
	} {
		if _, ok := (decode.Source{}).Decode(time.Unix(0, 0), method, []byte(params)).(mail.ConsoleReported); !ok {
			t.Errorf("%s is not reported", method)
		}
	}
}
