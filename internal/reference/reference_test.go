package reference_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"holdfast/internal/api"
	"holdfast/internal/reference"
)

var update = flag.Bool("update", false, "write docs/api.md and internal/api/openapi.json anew")

const messagesDir = "../../messages"

// TestTheReferenceIsFresh compares both files with what the code says.
func TestTheReferenceIsFresh(t *testing.T) {
	t.Parallel()
	document, err := reference.Document(api.Routes(), messagesDir, false)
	if err != nil {
		t.Fatal(err)
	}
	markdown, err := reference.Markdown(api.Routes(), messagesDir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"../../docs/api.md": markdown, "../api/openapi.json": document} {
		name = filepath.FromSlash(name)
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s is not up to date (go generate ./internal/reference):\n%s", name, diff)
		}
	}
}

// TestTheDocumentIsOpenAPI holds the document to the schema of OpenAPI 3.1, which is that of
// https://spec.openapis.org/oas/3.1/schema/2022-10-07, and every schema in it to JSON Schema.
func TestTheDocumentIsOpenAPI(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	openAPI, err := compiler.Compile("testdata/openapi-3.1.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.OpenAPI()))
	if err != nil {
		t.Fatal(err)
	}
	if err := openAPI.Validate(document); err != nil {
		t.Error(err)
	}
	if err := compiler.AddResource("document", document); err != nil {
		t.Fatal(err)
	}
	schemas := document.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)
	if len(schemas) < 40 {
		t.Errorf("only %d schemas", len(schemas))
	}
	for name := range schemas {
		if _, err := compiler.Compile("document#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEveryWordIsSaid wants a description of every parameter, answer, type, field and value.
func TestEveryWordIsSaid(t *testing.T) {
	t.Parallel()
	for _, r := range api.Routes() {
		if r.Summary == "" || len(r.Answers) == 0 {
			t.Errorf("%s %s: no summary, or no answer", r.Method, r.Path)
		}
		for _, p := range append(r.Query, r.Headers...) {
			if p.About == "" || p.Kind == "" {
				t.Errorf("%s %s: parameter %s is not described", r.Method, r.Path, p.Name)
			}
		}
		for _, a := range r.Answers {
			if a.About == "" {
				t.Errorf("%s %s: answer %d is not described", r.Method, r.Path, a.Status)
			}
		}
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Description string
				Enum        []string
				Properties  map[string]struct{ Description string }
			}
		}
	}
	if err := json.Unmarshal(api.OpenAPI(), &document); err != nil {
		t.Fatal(err)
	}
	for name, s := range document.Components.Schemas {
		if s.Description == "" {
			t.Errorf("%s is not described", name)
		}
		for field, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s is not described", name, field)
			}
		}
		for _, v := range s.Enum {
			if !strings.Contains(s.Description, "- `"+v+"`: ") {
				t.Errorf("value %s of %s is not described", v, name)
			}
		}
	}
}
