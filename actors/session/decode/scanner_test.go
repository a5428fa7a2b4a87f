package decode_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
)

// events are what Chrome says, with what it would say if it were another, and
// whether they are read quickly.
var events = []struct {
	method, params string
	quick          bool
}{
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":"boom"}],"executionContextId":1,"timestamp":1785312000123.456,"stackTrace":{"callFrames":[{"functionName":"f","scriptId":"12","url":"http://a.test/app.js","lineNumber":10,"columnNumber":20},{"functionName":"","scriptId":"12","url":"http://a.test/b.js","lineNumber":1,"columnNumber":2}]}}`, true},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[],"executionContextId":1,"timestamp":1785312000123}`, true},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":"a"},{"type":"number","value":1.5,"description":"1.5"},{"type":"undefined"},{"type":"boolean","value":false},{"type":"object","subtype":"error","className":"TypeError","description":"TypeError: x\n    at f (a.js:1:1)","objectId":"1","preview":{"type":"object","properties":[]}},{"type":"number","unserializableValue":"NaN","description":"NaN"}],"timestamp":1.0,"stackTrace":{"callFrames":[]}}`, true},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"bigint","unserializableValue":"1n"},{"type":"object","value":{"a":[1,"2"]}},{"type":"string","value":"A\"\\ü\ud800 token=abcdef123456"}],"timestamp":1785312000123.25}`, true},
	{"Runtime.consoleAPICalled", `{"type":"assert","args":[{"type":"string","value":"console.assert"}],"timestamp":1785312000123.25,"stackTrace":{"callFrames":[{"functionName":"","url":""}],"parent":{"callFrames":[]}}}`, true},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":"` + strings.Repeat("x", 3000) + `"}],"timestamp":5}`, true},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"object","subtype":"null","value":null}],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":7}],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":"` + "\xff" + `"}],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[null],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":{},"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[],"args":[{"type":"string","value":"a"}],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[` + strings.Repeat(`{"type":"undefined"},`, 20) + `{"type":"undefined"}],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[],"stackTrace":{"callFrames":[null]},"timestamp":5}`, false},
	{"Page.frameNavigated", `{"frame":{"id":"F","loaderId":"L","url":"http://a.test/p?q=1","domainAndRegistry":"a.test","securityOrigin":"http://a.test","securityOriginDetails":{"isLocalhost":false},"mimeType":"text/html","adFrameStatus":{"adFrameType":"none"},"secureContextType":"InsecureScheme","crossOriginIsolatedContextType":"NotIsolated","gatedAPIFeatures":[]},"type":"Navigation"}`, true},
	{"Page.frameNavigated", `{"frame":{"id":"F","parentId":"P","loaderId":"L","name":"n","url":"about:blank","urlFragment":"#x","securityOrigin":"://"},"type":"BackForwardCacheRestore"}`, true},
	{"Page.frameNavigated", `{"frame":{"id":"F\u0041","loaderId":"` + strings.Repeat("L", 300) + `","url":"data:,` + strings.Repeat("ü", 3000) + `"}}`, true},
	{"Page.frameNavigated", `{"frame":{"id":"F","parentId":"T","loaderId":"L","url":"data:,` + strings.Repeat("ü", 1000) + `","urlFragment":"#x"}}`, true},
	{"Page.frameNavigated", `{"frame":{"id":"T","loaderId":"L","url":"http://a.test/` + strings.Repeat("ü", 900) + `","urlFragment":"#` + strings.Repeat("ü", 900) + `","securityOrigin":"http://a.test"}}`, true},
	{"Page.frameNavigated", `{"frame":{"id":"T","loaderId":"L","url":"http://a.test/","urlFragment":"#","securityOrigin":"http://b.test"}}`, true},
	{"Page.frameNavigated", `{"frame":null,"type":"Navigation"}`, false},
	{"Page.frameNavigated", `{"type":"Navigation"}`, false},
	{"Page.frameNavigated", `{"frame":{"id":5}}`, false},
	{"Page.lifecycleEvent", `{"frameId":"F","loaderId":"L","name":"load","timestamp":12.5}`, true},
	{"Page.lifecycleEvent", `{"frameId":"F","loaderId":"L","name":"firstPaint","timestamp":12.5}`, true},
	{"Page.lifecycleEvent", `{"frameId":null,"name":"load"}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":""},{"value":"late","type":"string"},{"type":"string"}],"timestamp":5}`, true},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":"a","type":"number"}],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[ {"type":"string","value":"a"}],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[{"type":"string","value":"a"},],"timestamp":5}`, false},
	{"Runtime.consoleAPICalled", `{"type":"error","args":[,{"type":"string","value":"a"}],"timestamp":5}`, false},
	{"Target.attachedToTarget", `{"sessionId":"S2","targetInfo":{"targetId":"T2","type":"iframe","title":"","url":"http://b.test/","attached":true,"canAccessOpener":false,"browserContextId":"B","parentFrameId":"T"},"waitingForDebugger":true}`, true},
	{"Target.attachedToTarget", `{"sessionId":"S2","targetInfo":{"targetId":"T2","type":"page","title":"ü\u0041","url":"http://b.test/` + strings.Repeat("x", 5000) + `","openerId":"O","canAccessOpener":true},"waitingForDebugger":false}`, true},
	{"Target.attachedToTarget", `{"sessionId":"` + strings.Repeat("S", 300) + `","targetInfo":{"targetId":"T2","type":"web\u0076iew","url":""},"waitingForDebugger":false}`, true},
	{"Target.attachedToTarget", `{"sessionId":"S2","targetInfo":null,"waitingForDebugger":false}`, false},
	{"Target.attachedToTarget", `{"sessionId":"S2","waitingForDebugger":false}`, false},
	{"Target.attachedToTarget", `{"sessionId":"S2","targetInfo":{"targetId":"T2","type":5},"waitingForDebugger":false}`, false},
	{"Target.attachedToTarget", `{"sessionId":"S2","targetInfo":{"targetId":"T2","canAccessOpener":1},"waitingForDebugger":false}`, false},
	{"Target.attachedToTarget", `{"sessionId":"S2","targetInfo":{"targetId":"T2"},"targetInfo":{"type":"page"},"waitingForDebugger":false}`, false},
	{"Target.targetInfoChanged", `{"targetInfo":{"targetId":"T","type":"page","title":"a","url":"http://a.test/","attached":true,"canAccessOpener":false}}`, true},
	{"Target.targetInfoChanged", `{"targetInfo":[]}`, false},
}

