package reference

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"holdfast/internal/api"
	"holdfast/messages"
)

// intro is the part of the page that no table has.
const intro = "# HTTP interface\n\n" +
	"<!-- Made by internal/reference from the table of routes and the messages' types: go generate ./internal/reference -->\n\n" +
	"A node serves this interface on `--listen`, by default `http://127.0.0.1:7070`. `GET /v1/openapi.json` is the same\n" +
	"as an OpenAPI 3.1 document. This page is generated from the code, and a test holds the answers of a node to it.\n\n" +
	"- **Token.** Send `Authorization: Bearer TOKEN`. `serve` writes the admin token to `~/.local/state/holdfast/token`\n" +
	"  (mode 0600); `holdfast token --task ID` and `--tenant NAME` print tokens that cover one task or one tenant.\n" +
	"- **Host and Origin.** `Host` has to be a loopback name or one that `allow_hosts` of the configuration names. A request\n" +
	"  with the `Origin` of another site is refused.\n" +
	"- **Names.** A task's id is chosen by the caller: 1 to 128 of `A-Z a-z 0-9 . _ : -`. Ids of pages, frames and sessions are CDP's.\n" +
	"- **Units.** Times are Unix seconds with a fraction. Durations end in `_s` (seconds) or `_ms` (milliseconds).\n" +
	"- **JSON.** A body may have any `Content-Type`. A field that the node does not know is refused. Ignore fields in answers that you do\n" +
	"  not know: versions add some.\n" +
	"- **Errors.** Every status from 400 on has the body `{\"error\": {\"code\", \"message\", \"details\"}}`. Branch on `code`: [Error codes](#error-codes).\n" +
	"  Every route may answer `invalid_argument`, `forbidden` and `internal`, and `unauthorized` where it needs a token; the others are listed with it.\n" +
	"- **Once.** A command that may have run is never sent to the browser again. `details.sent` says whether it may have run.\n" +
	"- **Bounds.** [limits.md](limits.md) lists the bounds of bodies, streams and connections.\n\n"

// everywhere are the codes that the introduction names for all routes.
var everywhere = []messages.Code{messages.CodeInvalidArgument, messages.CodeUnauthorized, messages.CodeForbidden, messages.CodeInternal}

// page writes docs/api.md.
type page struct {
	strings.Builder
	schemas *schemas
}

