package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// root is the top of the repository.
const root = "../.."

// source is one text file of the repository.
type source struct {
	path string // from the root, with slashes
	text string
	fset *token.FileSet
	file *ast.File // of a Go file
}

// isTest says whether s is a Go test file.
func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// pkg is the folder of the file.
func (s *source) pkg() string { return path.Dir(s.path) }

// line is the line of pos in the file.
func (s *source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

// generated marks a file that a program wrote.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// sources gives every Go, Markdown and JavaScript file that people wrote.
func sources(t *testing.T) []*source {
	t.Helper()
	all, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d files found below %s", len(all), root)
	}
	return all
}

var readOnce = sync.OnceValues(readSources)

// readSources reads and parses the repository.
func readSources() ([]*source, error) {
	var all []*source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || base == "node_modules" || len(base) > 2 && base[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".md", ".js":
		default:
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		s := &source{path: filepath.ToSlash(rel), text: string(data)}
		if filepath.Ext(name) == ".go" {
			if generated.Match(data) {
				return nil
			}
			s.fset = token.NewFileSet()
			if s.file, err = parser.ParseFile(s.fset, name, data, parser.ParseComments); err != nil {
				return err
			}
		}
		all = append(all, s)
		return nil
	})
	return all, err
}

// passage is a piece of prose and the line it begins on.
type passage struct {
	line int
	text string
}

// prose is what a file says to people: the comments of code, the text of Markdown outside
// of code blocks.
func (s *source) prose() []passage {
	var ps []passage
	switch {
	case s.file != nil:
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				for i, text := range strings.Split(c.Text, "\n") {
					ps = append(ps, passage{s.line(c.Pos()) + i, text})
				}
			}
		}
	case strings.HasSuffix(s.path, ".md"):
		fenced := false
		for i, text := range strings.Split(s.text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(text), "```") {
				fenced = !fenced
				continue
			}
			if !fenced {
				ps = append(ps, passage{i + 1, text})
			}
		}
	default:
		for i, text := range strings.Split(s.text, "\n") {
			if _, comment, ok := strings.Cut(text, "// "); ok {
				ps = append(ps, passage{i + 1, comment})
			}
		}
	}
	return ps
}

// quotes are what a passage only cites.
var quotes = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|“[^”]*”")

// unquoted is text without what it cites.
func unquoted(text string) string { return quotes.ReplaceAllString(text, " ") }
