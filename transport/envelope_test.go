package transport_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"holdfast/transport"
)

// Messages as Chrome writes them.
const (
	reply110 = `{"id":17,"result":{"result":{"type":"number","value":2,"description":"2"}},"sessionId":"73FD0A4E6B1C4C0E9A35F2D4B6C81E9A"}`
	refusal  = `{"id":3,"error":{"code":-32602,"message":"No dialog is showing"},"sessionId":"73FD0A4E6B1C4C0E9A35F2D4B6C81E9A"}`
	opening  = `{"method":"Page.javascriptDialogOpening","params":{"url":"http://a.test/p","frameId":"472C","message":"{\"id\":9,\"sessionId\":\"x\"}","type":"prompt","hasBrowserHandler":true,"defaultPrompt":"}"},"sessionId":"73FD0A4E6B1C4C0E9A35F2D4B6C81E9A"}`
	noID     = `{"error":{"code":-32600,"message":"Message must have integer 'id' property"}}`
)

// console600 and network8k are events of the sizes that are measured.
var (
	console600 = `{"method":"Runtime.consoleAPICalled","params":{"type":"log","args":[{"type":"string","value":"` + strings.Repeat("storm ", 20) +
		`"}],"executionContextId":1,"timestamp":1.7e12,"stackTrace":{"callFrames":[` + strings.TrimSuffix(strings.Repeat(`{"functionName":"f","scriptId":"7","url":"http://a.test/","lineNumber":1,"columnNumber":2},`, 3), ",") +
		`]}},"sessionId":"73FD0A4E6B1C4C0E9A35F2D4B6C81E9A"}`
	network8k = `{"method":"Network.responseReceived","params":{"requestId":"1.2","response":{"url":"https://a.test/","headers":{` +
		strings.TrimSuffix(strings.Repeat(`"x-header-name":"a value with \"quotes\" and {braces} of some length",`, 110), ",") +
		`}}},"sessionId":"73FD0A4E6B1C4C0E9A35F2D4B6C81E9A"}`
)

