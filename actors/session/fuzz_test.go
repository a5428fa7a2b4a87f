package session_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"holdfast/actors/session"
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
		`{"frameId":"F","result":true,"userInput":""}`,
		`{"name":"` + session.NewBridgeSecret(secret).Binding() + `","payload":"` + secret[16:32] + `1-2-3-4 prompt 4 5 u://said?dflt","executionContextId":3}`,
		`{"name":"` + session.NewBridgeSecret(secret).Binding() + `","payload":"` + secret[16:32] + `+","executionContextId":3}`,
		`{"requestId":"interception-job-1.0","frameId":"F","request":{"url":"https://` + session.NewBridgeSecret(secret).Host() + `/label.1-2-3-4"}}`,
		`{"requestId":"interception-job-1.0","frameId":"F","request":{"url":"https://a.test/` + session.NewBridgeSecret(secret).Path() + `/label.1-2-3-4"}}`,
	} {
		f.Add([]byte(seed))
	}
	bridge := session.Bridge{On: true, By: mail.ByRequest, Epoch: 1, Secret: session.NewBridgeSecret(secret)}
	cfg := session.Config{Identity: session.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}, IsPage: true, Bridge: bridge}
	root := session.Source{Identity: session.Identity{Gen: 1}, Secret: bridge.Secret}
	f.Fuzz(func(t *testing.T, params []byte) {
		m := session.NewMachine(cfg)
		m.Step(time.Unix(0, 0), session.Start{})
		browser := session.NewBrowserMachine(session.BrowserConfig{Gen: 1, Bridge: bridge})
		browser.Step(time.Unix(0, 0), session.Start{})
		if fact := root.Decode(time.Unix(0, 0), "Fetch.requestPaused", params); fact != nil {
			for _, e := range browser.Step(time.Unix(1, 0), fact) {
				if to, ok := e.(session.ToSupervisor); ok {
					held := to.Msg.(mail.RequestHeld)
					if held.Label == "" || len(held.Label) > 64 || held.Key == "" || len(held.Key) > 64 || len(held.Request) > 256 {
						t.Errorf("a request %+v", held)
					}
					m.Step(time.Unix(1, 0), held)
				}
			}
		}
		for _, method := range session.Events() {
			fact := cfg.Source().Decode(time.Unix(0, 0), method, params)
			if fact == nil {
				continue
			}
			if c, ok := fact.(mail.ConsoleReported); ok {
				if len(c.Entry.Text) > session.MaxConsoleText || !utf8.ValidString(c.Entry.Text) {
					t.Errorf("console text of %d bytes: %.80q", len(c.Entry.Text), c.Entry.Text)
				}
				if strings.Contains(c.Entry.Text, "abcdef123456") && strings.Contains(c.Entry.Text, "token=") {
					t.Errorf("a secret stands in the console: %q", c.Entry.Text)
				}
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
	for _, url := range []string{"", fuzzName, fuzzName + "0", fuzzName[1:], `\u0030` + fuzzName[1:], "http://a.test/" + fuzzName, "x"} {
		f.Add("Debugger.scriptParsed", []byte(`{"scriptId":"7","url":"`+url+`","executionContextId":3,"executionContextAuxData":{"frameId":"F"}},"sessionId":"S"}`))
	}
	f.Fuzz(func(t *testing.T, method string, head []byte) {
		if !slices.Contains(session.Events(), method) || !session.Unwanted(method, head) {
			return
		}
		msg := append([]byte(`{"method":"`+method+`","params":`), head...)
		e, err := transport.Scan(msg)
		if err != nil || e.Params == nil || len(head) == 0 || &e.Params[0] != &msg[len(msg)-len(head)] {
			return // no message, or params that come twice
		}
		if fact := (session.Source{Identity: session.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}, Secret: fuzzSecret}).Decode(time.Unix(0, 0), string(e.Method), e.Params); fact != nil && string(e.Method) == method {
			t.Errorf("%s is unwanted, and means %+v", msg, fact)
		}
	})
}

// FuzzUnread: an event that is taken before anybody has walked it means what it would
// mean otherwise.
func FuzzUnread(f *testing.F) {
	for _, e := range events {
		f.Add(e.method, []byte(e.params))
		f.Add(e.method, []byte(e.params+`,"more":[]`))
	}
	for _, more := range []string{`,"id":1`, `,"params":{"type":"log"}`, `,"method":"Page.frameNavigated"`, `,"sessionId":"T"`, `}`, ` `, `,"`} {
		f.Add("Runtime.consoleAPICalled", []byte(`{"type":"error","args":[{"type":"string","value":"boom"}],"timestamp":5}`+more))
	}
	cfg := session.Source{Identity: session.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if !session.IsFrequent(method, params) {
			return
		}
		var want any
		e, err := transport.Scan([]byte(`{"method":"` + method + `","params":` + string(params) + `,"sessionId":"S"}`))
		if err == nil && !e.HasID && string(e.Method) == method {
			want = cfg.Decode(time.Time{}, method, e.Params)
		}
		got := session.DecodeUnread(cfg, method, params)
		if d := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("%s %s: %s", method, params, d)
		}
	})
}