// Markdown is docs/api.md. messagesDir is where the source of package messages is.
func Markdown(routes []api.Route, messagesDir string) ([]byte, error) {
	src, err := readSource(messagesDir)
	if err != nil {
		return nil, err
	}
	p := &page{schemas: newSchemas(src, false)}
	p.schemas.add(reflect.TypeFor[messages.ErrorReply](), false)
	p.WriteString(intro)
	p.WriteString("## Routes\n\n| route | does | token |\n|---|---|---|\n")
	for _, r := range routes {
		token := map[string]string{"task": "one that covers the task", "token": "any", "open": "none"}[r.Access]
		p.printf("| [`%s %s`](#%s) | %s | %s |\n", r.Method, r.Path, anchor(r.Method+" "+r.Path), r.Summary, token)
	}
	for _, r := range routes {
		p.route(r)
	}
	p.codes()
	p.types()
	return []byte(strings.TrimRight(p.String(), "\n") + "\n"), nil
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// anchor is the fragment that Markdown viewers give a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

func (p *page) route(r api.Route) {
	p.printf("\n### %s %s\n\n%s.", r.Method, r.Path, r.Summary)
	if r.Text != "" {
		p.printf(" %s", r.Text)
	}
	p.WriteString("\n")
	if len(r.Query)+len(r.Headers) > 0 || r.TakesToken {
		p.WriteString("\n| parameter | type | says |\n|---|---|---|\n")
		for _, q := range r.Query {
			p.printf("| `?%s=` | %s | %s |\n", q.Name, q.Kind, q.About)
		}
		for _, h := range r.Headers {
			p.printf("| `%s:` | %s | %s |\n", h.Name, h.Kind, h.About)
		}
		if r.TakesToken {
			p.WriteString("| `?access_token=` | string | a token that expires, for an EventSource, which cannot set a header |\n")
		}
	}
	if r.Body != nil {
		p.schemas.add(r.Body, true)
		optional := ""
		if r.IsOptional {
			optional = ", which may be left out"
		}
		p.printf("\nBody: %s%s.\n", typeLink(r.Body.Name()), optional)
	}
	p.WriteString("\n")
	for _, a := range r.Answers {
		body := ""
		switch {
		case a.Body != nil:
			p.schemas.add(a.Body, false)
			body = ": " + typeLink(a.Body.Name())
		case a.ContentType != "":
			body = ": `" + a.ContentType + "`"
		}
		p.printf("- **%d** %s%s\n", a.Status, a.About, body)
	}
	var texts []string
	for _, c := range r.Codes {
		if !slices.Contains(everywhere, c) {
			texts = append(texts, fmt.Sprintf("[`%s`](#%s)", c, c))
		}
	}
	if len(texts) > 0 {
		p.printf("- Errors: %s\n", strings.Join(texts, ", "))
	}
	if len(r.Events) > 0 {
		p.events(r.Events)
	}
}

func (p *page) events(events []api.StreamEvent) {
	p.WriteString("\n| event | says | data |\n|---|---|---|\n")
	for _, e := range events {
		p.schemas.add(e.Body, false)
		data := typeLink(e.Body.Name())
		for _, info := range messages.EventTable() {
			if string(info.Type) == e.Name && e.Body == reflect.TypeFor[messages.Event]() {
				data += " with " + quoted(info.Fields, info.MayHave)
			}
		}
		p.printf("| `%s` | %s | %s |\n", e.Name, e.About, data)
	}
}

// quoted lists fields: those that are always there, and those that may be.
func quoted(always, maybe []string) string {
	var out []string
	for _, f := range always {
		out = append(out, "`"+f+"`")
	}
	for _, f := range maybe {
		out = append(out, "`"+f+"` or not")
	}
	return strings.Join(out, ", ")
}

func (p *page) codes() {
	p.WriteString("\n## Error codes\n")
	for _, c := range messages.CodeTable() {
		p.printf("\n### %s\n\n**%d.** %s %s\n", c.Code, c.Status, c.Cause, c.Cure)
		if len(c.Details) == 0 {
			continue
		}
		p.WriteString("\n| in `details` | says |\n|---|---|\n")
		for _, d := range c.Details {
			p.printf("| `%s` | %s |\n", d.Key, d.About)
		}
	}
}

// types writes every type that a route or another type names.
func (p *page) types() {
	p.WriteString("\n## Types\n\nA field that is marked *always* is in every value of its type, of a body it has to be given.\n")
	for _, name := range slices.Sorted(maps.Keys(p.schemas.all)) {
		schema := p.schemas.all[name]
		about, _, _ := strings.Cut(schema.Description, "\n")
		p.printf("\n### %s\n\n%s\n", name, about)
		if len(schema.Enum) > 0 {
			p.values(name)
		}
		for _, branch := range append([]*jsonschema.Schema{schema}, schema.AnyOf...) {
			if branch.Properties.Len() > 0 {
				p.fields(branch)
			}
		}
	}
}

func (p *page) values(typ string) {
	p.WriteString("\n| value | says |\n|---|---|\n")
	for _, v := range p.schemas.source.values[typ] {
		p.printf("| `%s` | %s |\n", v.text, p.schemas.source.plain(v.about))
	}
}

func (p *page) fields(s *jsonschema.Schema) {
	p.WriteString("\n| field | type | says |\n|---|---|---|\n")
	for f := s.Properties.Oldest(); f != nil; f = f.Next() {
		always := ""
		if slices.Contains(s.Required, f.Key) {
			always = ", *always*"
		}
		p.printf("| `%s` | %s%s | %s |\n", f.Key, typeOf(f.Value), always, f.Value.Description)
	}
}

// typeLink names a type of the page.
func typeLink(name string) string { return fmt.Sprintf("[%s](#%s)", name, anchor(name)) }

// typeOf says in words what a schema takes.
func typeOf(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		link := typeLink(s.Ref[strings.LastIndexByte(s.Ref, '/')+1:])
		if len(s.Enum) > 0 {
			link += ": " + typeOf(&jsonschema.Schema{Enum: s.Enum})
		}
		return link
	case len(s.AnyOf) > 0:
		var out []string
		for _, b := range s.AnyOf {
			out = append(out, typeOf(b))
		}
		return strings.Join(out, " or ")
	case len(s.Enum) > 0:
		var out []string
		for _, v := range s.Enum {
			out = append(out, fmt.Sprintf("`%v`", v))
		}
		return strings.Join(out, ", ")
	case s.Type == "array":
		return "list of " + typeOf(s.Items)
	case s.Type == "object" && s.AdditionalProperties != nil && s.AdditionalProperties.Type != "":
		return "map of " + typeOf(s.AdditionalProperties)
	case s.Type == "number", s.Type == "integer":
		if s.Maximum != "" {
			return fmt.Sprintf("%s, %s to %s", s.Type, orZero(s.Minimum.String()), grouped(s.Maximum.String()))
		}
	}
	return s.Type
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// grouped writes a whole number with commas.
func grouped(s string) string {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 10_000 {
		return s
	}
	return fmt.Sprintf("%s,%03d", grouped(strconv.FormatInt(n/1000, 10)), n%1000)
}
