package words

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule is one rule of the language.
type rule struct {
	name  string
	check func(s *source) []passage
}

// rules are what CONTRIBUTING.md says of the language.
var rules = []rule{
	{"vague", vagueWords},
	{"doc", docSentences},
	{"bool", booleanNames},
	{"name", fileNames},
}

// TestRules holds every file to the rules of the language.
func TestRules(t *testing.T) {
	all := sources(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, s := range all {
				for _, p := range r.check(s) {
					t.Errorf("%s:%d: %s", s.path, p.line, p.text)
				}
			}
		})
	}
}

// vague matches words and turns that leave open what they mean.
var vague = regexp.MustCompile(`(?i)\b(?:whoever|nobody|somebody|anybody|everybody|is all one|on (?:its|their) way|lets? go|goes on|went on)\b`)

// vagueWords finds vague words in the prose of a file and in the strings of a program.
func vagueWords(s *source) []passage {
	var found []passage
	for _, p := range s.prose() {
		if m := vague.FindString(unquoted(p.text)); m != "" {
			found = append(found, passage{p.line, fmt.Sprintf("%q: name the noun: %s", m, strings.TrimSpace(p.text))})
		}
	}
	if s.file == nil || s.isTest() {
		return found
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		if m := vague.FindString(text); m != "" {
			found = append(found, passage{s.line(lit.Pos()), fmt.Sprintf("%q in a string: name the noun: %s", m, text)})
		}
		return true
	})
	return found
}

// maxWords bounds the first sentence of a doc comment.
const maxWords = 25

// docSentences checks the doc comments of packages and of exported names: the first sentence
// begins with the name, has a verb in the present tense and is short.
func docSentences(s *source) []passage {
	if s.file == nil || s.isTest() {
		return nil
	}
	var found []passage
	check := func(pos token.Pos, name string, doc *ast.CommentGroup) {
		if problem := docProblem(name, doc.Text()); problem != "" {
			found = append(found, passage{s.line(pos), problem})
		}
	}
	if s.file.Doc != nil {
		name := "Package " + s.file.Name.Name
		if s.file.Name.Name == "main" {
			name = ""
		}
		check(s.file.Package, name, s.file.Doc)
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc != nil {
				check(d.Pos(), d.Name.Name, d.Doc)
			}
		case *ast.GenDecl:
			if d.Doc != nil && len(d.Specs) > 1 {
				check(d.Pos(), "", d.Doc) // of a group: it names what the group is
			}
			for _, spec := range d.Specs {
				name, doc := specDoc(spec)
				if doc == nil && len(d.Specs) == 1 {
					doc = d.Doc
				}
				if doc != nil && token.IsExported(name) {
					check(spec.Pos(), name, doc)
				}
			}
		}
	}
	return found
}

// specDoc is the first name that a spec declares, and the comment above it.
func specDoc(spec ast.Spec) (string, *ast.CommentGroup) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Name.Name, spec.Doc
	case *ast.ValueSpec:
		return spec.Names[0].Name, spec.Doc
	}
	return "", nil
}

// sentenceEnd matches the end of a first sentence. A colon ends one too: what follows it
// explains.
var sentenceEnd = regexp.MustCompile(`[.:;!?](?:\s|$)|\n\n`)

// presentPlural are verbs in the present tense that do not end with an s.
var presentPlural = []string{"are", "have", "do", "can", "may", "must", "hold", "say", "stand", "count", "name", "bound", "list", "give", "match", "turn", "mean", "answer", "tell", "set", "take", "make", "keep", "describe", "belong", "configure", "adjust", "send"}

// docProblem says what is wrong with the doc comment of name, and "" for nothing.
func docProblem(name, text string) string {
	first := text
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		first = text[:at[0]]
	}
	words := strings.Fields(first)
	if len(words) > maxWords {
		return fmt.Sprintf("the first sentence of the doc of %s has %d words, at most %d are allowed: %s", name, len(words), maxWords, strings.Join(words, " "))
	}
	if name == "" || strings.HasPrefix(text, "Deprecated:") {
		return ""
	}
	subject := strings.Fields(name)
	if len(words) <= len(subject) || strings.TrimSuffix(strings.Join(words[:len(subject)], " "), ",") != name {
		return fmt.Sprintf("the doc of %s does not begin with its name: %s", name, strings.Join(words, " "))
	}
	for _, w := range words[len(subject):] {
		w = strings.Trim(w, ",()")
		if strings.HasSuffix(w, "s") && len(w) > 1 || slices.Contains(presentPlural, w) {
			return ""
		}
	}
	return fmt.Sprintf("the first sentence of the doc of %s has no verb in the present tense: %s", name, strings.Join(words, " "))
}

