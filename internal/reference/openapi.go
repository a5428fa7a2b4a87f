package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"holdfast/internal/api"
	"holdfast/messages"
)

// object is a JSON object; its keys are written in alphabetical order.
type object = map[string]any

// Document is the OpenAPI 3.1 document of the routes. A closed one refuses fields in
// answers that it does not have, which is for tests: callers ignore what they do not know.
// messagesDir is where the source of package messages is.
func Document(routes []api.Route, messagesDir string, isClosed bool) ([]byte, error) {
	src, err := readSource(messagesDir)
	if err != nil {
		return nil, err
	}
	s := newSchemas(src, isClosed)
	errorReply := s.add(reflect.TypeFor[messages.ErrorReply](), false)
	paths := object{}
	for _, r := range routes {
		path, ok := paths[r.Path].(object)
		if !ok {
			path = object{}
			paths[r.Path] = path
		}
		path[strings.ToLower(r.Method)] = operation(r, s, errorReply)
	}
	components := object{}
	for name, schema := range s.all {
		components[name] = schema
	}
	doc := object{
		"openapi":           "3.1.1",
		"jsonSchemaDialect": jsonschema.Version,
		"info": object{
			"title": "Holdfast", "version": "v1", "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "Supervises browser tasks for AI agents over the Chrome DevTools Protocol. Times are Unix seconds; durations end in _s or _ms. Ignore fields that you do not know.",
		},
		"servers":  []object{{"url": "http://127.0.0.1:7070", "description": "the default address of a node"}},
		"security": []object{{"token": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas":         components,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "the admin token, or one of a task or a tenant"}},
		},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("#/$defs/"), []byte("#/components/schemas/")), nil
}

var words = regexp.MustCompile(`[a-z]+`)

// operationID makes a name of the method and the path: put_v1_tasks_id.
func operationID(r api.Route) string {
	return strings.Join(words.FindAllString(strings.ToLower(r.Method+" "+strings.TrimPrefix(r.Path, "/v1")), -1), "_")
}

func operation(r api.Route, s *schemas, errorReply *jsonschema.Schema) object {
	out := object{"operationId": operationID(r), "summary": r.Summary}
	if r.Text != "" {
		out["description"] = r.Text
	}
	var parameters []object
	if strings.Contains(r.Path, "{id}") {
		parameters = append(parameters, object{"name": "id", "in": "path", "required": true, "description": "the id of the task", "schema": s.special(reflect.TypeFor[messages.TaskID]())})
	}
	for _, p := range r.Query {
		parameters = append(parameters, parameter(p, "query"))
	}
	for _, p := range r.Headers {
		parameters = append(parameters, parameter(p, "header"))
	}
	if len(parameters) > 0 {
		out["parameters"] = parameters
	}
	if r.Body != nil {
		out["requestBody"] = object{"required": !r.IsOptional, "content": object{"application/json": object{"schema": s.add(r.Body, true)}}}
	}
	if r.Access == "open" {
		out["security"] = []object{}
	}
	responses := object{}
	for _, a := range r.Answers {
		answer := object{"description": a.About}
		content := object{}
		if a.Body != nil {
			content["schema"] = s.add(a.Body, false)
		}
		if a.ContentType != "" {
			answer["content"] = object{a.ContentType: content}
		}
		responses[strconv.Itoa(a.Status)] = answer
	}
	if len(r.Events) > 0 {
		events := object{}
		for _, e := range r.Events {
			events[e.Name] = object{"description": e.About, "data": s.add(e.Body, false)}
		}
		out["x-events"] = events
	}
	for status, codes := range byStatus(r.Codes) {
		texts := make([]string, len(codes))
		for i, c := range codes {
			texts[i] = fmt.Sprintf("`%s`: %s", c.Code, c.Cause)
		}
		responses[strconv.Itoa(status)] = object{
			"description": strings.Join(texts, "\n"), "content": object{"application/json": object{"schema": errorReply}}, "x-codes": names(codes),
		}
	}
	out["responses"] = responses
	return out
}

func parameter(p api.Param, in string) object {
	schema := object{"type": p.Kind}
	if p.IsMany {
		schema = object{"type": "array", "items": schema}
	}
	return object{"name": p.Name, "in": in, "description": p.About, "schema": schema}
}

// byStatus groups the table's entries for the codes.
func byStatus(codes []messages.Code) map[int][]messages.CodeInfo {
	out := map[int][]messages.CodeInfo{}
	for _, c := range messages.CodeTable() {
		if slices.Contains(codes, c.Code) {
			out[c.Status] = append(out[c.Status], c)
		}
	}
	return out
}

func names(codes []messages.CodeInfo) []messages.Code {
	out := make([]messages.Code, len(codes))
	for i, c := range codes {
		out[i] = c.Code
	}
	return out
}
