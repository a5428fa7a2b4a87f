package reference_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/messages"
)

// routeOf names the route that does what a method of the Go API does. Both handles of a task
// have the same methods.
var routeOf = map[string]string{
	"Task": "PUT /v1/tasks/{id}", "Lookup": "GET /v1/tasks/{id}", "Snapshot": "GET /v1/tasks/{id}/snapshot",
	"Navigate": "POST /v1/tasks/{id}/navigate", "CDP": "POST /v1/tasks/{id}/cdp", "Answer": "POST /v1/tasks/{id}/dialog",
	"Events": "GET /v1/tasks/{id}/events", "Recover": "POST /v1/tasks/{id}/recover", "Restart": "POST /v1/tasks/{id}/restart",
	"Renew": "POST /v1/tasks/{id}/renew", "Stop": "DELETE /v1/tasks/{id}",
}

// overHTTPOnly are codes of a route for bounds that stand in HTTP, and not in the node.
var overHTTPOnly = map[string]messages.Code{"Events": messages.CodeLimitReached}

// TestTheGoAPIListsTheCodesOfItsRoutes: the codes in the doc of each method are all of its
// route's own, and none that the route does not have.
func TestTheGoAPIListsTheCodesOfItsRoutes(t *testing.T) {
	t.Parallel()
	routes := map[string]api.Route{}
	for _, r := range api.Routes() {
		routes[r.Method+" "+r.Path] = r
	}
	for _, place := range []struct {
		files  []string
		isHTTP bool
	}{{[]string{"task.go", "holdfast.go"}, false}, {[]string{"client/handle.go"}, true}} {
		docs := map[string]string{}
		for _, file := range place.files {
			methodDocs(t, "../../"+file, docs)
		}
		for method, name := range routeOf {
			r, isRoute := routes[name]
			doc, isMethod := docs[method]
			if !isRoute || !isMethod {
				t.Errorf("%s: the route %s or the method of %v is gone", method, name, place.files)
				continue
			}
			listed := codesIn(doc, docs)
			for _, c := range r.OwnCodes {
				if !slices.Contains(listed, c) && (place.isHTTP || overHTTPOnly[method] != c) {
					t.Errorf("%v: the doc of %s does not list %s, which %s answers with", place.files, method, c, name)
				}
			}
			for _, c := range listed {
				if !slices.Contains(r.Codes, c) {
					t.Errorf("%v: the doc of %s lists %s, which %s never answers with", place.files, method, c, name)
				}
				if !place.isHTTP && overHTTPOnly[method] == c {
					t.Errorf("%v: the doc of %s lists %s, which has its bound in HTTP", place.files, method, c)
				}
			}
		}
		for method, doc := range docs {
			if _, isMapped := routeOf[method]; !isMapped && strings.HasPrefix(receiverOf(doc), "Task") && strings.Contains(doc, "Codes:") {
				t.Errorf("%v: %s lists codes, and no route holds it to them", place.files, method)
			}
		}
	}
}

// methodDocs adds the docs of the exported methods in file, by name. Each begins with its
// receiver's type. A name that is there already stays.
func methodDocs(t *testing.T, file string, docs map[string]string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && m.Name.IsExported() {
			star, ok := m.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			if docs[m.Name.Name] != "" {
				continue // a node's Stop, beside a task's
			}
			docs[m.Name.Name] = star.X.(*ast.Ident).Name + ": " + strings.Join(strings.Fields(m.Doc.Text()), " ")
		}
	}
}

func receiverOf(doc string) string {
	receiver, _, _ := strings.Cut(doc, ":")
	return receiver
}

var (
	word    = regexp.MustCompile(`[a-z]+(?:_[a-z]+)*`)
	thoseOf = regexp.MustCompile(`those of \[(?:\w+\.)?(\w+)\]`)
)

// codesIn are the codes that a doc lists, those of the methods it refers to included.
func codesIn(doc string, docs map[string]string) []messages.Code {
	_, list, _ := strings.Cut(doc, "Codes:")
	var codes []messages.Code
	for _, w := range word.FindAllString(list, -1) {
		if c := messages.Code(w); slices.Contains(messages.Codes(), c) {
			codes = append(codes, c)
		}
	}
	for _, m := range thoseOf.FindAllStringSubmatch(list, -1) {
		codes = append(codes, codesIn(docs[m[1]], docs)...)
	}
	return codes
}
