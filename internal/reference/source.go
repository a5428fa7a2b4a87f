package reference

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// value is one value of an enumeration.
type value struct{ text, about string }

// source is what the text of package messages says of its types.
type source struct {
	docs   map[string]string // by Type and by Type.Field
	names  map[string]string // the JSON name of Type.Field
	values map[string][]value
	consts map[string]string // constants as they are written in prose
}

// readSource reads the package in dir.
func readSource(dir string) (*source, error) {
	fset := token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	// Only constants are of interest, and those that other packages have a part in are
	// durations. What else is imported is not looked up, and its absence is no error.
	check := types.Config{Importer: onlyTime{fset}, IgnoreFuncBodies: true, Error: func(error) {}}
	pkg, _ := check.Check("holdfast/messages", fset, files, nil)
	s := &source{docs: map[string]string{}, names: map[string]string{}, values: map[string][]value{}, consts: map[string]string{}}
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				s.declared(g, pkg)
			}
		}
	}
	return s, nil
}

// onlyTime imports what constants need of package time, and empty packages else.
type onlyTime struct{ fset *token.FileSet }

const timeSource = `package time
type Duration int64
const (
	Nanosecond  Duration = 1
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)`

// Import implements types.Importer.
func (i onlyTime) Import(name string) (*types.Package, error) {
	if name != "time" {
		empty := types.NewPackage(name, path.Base(name))
		empty.MarkComplete()
		return empty, nil
	}
	f, err := parser.ParseFile(i.fset, "time.go", timeSource, 0)
	if err != nil {
		return nil, err
	}
	return new(types.Config).Check(name, i.fset, []*ast.File{f}, nil)
}

// declared takes the types and constants of one declaration.
func (s *source) declared(g *ast.GenDecl, pkg *types.Package) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc.Text()
			if doc == "" {
				doc = g.Doc.Text()
			}
			s.docs[spec.Name.Name] = doc
			if st, ok := spec.Type.(*ast.StructType); ok {
				s.fields(spec.Name.Name, st)
			}
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				if c, ok := pkg.Scope().Lookup(n.Name).(*types.Const); ok {
					s.constant(c, spec)
				}
			}
		}
	}
}

func (s *source) fields(typ string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		_, rest, _ := strings.Cut(tag, `json:"`)
		name, _, _ := strings.Cut(rest, `"`)
		name, _, _ = strings.Cut(name, ",")
		for _, n := range f.Names {
			s.docs[typ+"."+n.Name] = f.Doc.Text()
			s.names[typ+"."+n.Name] = name
		}
	}
}

// constant takes a value of an enumeration, or a bound that prose names.
func (s *source) constant(c *types.Const, spec *ast.ValueSpec) {
	if named, ok := c.Type().(*types.Named); ok && c.Val().Kind() == constant.String {
		about := spec.Comment.Text()
		if about == "" {
			about = spec.Doc.Text()
			about = strings.TrimPrefix(about, c.Name()+" ")
		}
		typ := named.Obj().Name()
		s.values[typ] = append(s.values[typ], value{constant.StringVal(c.Val()), about})
		return
	}
	n, ok := constant.Int64Val(constant.ToInt(c.Val()))
	switch {
	case !ok:
	case c.Type().String() == "time.Duration":
		s.consts[c.Name()] = duration(time.Duration(n))
	default:
		s.consts[c.Name()] = strconv.FormatInt(n, 10)
	}
}

// duration writes d in its largest whole unit.
func duration(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if d >= u.of && d%u.of == 0 {
			return strconv.FormatInt(int64(d/u.of), 10) + " " + u.name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
}

var (
	link = regexp.MustCompile(`\[([A-Za-z.]+)\]`)
	// ids matches the ids of facts and requirements, which are for readers of the code.
	ids     = regexp.MustCompile(` \((?:requirements? |chromium facts? )?[A-Z]\d+(?:, [A-Z]\d+)*(?: says why[^)]*)?\)`)
	subject = regexp.MustCompile(`^(\w+) (?:(?:is|are) )?`)
)

// typeText is what the reference says of a type: the first paragraph of its comment.
func (s *source) typeText(typ string) string {
	text, _, _ := strings.Cut(s.docs[typ], "\n\n")
	return s.plain(text)
}

// fieldText is what the reference says of a field: the first paragraph of its comment,
// without the name in front.
func (s *source) fieldText(typ, field string) string {
	text, _, _ := strings.Cut(s.docs[typ+"."+field], "\n\n")
	text = s.plain(text)
	if m := subject.FindStringSubmatch(text); m != nil && m[1] == field {
		text = strings.TrimPrefix(text, m[0])
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}

// plain puts constants in and takes out what is for readers of the code.
func (s *source) plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = ids.ReplaceAllString(text, "")
	return link.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.Trim(m, "[]")
		if v, ok := s.consts[name]; ok {
			return v
		}
		return name
	})
}
