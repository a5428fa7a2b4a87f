package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxFile is how large a configuration file may be, in bytes.
const MaxFile = 64 << 10

// file is what a configuration file says.
type file struct {
	name   string
	values map[string]written // by path of the key
	isOwn  bool               // only its owner can read it
}

// written is a value as it stands in a file.
type written struct {
	texts []string // one, or those of a list
	line  int
	col   int
}

// openFile reads the file. Where it is ours it is checked, as ssh does it with
// keys, whether others can read it.
func openFile(path string) (file, error) {
	// A pipe would have nothing to say at the next SIGHUP, and may never end.
	info, err := os.Stat(path)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return file{}, err
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return file{}, err
	}
	out, err := parseFile(path, content)
	out.isOwn = isOwnAlone(info)
	return out, err
}

// parseFile reads what the file of that name holds.
func parseFile(name string, content []byte) (file, error) {
	values, problems := readFile(content)
	for i := range problems {
		problems[i].Where = name + ":" + problems[i].Where
	}
	return file{name: name, values: values, isOwn: true}, asError(problems)
}

// readFile reads what a file holds, strictly. The Where of a problem is line
// and column.
func readFile(content []byte) (map[string]written, []Problem) {
	r := reader{values: map[string]written{}}
	if len(content) > MaxFile {
		return nil, []Problem{{Where: "1:1", What: fmt.Sprintf("the file is larger than %d bytes", MaxFile)}}
	}
	if !utf8.Valid(content) {
		return nil, []Problem{{Where: "1:1", What: "the file is not UTF-8"}}
	}
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(content, []byte("\ufeff"))))
	if at := tooDeep(tokens); at != nil {
		r.problem(at, "", "the file is nested deeper than any setting is")
		return nil, r.problems
	}
	doc, err := parser.Parse(tokens, 0)
	if err != nil {
		r.syntax(err)
		return nil, r.problems
	}
	bodies := 0
	for _, d := range doc.Docs {
		if d.Body == nil {
			continue
		}
		if bodies++; bodies > 1 {
			r.problem(d.Start, "", "there is more than one document")
			break
		}
		r.mapping(d.Body, "")
	}
	return r.values, r.problems
}

// maxDepth is far more than settings need. The parser's time grows with the square
// of the depth: 64 KiB of brackets take it twenty seconds.
const maxDepth = 32

// tooDeep returns the first token beyond it, or nil. What is nested by indentation
// needs room itself, and cannot go as deep in a file of [MaxFile].
func tooDeep(tokens token.Tokens) *token.Token {
	open, entries, line := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open--
		case token.SequenceEntryType:
			if entries++; t.Position.Line != line {
				entries, line = 1, t.Position.Line
			}
		}
		if open > maxDepth || entries > maxDepth {
			return t
		}
	}
	return nil
}

// reader walks a file's syntax tree. It decides itself, node by node, so that
// nothing is converted, referred to or merged behind its back.
type reader struct {
	values   map[string]written
	problems []Problem
}

func (r *reader) problem(at *token.Token, key, what string) {
	if len(r.problems) < maxProblems {
		line, col := position(at)
		r.problems = append(r.problems, Problem{Where: fmt.Sprintf("%d:%d", line, col), Key: key, What: what})
	}
}

func position(at *token.Token) (line, col int) {
	if at == nil || at.Position == nil {
		return 1, 1
	}
	return max(at.Position.Line, 1), max(at.Position.Column, 1)
}

// syntax notes an error of the parser: its own words without what they quote,
// for that is the file's text, which may be a credential.
func (r *reader) syntax(err error) {
	var known yaml.Error
	if !errors.As(err, &known) {
		r.problem(nil, "", "the file is not YAML")
		return
	}
	what := known.GetMessage()
	if strings.HasPrefix(what, "mapping key") {
		what = "the key is there twice"
	}
	what, _, _ = strings.Cut(what, `"`)
	r.problem(known.GetToken(), "", "the file is not YAML: "+strings.TrimRight(what, ": "))
}

// mapping reads a group, or the whole file.
func (r *reader) mapping(n ast.Node, prefix string) {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			r.entry(v, prefix)
		}
	case *ast.MappingValueNode:
		r.entry(n, prefix)
	case *ast.NullNode, *ast.CommentGroupNode, nil:
		// Everything in it is commented out.
	default:
		r.problem(n.GetToken(), groupOf(prefix), "must hold KEY: VALUE lines")
	}
}

func (r *reader) entry(n *ast.MappingValueNode, prefix string) {
	name, ok := n.Key.(*ast.StringNode)
	if !ok {
		r.problem(n.GetToken(), groupOf(prefix), "has a key that is no name")
		return
	}
	path := prefix + name.Value
	if isGroup(path) {
		r.mapping(n.Value, path+".")
		return
	}
	at, known := table.paths[path]
	if !known {
		r.problem(name.Token, "", unknownKey(path))
		return
	}
	if _, twice := r.values[path]; twice {
		r.problem(name.Token, path, "is there twice")
		return
	}
	k := &table.keys[at]
	texts, ok := scalars(n.Value, k.kind.shapes)
	if !ok {
		r.problem(valueToken(n), path, "must "+k.kind.must)
		return
	}
	w := written{texts: texts}
	w.line, w.col = position(valueToken(n))
	r.values[path] = w
}

func valueToken(n *ast.MappingValueNode) *token.Token {
	if n.Value != nil {
		if t := n.Value.GetToken(); t != nil {
			return t
		}
	}
	return n.GetToken()
}

// scalars are the texts of a value that is written in one of the shapes.
func scalars(n ast.Node, want shape) ([]string, bool) {
	if want == list {
		seq, ok := n.(*ast.SequenceNode)
		if !ok {
			return nil, false
		}
		texts := make([]string, 0, len(seq.Values))
		for _, v := range seq.Values {
			one, ok := scalars(v, text)
			if !ok {
				return nil, false
			}
			texts = append(texts, one...)
		}
		return texts, true
	}
	var (
		is shape
		s  string
	)
	switch n := n.(type) {
	case *ast.StringNode:
		is, s = text, n.Value
	case *ast.LiteralNode:
		is, s = text, n.Value.Value
	case *ast.IntegerNode:
		is, s = whole, n.Token.Value
	case *ast.FloatNode:
		is, s = fraction, n.Token.Value
	case *ast.BoolNode:
		is, s = truth, n.Token.Value
	}
	return []string{s}, is&want != 0
}