// boolPrefix matches names of booleans that read as a statement.
var boolPrefix = regexp.MustCompile(`^(?:[iI]s|[aA]re|[wW]as|[hH]as|[hH]ave|[cC]an|[cC]annot|[sS]hould|[nN]eeds?|[aA]llows?|[wW]ants?|[sS]upports?|[mM]atch(?:es)?|[cC]ontains?|[eE]quals?|[mM]ay|[mM]ust|[dD]oes|[uU]ses)(?:[A-Z0-9_]|$)`)

// boolStatement matches names of booleans that are a verb with its object.
var boolStatement = regexp.MustCompile(`^(?i:asks|awaits|delays|disarms|ends|hears|holds|keeps|leaves|loses|passes|proves|refuses|shares|takes|waits|works)[A-Z]`)

// deed matches names of functions that do something and return whether it was done: they
// are called for what they do, so that the name is an order.
var deed = regexp.MustCompile(`^(?i:accept|acquire|activate|admit|announce|arm|ask|await|cancel|claim|close|complete|crash|cut|decide|detach|dispose|finish|gather|handle|hold|keep|kill|leave|log|navigate|note|offer|pass|push|refuse|relay|release|remove|renew|reserve|run|send|slow|spin|stop|take|throw|try|unspin|with|write|read)(?:[A-Z]|$)`)

// boolNames are names that a library or a format gives, and idioms of Go.
var boolNames = []string{"ok", "Equal", "Less", "Is", "Match", "Contains", "Ok", "OK", "IsZero", "Next", "Enabled", "Valid"}

// publicNames are options of the Go API, by the path of their file: a caller writes them in
// a literal, where the name alone reads as the option that it is.
var publicNames = map[string][]string{
	"client/watch.go":     {"Resume"},
	"messages/request.go": {"Full"},
}

// booleanNames checks the names of boolean fields and of functions that return a boolean
// alone.
func booleanNames(s *source) []passage {
	if s.file == nil || s.isTest() {
		return nil
	}
	var found []passage
	check := func(id *ast.Ident, what string) {
		if boolPrefix.MatchString(id.Name) || boolStatement.MatchString(id.Name) ||
			slices.Contains(boolNames, id.Name) || slices.Contains(publicNames[s.path], id.Name) {
			return
		}
		found = append(found, passage{s.line(id.Pos()), fmt.Sprintf("%s %s is a boolean: name it isX, hasX or canX", what, id.Name)})
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, f := range n.Fields.List {
				// A field with a tag has the name that its format gives it.
				if isBool(f.Type) && f.Tag == nil {
					for _, id := range f.Names {
						check(id, "field")
					}
				}
			}
		case *ast.FuncDecl:
			if r := n.Type.Results; r != nil && len(r.List) == 1 && len(r.List[0].Names) < 2 && isBool(r.List[0].Type) && !deed.MatchString(n.Name.Name) {
				check(n.Name, "function")
			}
		}
		return true
	})
	return found
}

// isBool says whether e is the type bool.
func isBool(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "bool"
}

// obscure are names of files and packages that say nothing to a newcomer.
var obscure = []string{
	"torn", "quick", "quicktarget", "free", "sight", "few", "heap", "bounds", "letter", "living",
	"tap", "door", "again", "doubt", "plain", "hall", "crew", "turns", "patience", "pulse",
	"util", "utils", "helpers", "misc",
}

// fileNames checks the names of a file and of its folder.
func fileNames(s *source) []passage {
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(s.path), path.Ext(s.path)), "_test")
	var found []passage
	for _, name := range []string{base, path.Base(s.pkg())} {
		if slices.Contains(obscure, name) {
			found = append(found, passage{1, fmt.Sprintf("%q is not a name that a newcomer searches for", name)})
		}
	}
	return found
}
