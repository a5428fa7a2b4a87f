package reference_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"holdfast/internal/api"
	"holdfast/internal/reference"
	"holdfast/messages"
)

// judge asks a node and holds each answer, event and error to the document. The document is
// closed: a field that it does not have fails.
type judge struct {
	*testing.T
	ctx      context.Context
	url      string
	token    string
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema
	seen    map[string]bool // answers as "GET /v1/tasks 200", events as "event GET /v1/live node", codes as "code deadline"
}

func newJudge(ctx context.Context, t *testing.T) *judge {
	t.Helper()
	text, err := reference.Document(api.Routes(), messagesDir, true)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{T: t, ctx: ctx, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}, seen: map[string]bool{}}
	if err := j.compiler.AddResource("document", document); err != nil {
		t.Fatal(err)
	}
	return j
}

// validate holds a JSON text to the schema of a type.
func (j *judge) validate(what, typ string, text []byte) {
	j.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	schema := j.schemas[typ]
	if schema == nil {
		schema = j.compiler.MustCompile("document#/components/schemas/" + typ)
		j.schemas[typ] = schema
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		j.Errorf("%s is not what the reference says: %v\n%s", what, err, text)
	}
}

func (j *judge) saw(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen[what] = true
}

func (j *judge) hasSeen(what string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen[what]
}

// entry is the table's entry for a request; nil where there is no such route.
func entry(method, path string) *api.Route {
	path, _, _ = strings.Cut(path, "?")
	given := strings.Split(path, "/")
next:
	for _, r := range api.Routes() {
		elements := strings.Split(r.Path, "/")
		if r.Method != method || len(elements) != len(given) {
			continue
		}
		for i, e := range elements {
			if e != given[i] && e != "{id}" && e != "{client_id}" && e != "{artifact_id}" && e != "{tool}" && e != "{node}" && e != "{rest...}" {
				continue next
			}
		}
		return &r
	}
	return nil
}

// request sends one request; change may be nil.
func (j *judge) request(method, path, body string, change func(*http.Request)) *http.Response {
	j.Helper()
	r, err := http.NewRequestWithContext(j.ctx, method, j.url+path, strings.NewReader(body))
	if err != nil {
		j.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+j.token)
	if change != nil {
		change(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		j.Fatalf("%s %s: %v", method, path, err)
	}
	return res
}

// ask makes a call, holds its answer to the document and returns it.
func (j *judge) ask(method, path, body string, change ...func(*http.Request)) (int, []byte) {
	j.Helper()
	var first func(*http.Request)
	if len(change) > 0 {
		first = change[0]
	}
	res := j.request(method, path, body, first)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		j.Fatal(err)
	}
	what := fmt.Sprintf("%s %s: %d", method, path, res.StatusCode)
	r := entry(method, path)
	if res.StatusCode >= 400 {
		j.failure(what, r, res.StatusCode, text)
		return res.StatusCode, text
	}
	if r == nil {
		j.Errorf("%s, of a route that the reference does not have", what)
		return res.StatusCode, text
	}
	for _, a := range r.Answers {
		if a.Status != res.StatusCode {
			continue
		}
		j.saw(fmt.Sprintf("%s %s %d", r.Method, r.Path, a.Status))
		if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, a.ContentType) {
			j.Errorf("%s comes as %q", what, kind)
		}
		switch {
		case a.Body != nil:
			j.validate(what, a.Body.Name(), text)
		case a.ContentType == "" && len(text) > 0:
			j.Errorf("%s has a body: %s", what, text)
		}
		return res.StatusCode, text
	}
	j.Errorf("%s is no answer of the reference: %s", what, text)
	return res.StatusCode, text
}

// failure holds an error to the document and to the table of codes.
func (j *judge) failure(what string, r *api.Route, status int, text []byte) {
	j.Helper()
	typ := "ErrorReply"
	if r != nil && (strings.HasSuffix(r.Path, "/tools/{tool}") || strings.HasSuffix(r.Path, "/run")) && bytes.HasPrefix(text, []byte(`{"ok":false`)) {
		typ = "ToolResult" // the gate's own errors are plain ones there too
	}
	j.validate(what, typ, text)
	var body messages.ErrorReply
	if err := json.Unmarshal(text, &body); err != nil {
		j.Fatalf("%s: %v", what, err)
	}
	j.saw("code " + string(body.Error.Code))
	for _, info := range messages.CodeTable() {
		if info.Code != body.Error.Code {
			continue
		}
		if info.Status != status && status != http.StatusMethodNotAllowed {
			j.Errorf("%s has code %s, whose status is %d", what, info.Code, info.Status)
		}
		for key := range body.Error.Details {
			if !slices.ContainsFunc(info.Details, func(d messages.Detail) bool { return d.Key == key }) {
				j.Errorf("%s: details of %s have %q, which the reference does not name", what, info.Code, key)
			}
		}
	}
	if r != nil && !slices.Contains(r.Codes, body.Error.Code) {
		j.Errorf("%s has code %s, which is none of the route's: %s", what, body.Error.Code, text)
	}
}

// wants is ask with the status, and for an error the code, that is expected.
func (j *judge) wants(status int, code messages.Code, method, path, body string, change ...func(*http.Request)) []byte {
	j.Helper()
	got, text := j.ask(method, path, body, change...)
	if got != status || code != "" && !bytes.Contains(text, []byte(`"code":"`+string(code)+`"`)) {
		j.Fatalf("%s %s %s: %d %s, want %d %s", method, path, body, got, text, status, code)
	}
	return text
}

// follow reads an event stream to its end, beside the caller.
func (j *judge) follow(path string, change func(*http.Request)) (ended <-chan struct{}) {
	j.Helper()
	r := entry("GET", path)
	res := j.request("GET", path, "", change)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		j.Fatalf("GET %s: %d %s", path, res.StatusCode, res.Header.Get("Content-Type"))
	}
	j.saw(fmt.Sprintf("GET %s 200", r.Path))
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 8<<20)
		name := ""
		for lines.Scan() {
			if n, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = n
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				j.event(r, name, []byte(data))
			}
		}
	}()
	return done
}

func (j *judge) event(r *api.Route, name string, data []byte) {
	what := fmt.Sprintf("event %s %s %s", r.Method, r.Path, name)
	i := slices.IndexFunc(r.Events, func(e api.StreamEvent) bool { return e.Name == name })
	if i < 0 {
		j.Errorf("%s is none of the route's", what)
		return
	}
	j.validate(what, r.Events[i].Body.Name(), data)
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		j.Errorf("%s: %v", what, err)
	}
	for _, info := range messages.EventTable() {
		if string(info.Type) != name || r.Events[i].Body.Name() != "Event" {
			continue
		}
		always := append([]string{"type", "task_id", "version", "at"}, info.Fields...)
		for _, f := range always {
			if fields[f] == nil {
				j.Errorf("%s has no %s: %s", what, f, data)
			}
			delete(fields, f)
		}
		for f := range fields {
			if !slices.Contains(info.MayHave, f) {
				j.Errorf("%s has %s, which the table of events does not name: %s", what, f, data)
			}
		}
	}
	j.saw(what)
}

// until waits for something that has to come.
func (j *judge) until(what string, ok func() bool) {
	j.Helper()
	for j.ctx.Err() == nil {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	j.Fatalf("waited for: %s", what)
}