// trees are results of Page.getFrameTree, and whether they are read quickly.
var trees = []struct {
	result string
	quick  bool
}{
	{`{"frameTree":{"frame":{"id":"F","loaderId":"L","url":"http://a.test/","urlFragment":"#x","securityOrigin":"http://a.test"}}}`, true},
	{`{"frameTree":{"frame":{"id":"F"},"childFrames":[{"frame":{"id":"G","parentId":"F"},"childFrames":[{"frame":{"id":"H","parentId":"G"}}]},{"frame":{"id":"I","parentId":"F"}}]}}`, true},
	{`{"frameTree":{"frame":{"id":"F"},"childFrames":[]}}`, true},
	{`{"frameTree":{"childFrames":[{"frame":{"id":"G"}}],"frame":{"id":"F"}}}`, false},
	{`{"frameTree":{"childFrames":[{"frame":{"id":"G"}}]}}`, false},
	{`{"frameTree":{"frame":{"id":"F"},"childFrames":[{}]}}`, false},
	{`{"frameTree":{"frame":{"id":"F"}},"frameTree":{"frame":{"id":"G"}}}`, false},
	{strings.Repeat(`{"frame":{"id":"F"},"childFrames":[`, 40) + strings.Repeat(`]}`, 40), false},
	{`{"frameTree":` + strings.Repeat(`{"frame":{"id":"F"},"childFrames":[`, 40) + `{"frame":{"id":"G"}}` + strings.Repeat(`]}`, 40) + `}`, false},
	{`{"x":1}`, false},
}

func TestQuickTreesAreThoroughTrees(t *testing.T) {
	t.Parallel()
	for _, tree := range trees {
		if _, ok := decode.QuickFrameTree([]byte(tree.result)); ok != tree.quick {
			t.Errorf("%.200s: read quickly %v", tree.result, ok)
		}
		thorough := strings.TrimSuffix(tree.result, "}") + `,"odd":null}`
		if _, ok := decode.QuickFrameTree([]byte(thorough)); ok {
			t.Fatalf("%.200s: read quickly", thorough)
		}
		got, gotErr := decode.DecodeFrameTree([]byte(tree.result))
		want, wantErr := decode.DecodeFrameTree([]byte(thorough))
		if d := cmp.Diff(want, got); d != "" || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%.200s: %v %v %s", tree.result, gotErr, wantErr, d)
		}
	}
}

func TestQuickReadingIsThoroughReading(t *testing.T) {
	t.Parallel()
	cfg := decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	for _, e := range events {
		if _, ok := decode.Quickly(cfg, e.method, []byte(e.params)); ok != e.quick {
			t.Errorf("%.200s: read quickly %v", e.params, ok)
		}
		// A member that is null is left to the thorough reader.
		thorough := strings.TrimSuffix(e.params, "}") + `,"odd":null}`
		if _, ok := decode.Quickly(cfg, e.method, []byte(thorough)); ok {
			t.Fatalf("%.200s: read quickly", thorough)
		}
		got := cfg.Decode(time.Unix(0, 0), e.method, []byte(e.params))
		want := cfg.Decode(time.Unix(0, 0), e.method, []byte(thorough))
		if d := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("%.200s: %s", e.params, d)
		}
	}
}

// TestWhatComesByTheThousandIsKeptInFewPieces: a piece is an allocation, and what
// collecting them costs is more than reading them.
func TestWhatComesByTheThousandIsKeptInFewPieces(t *testing.T) {
	cfg := decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	for method, tc := range map[string]struct {
		params string
		most   float64 // the fact, its texts, and the config on the way of this test
	}{
		"Runtime.consoleAPICalled": {`{"type":"error","args":[{"type":"string","value":"boom"}],"timestamp":5,"stackTrace":{"callFrames":[{"url":"http://a.test/app.js"}]}}`, 4},
		"Page.frameNavigated":      {`{"frame":{"id":"F","parentId":"T","loaderId":"L","url":"http://a.test/p","urlFragment":"#x","securityOrigin":"http://a.test"},"type":"Navigation"}`, 4},
	} {
		params := []byte(tc.params)
		if n := testing.AllocsPerRun(100, func() { cfg.Decode(time.Time{}, method, params) }); n > tc.most {
			t.Errorf("%s: %v allocations", method, n)
		}
	}
}

// BenchmarkDecode is what the reader does for an event of 600 bytes.
func BenchmarkDecode(b *testing.B) {
	cfg := decode.Source{Identity: effect.Identity{Gen: 1, Session: "S", Target: "T", Page: "T"}}
	for _, e := range []int{0, 14, 20} {
		b.Run(events[e].method, func(b *testing.B) {
			params := []byte(events[e].params)
			b.SetBytes(int64(len(params)))
			b.ReportAllocs()
			for b.Loop() {
				cfg.Decode(time.Time{}, events[e].method, params)
			}
		})
	}
}
