package reference_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/messages"
)

// checked reads a body as the node does.
func checked[T interface{ Validate() error }](body string) error {
	var v T
	if err := messages.DecodeStrict(strings.NewReader(body), &v); err != nil {
		return err
	}
	return v.Validate()
}

type killRequest struct{ messages.KillRequest }

func (r killRequest) Validate() error { return r.Kill.Validate() }

// requests has a good body of each type, and what judges others.
var requests = map[string]struct {
	fields string
	check  func(body string) error
}{
	"TaskSpec":        {`"idle_timeout_s":60`, checked[messages.TaskSpec]},
	"DialogAnswer":    {`"action":"accept"`, checked[messages.DialogAnswer]},
	"BlockerAnswer":   {`"action":"accept","blocker_id":"b-1"`, checked[messages.BlockerAnswer]},
	"NavigateRequest": {`"url":"https://shop.example/"`, checked[messages.NavigateRequest]},
	"CDPRequest":      {`"method":"Page.reload"`, checked[messages.CDPRequest]},
	"RecoverRequest":  {`"action":"reload"`, checked[messages.RecoverRequest]},
	"BatchRequest":    {`"steps":[{"tool":"browser_snapshot"}]`, checked[messages.BatchRequest]},
	"RunRequest":      {`"code":"return 1"`, checked[messages.RunRequest]},
	"ClusterRecovery": {`"i_am_the_last":true`, checked[messages.ClusterRecovery]},
	"KillRequest":     {`"kill":"both"`, checked[killRequest]},
}

type schema struct {
	Ref              string `json:"$ref"`
	Enum             []string
	Minimum, Maximum *float64
	Type             string
	Properties       map[string]schema
}

// TestRequestsAreJudgedAsTheReferenceSays gives every field of a request each value that the
// document names, the ends of its range, and what is beyond both.
func TestRequestsAreJudgedAsTheReferenceSays(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(api.OpenAPI(), &document); err != nil {
		t.Fatal(err)
	}
	for _, r := range api.Routes() {
		if r.Body != nil && r.Body.Name() != "SessionRequest" && r.Body.Name() != "ToolInput" && requests[r.Body.Name()].check == nil {
			t.Errorf("%s is not judged", r.Body.Name())
		}
	}
	for typ, request := range requests {
		judge := func(isGood bool, field, value string) {
			t.Helper()
			var body map[string]json.RawMessage
			if err := json.Unmarshal([]byte("{"+request.fields+"}"), &body); err != nil {
				t.Fatal(err)
			}
			body[field] = json.RawMessage(value)
			if field == "scope" && value == `"target"` {
				body["target_id"] = json.RawMessage(`"7F"`)
			}
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			if err := request.check(string(text)); (err == nil) != isGood {
				t.Errorf("%s: %s: %v", typ, text, err)
			}
		}
		for field, s := range document.Components.Schemas[typ].Properties {
			if s.Ref != "" && len(s.Enum) == 0 {
				s = document.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
			}
			for _, v := range s.Enum {
				judge(true, field, fmt.Sprintf("%q", v))
			}
			if len(s.Enum) > 0 {
				judge(false, field, `"nonsense"`)
			}
			if s.Maximum == nil {
				continue
			}
			judge(true, field, fmt.Sprint(*s.Maximum))
			judge(false, field, fmt.Sprint(*s.Maximum+1))
			least := 0.0
			if s.Minimum != nil {
				least = *s.Minimum
			}
			judge(true, field, fmt.Sprint(least))
			judge(false, field, "-1")
			if s.Type == "number" && least > 0 {
				judge(false, field, fmt.Sprint(least*0.9))
			}
		}
		judge(false, "no_such_field", "1")
	}
}

// TestEveryNumberHasItsRange wants a minimum and a maximum of every number that a caller gives.
func TestEveryNumberHasItsRange(t *testing.T) {
	t.Parallel()
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(api.OpenAPI(), &document); err != nil {
		t.Fatal(err)
	}
	for typ := range requests {
		for field, s := range document.Components.Schemas[typ].Properties {
			if (s.Type == "number" || s.Type == "integer") && s.Maximum == nil {
				t.Errorf("%s.%s has no range", typ, field)
			}
		}
	}
}

// TestEveryDetailIsNamed looks for details of errors that the table of codes does not name.
func TestEveryDetailIsNamed(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, c := range messages.CodeTable() {
		for _, d := range c.Details {
			named[d.Key] = true
		}
	}
	given := regexp.MustCompile(`\bWith\("([a-z_]+)"`)
	found := map[string]bool{}
	root := filepath.FromSlash("../..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "cli" || d.Name() == "bench"):
			return filepath.SkipDir // the command line has errors of its own, which no route answers
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			for _, m := range given.FindAllStringSubmatch(line, -1) {
				if m[1] == "task" && strings.Contains(line, "og.With") {
					continue // a logger's attribute
				}
				found[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 15 {
		t.Errorf("only %v are found", slices.Sorted(maps.Keys(found)))
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if !named[key] {
			t.Errorf("detail %q is in no entry of the table of codes", key)
		}
	}
}
