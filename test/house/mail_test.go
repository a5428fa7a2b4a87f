package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Mail between actors is plain data: it can be printed, recorded and sent to another node.
func TestMailIsPlainData(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.FromSlash("../../messages/mail/*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files of messages/mail: %v", err)
	}
	files := token.NewFileSet()
	for _, name := range names {
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if strings.Contains(i.Path.Value, "hollywood") || strings.Contains(i.Path.Value, `"context"`) || strings.Contains(i.Path.Value, `"sync`) {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
		for _, d := range file.Decls {
			types, ok := d.(*ast.GenDecl)
			if !ok || types.Tok != token.TYPE {
				continue
			}
			ast.Inspect(types, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.FuncType, *ast.ChanType:
					t.Errorf("%s: a message holds a function or a channel", files.Position(n.Pos()))
				}
				return true
			})
		}
	}
}
