package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestKeysAreInTheVocabulary reads every call of the house that logs: its keys
// are in docs/logging.md.
func TestKeysAreInTheVocabulary(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/logging.md")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for line := range strings.Lines(string(doc)) {
		if keys, ok := strings.CutPrefix(line, "| `"); ok {
			cell, _, _ := strings.Cut(keys, "|")
			for _, key := range strings.Split(cell, ",") {
				known = append(known, strings.Trim(key, "` "))
			}
		}
	}
	used := map[string]token.Position{}
	err = filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, p, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, key := range keysOf(call) {
					used[key] = files.Position(call.Pos())
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, at := range used {
		if !slices.Contains(known, key) {
			t.Errorf("%s: %q is not in docs/logging.md", at, key)
		}
	}
}

// keysOf are the keys of a call like log.Warn("text", "key", value) or
// slog.String("key", value).
func keysOf(call *ast.CallExpr) (keys []string) {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	args := call.Args
	switch on, _ := fun.X.(*ast.Ident); {
	case on != nil && on.Name == "http": // http.Error answers a request
		return nil
	case on != nil && on.Name == "slog" && slices.Contains([]string{"String", "Int", "Int64", "Uint64", "Float64", "Bool", "Any", "Duration", "Time"}, fun.Sel.Name):
		args = args[:1]
	case slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, fun.Sel.Name) && len(args) >= 3 && len(args)%2 == 1:
		args = args[1:]
	default:
		return nil
	}
	for i := 0; i < len(args); i += 2 {
		if lit, ok := args[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			key, err := strconv.Unquote(lit.Value)
			if err == nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