func TestScan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ msg, id, method, session, params, result, err string }{
		"reply":                    {msg: reply110, id: "17", session: "73FD0A4E6B1C4C0E9A35F2D4B6C81E9A", result: `{"result":{"type":"number","value":2,"description":"2"}}`},
		"refusal":                  {msg: refusal, id: "3", session: "73FD0A4E6B1C4C0E9A35F2D4B6C81E9A", err: `{"code":-32602,"message":"No dialog is showing"}`},
		"error without id":         {msg: noID, err: `{"code":-32600,"message":"Message must have integer 'id' property"}`},
		"event without session":    {msg: `{"method":"Target.targetCreated","params":{}}`, method: "Target.targetCreated", params: "{}"},
		"event without params":     {msg: `{"method":"Inspector.targetCrashed","sessionId":"S"}`, method: "Inspector.targetCrashed", session: "S"},
		"nested keys":              {msg: `{"id":1,"result":{"id":2,"sessionId":"no","result":{"method":"no"}}}`, id: "1", result: `{"id":2,"sessionId":"no","result":{"method":"no"}}`},
		"keys in strings":          {msg: `{"method":"M","params":{"a":"\",\"sessionId\":\"no\"}"}}`, method: "M", params: `{"a":"\",\"sessionId\":\"no\"}"}`},
		"any order":                {msg: `{"sessionId":"S","result":[1,{"a":"}"}],"id":5}`, id: "5", session: "S", result: `[1,{"a":"}"}]`},
		"white space":              {msg: " {\n\"id\" : 5 ,\t\"result\" : { } }\r\n", id: "5", result: "{ }"},
		"escaped key and name":     {msg: `{"\u0069d":5,"m\u0065thod":"A\u002eb"}`, id: "5", method: "A.b"},
		"last duplicate counts":    {msg: `{"id":5,"result":{},"id":6,"sessionId":"a","sessionId":"b"}`, id: "6", session: "b", result: "{}"},
		"middle is two members":    {msg: `{"id":5,"result":{},"error":{"code":1},"sessionId":"b"}`, id: "5", session: "b", result: "{}", err: `{"code":1}`},
		"id that is none":          {msg: `{"id":1.5,"result":{}}`, result: "{}"},
		"id that is a string":      {msg: `{"id":"5","result":{}}`, result: "{}"},
		"id far too long":          {msg: `{"id":99999999999999999999,"result":{}}`, result: "{}"},
		"negative id":              {msg: `{"id":-7,"result":{}}`, id: "-7", result: "{}"},
		"escaped quote at the end": {msg: `{"id":1,"result":"\\","sessionId":"S"}`, id: "1", session: "S", result: `"\\"`},
		"long string with escapes": {msg: `{"id":1,"result":"` + strings.Repeat(`x`, 60) + `\\\"}` + `"}`, id: "1", result: `"` + strings.Repeat(`x`, 60) + `\\\"}` + `"`},
		"empty object":             {msg: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := transport.Scan([]byte(tc.msg))
			if err != nil {
				t.Fatal(err)
			}
			id := ""
			if e.HasID {
				id = strconv.FormatInt(e.ID, 10)
			}
			got := []string{id, string(e.Method), string(e.SessionID), string(e.Params), string(e.Result), string(e.Error)}
			want := []string{tc.id, tc.method, tc.session, tc.params, tc.result, tc.err}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestScanRefuses(t *testing.T) {
	t.Parallel()
	for _, msg := range []string{
		"", " ", "null", "5", `"x"`, "[]", "[{}]", "{", `{"`, `{"id"`, `{"id":`, `{"id":5`, `{"id":5,`, `{"id":5,}`, `{,}`, `{"id" 5}`, `{id:5}`,
		`{"id":5}{}`, `{"id":5} x`, `{"id":5,"result":{}`, `{"id":5,"result":{}}}`, `{"id":5,"result":}`, `{"method":"M`, `{"method":"M"`, "HTTP/1.1 400 Bad Request",
		`{"a":"` + strings.Repeat("x", 100), `{"a":"` + strings.Repeat("x", 100) + `\"}`,
	} {
		_, err := transport.Scan([]byte(msg))
		var bad *transport.EnvelopeError
		if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(msg) {
			t.Errorf("%q: %v", msg, err)
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	reordered := `{"sessionId":"S", "params":{}, "method":"M"}`
	for _, msg := range []string{reply110, refusal, opening, console600, network8k, reordered} {
		b := []byte(msg)
		if n := testing.AllocsPerRun(100, func() { _, _ = transport.Scan(b) }); n != 0 {
			t.Errorf("%v allocations for %.40s", n, msg)
		}
	}
}

// FuzzScan holds Scan against encoding/json: an object that JSON allows is
// taken and read alike; for the rest it is enough to survive.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		reply110, refusal, opening, noID, console600, `{}`, `[]`, `{"id":1,"result":{},"error":null}`, `{"id":-0,"result":[[]]}`,
		`{"method":"a\u0022","params":{},"sessionId":"\ud800"}`, `{"id":1,"id":null}`, `{"a":"\\\"","id":3}`, ` {"id" : 1} `, `{"":0,"id":1e2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		e, err := transport.Scan(msg)
		var want map[string]json.RawMessage
		if json.Unmarshal(msg, &want) != nil || want == nil {
			return
		}
		if err != nil {
			t.Fatalf("refused a JSON object: %v", err)
		}
		n, idErr := strconv.ParseInt(string(want["id"]), 10, 64)
		hasID := idErr == nil && len(strings.TrimPrefix(string(want["id"]), "-")) <= 18
		if e.HasID != hasID || hasID && e.ID != n {
			t.Errorf("id: %v %d, want %s", e.HasID, e.ID, want["id"])
		}
		for key, got := range map[string][]byte{"params": e.Params, "result": e.Result, "error": e.Error} {
			if !bytes.Equal(got, want[key]) {
				t.Errorf("%s: %q, want %q", key, got, want[key])
			}
		}
		for key, got := range map[string][]byte{"method": e.Method, "sessionId": e.SessionID} {
			var s any
			_ = json.Unmarshal(want[key], &s)
			text, isString := s.(string)
			// encoding/json mends bytes that are no UTF-8; a text frame has none.
			if isString != (got != nil) || utf8.Valid(msg) && string(got) != text {
				t.Errorf("%s: %q, want %q", key, got, text)
			}
		}
	})
}

// FuzzUnread holds what the reader finds of an event by its two ends against the walk
// from one to the other, for whatever is JSON; for the rest it is enough to survive.
func FuzzUnread(f *testing.F) {
	for _, s := range []string{
		console600, network8k, opening, attachS1, detachS1, eventOf("S1", 1), reply110,
		`{"method":"M","params":{"a":"\",\"sessionId\":\"no\"}"},"sessionId":"S"}`, `{"method":"M","params":{"a":",\"sessionId\":\"no"}}`,
		`{"method":"M","params":"x,\\","sessionId":"S"}`, `{"method":"M","params":{"a":{"b":1,"sessionId":"no"}}}`, `{"method":"M","params":{"b":1,"sessionId":"no"}}`,
		`{"method":"M","params":{},"id":5,"sessionId":"S"}`, `{"method":"M","params":{},"params":[],"sessionId":"S"}`, `{"method":"M","params":{},"method":"N","sessionId":"S"}`,
		`{"method":"M","params":{},"sessionId":"a","sessionId":"b"}`, `{"method":"M","params":{},"sessionId":"\u0053"}`, `{"method":"M","params":{},"sessionId":""}`,
		`{"method":"M","params":,"sessionId":"S"}`, `{"method":"M","params":{"a":[}],"sessionId":"S"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		e, id, ok := transport.Unread(msg)
		whole := transport.Whole(e)
		if !ok || !json.Valid(msg) {
			return
		}
		read, err := transport.Scan(msg)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read.SessionID, id) || len(id) == 0 {
			t.Errorf("%s: of session %q, by its end of %q", msg, read.SessionID, id)
		}
		want := read.Params
		if read.HasID || string(read.Method) != e.Method {
			want = nil
		}
		if !bytes.Equal(want, whole) || (want == nil) != (whole == nil) {
			t.Errorf("%s: params %q, unread %q", msg, want, whole)
		}
	})
}

func TestUnread(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string]string{
		eventOf("S1", 1): `S1 {"n":1}`,
		`{"method":"M","params":{"a":"\",\"sessionId\":\"no\"}"},"sessionId":"S"}`: `S {"a":"\",\"sessionId\":\"no\"}"}`,
		`{"method":"M","params":{},"id":5,"sessionId":"S"}`:                        `S {},"id":5`,
		`{"method":"M","params":{},"sessionId":"` + strings.Repeat("S", 64) + `"}`: strings.Repeat("S", 64) + ` {}`,
		`{"method":"M","params":{},"sessionId":"` + strings.Repeat("S", 65) + `"}`: "",
		`{"method":"M","params":{"a":{"b":1,"sessionId":"no"}}}`:                   "",
		`{"method":"M","params":{"b":",\"sessionId\":\"no"}}`:                      "",
		`{"method":"M","params":{},"sessionId":"a\u0062"}`:                         "",
		`{"method":"M","params":{},"sessionId":""}`:                                "",
		`{"method":"M","params":{},"sessionId":"S" }`:                              "",
		`{"method":"M","params":{},"sessionId":"S","id":5}`:                        "",
		`{"method":"M","sessionId":"S"}`:                                           "",
		`{"method":"M", "params":{},"sessionId":"S"}`:                              "",
		reply110: "",
	} {
		got := ""
		if e, session, ok := transport.Unread([]byte(msg)); ok {
			got = string(session) + " " + string(e.Params)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", msg, got, want)
		}
	}
}

type rawEnvelope struct {
	ID        *int64          `json:"id"`
	Method    string          `json:"method"`
	SessionID string          `json:"sessionId"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
}

func BenchmarkScan(b *testing.B) {
	for _, size := range []struct{ name, msg string }{{"Reply110", reply110}, {"Console600", console600}, {"Network8K", network8k}} {
		msg := []byte(size.msg)
		b.Run(size.name+"/Scan", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(msg)))
			for b.Loop() {
				if _, err := transport.Scan(msg); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(size.name+"/JSON", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(msg)))
			for b.Loop() {
				var e rawEnvelope
				if err := json.Unmarshal(msg, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