func TestWhatAPageLogsIsUnwantedAndItsErrorsAreNot(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"log", "debug", "info", "error", "warning", "dir", "dirxml", "table", "trace", "clear", "startGroup", "startGroupCollapsed", "endGroup", "assert", "profile", "profileEnd", "count", "timeEnd"} {
		head := []byte(`{"type":"` + kind + `","args":[],"executionContextId":1,"timestamp":1},"sessionId":"S"}`)
		if got, want := session.Unwanted("Runtime.consoleAPICalled", head), kind != "error" && kind != "assert"; got != want {
			t.Errorf("console.%s: unwanted %v", kind, got)
		}
	}
	for _, method := range session.Events() {
		if method != "Runtime.consoleAPICalled" && session.Unwanted(method, []byte(`{"type":"log"}}`)) {
			t.Errorf("%s is unwanted", method)
		}
	}
}

func TestWhatAPageEvaluatesIsUnwantedAndTheBridgesScriptIsNot(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"": true, "http://a.test/app.js": true, "x": true, "evalmachine.<anonymous>": true,
		fuzzName: false, fuzzName + "0": true, fuzzName[1:]: true, `\u0030` + fuzzName[1:]: false,
	} {
		head := []byte(`{"scriptId":"31","url":"` + url + `","startLine":0,"executionContextId":3,"executionContextAuxData":{"frameId":"F"}},"sessionId":"S"}`)
		if got := session.Unwanted("Debugger.scriptParsed", head); got != want {
			t.Errorf("a script of the name %q: unwanted %v", url, got)
		}
	}
	for _, head := range []string{`{"url":"","scriptId":"3"}}`, `{"scriptId":"3"}}`, `{"scriptId":"a","url":""}}`, `{"scriptId":"3","url":"0`, `{}}`, ``} {
		if session.Unwanted("Debugger.scriptParsed", []byte(head)) {
			t.Errorf("%s is unwanted", head)
		}
	}
}

func FuzzDecodeFrameTree(f *testing.F) {
	f.Add([]byte(`{"frameTree":{"frame":{"id":"F","loaderId":"L","url":"u"},"childFrames":[null,{"frame":null},{"frame":{"id":"G","parentId":"F"}}]}}`))
	f.Add([]byte(`{"frameTree":null}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		frames, err := session.DecodeFrameTree(result)
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
		if _, ok := (session.Source{}).Decode(time.Unix(0, 0), method, []byte(params)).(mail.ConsoleReported); !ok {
			t.Errorf("%s is not reported", method)
		}
	}
}

func FuzzHasDocument(f *testing.F) {
	for seed, want := range map[string]bool{
		`{"currentIndex":0,"entries":[{"id":1,"url":"","title":""}]}`:               false,
		`{"currentIndex":1,"entries":[{"url":""},{"url":"http://a.test/"}]}`:        true,
		`{"currentIndex":0,"entries":[{"url":""},{"url":"http://a.test/"}]}`:        false,
		`{"currentIndex":-1,"entries":[{"url":"http://a.test/"}]}`:                  false,
		`{"currentIndex":9223372036854775807,"entries":[{"url":"http://a.test/"}]}`: false,
		`{"currentIndex":0,"entries":null}`:                                         false,
		`{"currentIndex":"0","entries":[{"url":"http://a.test/"}]}`:                 false,
		`null`: false, ``: false, `[]`: false,
	} {
		if got := session.HasDocument([]byte(seed)); got != want {
			f.Errorf("%s: %v", seed, got)
		}
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, result []byte) { session.HasDocument(result) })
}
