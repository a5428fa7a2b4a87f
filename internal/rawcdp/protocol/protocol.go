// Package protocol reads the methods of CDP out of the source of the pinned
// cdproto. It is for go generate and for tests.
package protocol

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/chromedp/cdproto"

// Methods returns the sorted methods of the cdproto that go.mod pins, one a line.
// cdproto leaves out what the protocol calls deprecated.
func Methods() ([]byte, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output() //nolint:noctx // go list of a module that is there
	if err != nil {
		return nil, fmt.Errorf("find the source of %s: %w", module, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*", "*.go"))
	if err != nil {
		return nil, err
	}
	var methods []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		methods = append(methods, commands(file)...)
	}
	if len(methods) == 0 {
		return nil, fmt.Errorf("%s names no methods", module)
	}
	slices.Sort(methods)
	return []byte(strings.Join(slices.Compact(methods), "\n") + "\n"), nil
}

// commands are the values of a file's constants that are called Command….
func commands(file *ast.File) []string {
	var list []string
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "Command") {
				continue
			}
			lit, ok := v.Values[0].(*ast.BasicLit)
			if !ok {
				continue
			}
			if method, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(method, ".") {
				list = append(list, method)
			}
		}
	}
	return list
}

// Lines are the lines of text that are not empty.
func Lines(text []byte) []string { return strings.Fields(string(bytes.TrimSpace(text))) }
