package house

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/shed"
)

// TestLimitsAreDocumented reads the numbers of docs/limits.md from the code, and
// looks for every bound that is counted.
func TestLimitsAreDocumented(t *testing.T) {
	t.Parallel()
	doc := read(t, "docs/limits.md")
	for _, b := range shed.All() {
		if !strings.Contains(doc, "`"+b.String()+"`") {
			t.Errorf("bound %s is not there", b)
		}
	}
	// "20 dialogs of the past (`messages` MaxRecentDialogs)"
	claims := regexp.MustCompile("(\\d+)[^|(,]*?(?:: |\\()`([a-z/]+)` ([A-Za-z]+)\\)").FindAllStringSubmatch(doc, -1)
	if len(claims) < 40 {
		t.Errorf("only %d numbers are read", len(claims))
	}
	consts := map[string]map[string]string{}
	for _, c := range claims {
		pkg := c[2]
		if consts[pkg] == nil {
			consts[pkg] = constants(t, pkg)
		}
		if got := consts[pkg][c[3]]; got != c[1] {
			t.Errorf("%s.%s is %q, documented as %s", pkg, c[3], got, c[1])
		}
	}
}

// constants are a package's whole numbers, by name: literals and arithmetic with
// them and with one another.
func constants(t *testing.T, pkg string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	exprs := map[string]ast.Expr{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, n := range v.Names {
					if i < len(v.Values) {
						exprs[n.Name] = v.Values[i]
					}
				}
			}
		}
	}
	var eval func(e ast.Expr) constant.Value
	eval = func(e ast.Expr) constant.Value {
		switch e := e.(type) {
		case *ast.BasicLit:
			return constant.MakeFromLiteral(e.Value, e.Kind, 0)
		case *ast.Ident:
			if x, ok := exprs[e.Name]; ok {
				return eval(x)
			}
		case *ast.BinaryExpr:
			x, y := eval(e.X), eval(e.Y)
			if x.Kind() != constant.Int || y.Kind() != constant.Int {
				break
			}
			if e.Op == token.SHL || e.Op == token.SHR {
				n, _ := constant.Uint64Val(y)
				return constant.Shift(x, e.Op, uint(n))
			}
			return constant.BinaryOp(x, e.Op, y)
		}
		return constant.MakeUnknown()
	}
	out := map[string]string{}
	for name, e := range exprs {
		if v := eval(e); v.Kind() == constant.Int {
			out[name] = v.ExactString()
		}
	}
	return out
}
