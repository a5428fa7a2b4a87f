package tools_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"holdfast/internal/tools"
)

var update = flag.Bool("update", false, "write docs/tools.md anew")

const docsFile = "../../docs/tools.md"

const docsHead = `# Tools

Generated from the table in ` + "`internal/tools`" + `: ` + "`go test ./internal/tools -run Docs -update`" + ` writes this file.

A tool has the same name, input, result and errors over each door: ` + "`POST /v1/tasks/{id}/tools/{tool}`" + `, and MCP. The input is a
JSON object; a field that is not listed, or of another type, is ` + "`invalid_argument`" + `. ` + "`GET /v1/tools`" + ` has the schemas.

The result is ` + "`{ok, text, data, page, pending_dialogs, artifacts, category, next_actions}`" + `; a failure has ` + "`code`" + ` and
` + "`error`" + ` besides, and ` + "`next_actions`" + ` names the calls that help, with all that they need. ` + "`untrusted`" + ` marks what a page wrote.

A tab has an id that stays (` + "`t1`" + `) and may have a name. A call without ` + "`tab`" + ` means ` + "`main`" + `: the tab of that name, else the oldest.
`

// TestDocs compares docs/tools.md with the table.
func TestDocs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(docsHead)
	for _, tool := range tools.List() {
		writeTool(t, &b, tool)
	}
	if *update {
		if err := os.WriteFile(docsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(b.String(), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("docs/tools.md is not up to date:\n%s", diff)
	}
}

func writeTool(t *testing.T, b *strings.Builder, tool tools.Tool) {
	t.Helper()
	var in jsonschema.Schema
	if err := json.Unmarshal(tool.Input, &in); err != nil {
		t.Fatal(err)
	}
	marks := []string{}
	for _, m := range []struct {
		isSet bool
		name  string
	}{{tool.IsCore, "core"}, {tool.Hints.ReadOnly, "read only"}, {tool.Hints.Destructive, "destructive"}, {tool.Hints.Idempotent, "idempotent"}, {tool.Hints.OpenWorld, "open world"}} {
		if m.isSet {
			marks = append(marks, m.name)
		}
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\nGroup `%s`: %s.\n\n| field | type | |\n|---|---|---|\n", tool.Name, tool.Description, tool.Group, strings.Join(marks, ", "))
	for _, name := range names(&in) {
		p := in.Properties[name]
		kind := p.Type
		if kind == "" {
			kind = strings.Join(slices.DeleteFunc(slices.Clone(p.Types), func(s string) bool { return s == "null" }), " or ")
		}
		about := p.Description
		for i, e := range p.Enum {
			if i == 0 {
				about = strings.TrimPrefix(about+"; one of", "; ")
			}
			about += fmt.Sprintf(" `%v`", e)
		}
		if slices.Contains(in.Required, name) {
			name = "**" + name + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, kind, strings.ReplaceAll(about, "|", `\|`))
	}
}

// names are the fields of an input: those that are required, then the others.
func names(s *jsonschema.Schema) []string {
	var out []string
	for name := range s.Properties {
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b string) int {
		if x, y := slices.Contains(s.Required, a), slices.Contains(s.Required, b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return out
}
