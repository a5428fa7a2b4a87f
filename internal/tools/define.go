package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"holdfast/messages"
)

// on is what the input of every tool has. A tool that is of no tab shows it in its result alone.
type on struct {
	Task string `json:"task,omitempty" jsonschema:"task id; default: this client's task"`
	Tab  string `json:"tab,omitempty" jsonschema:"tab_id or name; default: main"`
}

// none is the data of a tool whose text says it all.
type none struct{}

// define makes a line of the table of a function. The schemas follow from In and Out: a field is
// required unless it is marked omitempty; the tags enum ("a|b"), min, max and maxlen bound its
// value, and the tag jsonschema describes it.
func define[In, Out any](t Tool, run func(context.Context, *call, In) (outcome, error)) Tool {
	in := schemaOf[In]()
	bounds := fieldsOf(reflect.TypeFor[In]())
	for _, f := range bounds {
		f.describe(in.Properties[f.name])
	}
	t.Input = encode(in)
	out := schemaOf[messages.ToolResult]()
	out.Properties["data"] = schemaOf[Out]()
	t.Output = encode(out)
	required := in.Required
	t.run = func(ctx context.Context, c *call, input []byte) (outcome, error) {
		var v In
		if err := decode(input, required, bounds, &v); err != nil {
			return outcome{}, err
		}
		if h, ok := any(v).(interface{ tabName() string }); ok {
			c.tabName = h.tabName()
		}
		if !t.needsNoTask {
			if err := c.begin(ctx); err != nil {
				return outcome{}, err
			}
		}
		return run(ctx, c, v)
	}
	return t
}

func (o on) tabName() string { return o.Tab }

// schemaOf makes the JSON schema of a type of ours; one that has none is a mistake of the program.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage]():   {Type: "object"},
		reflect.TypeFor[*messages.Error]():   {Type: "object"},
		reflect.TypeFor[messages.Dialog]():   {Type: "object"},
		reflect.TypeFor[messages.Blocker]():  {Type: "object"},
		reflect.TypeFor[messages.Artifact](): {Type: "object"},
	}})
	if err != nil {
		panic("tools: " + err.Error())
	}
	return s
}

func encode(s *jsonschema.Schema) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic("tools: " + err.Error())
	}
	return b
}

// field is what the tags of one field of an input say.
type field struct {
	name     string
	enum     []string
	min, max *float64
	maxLen   int
}

func fieldsOf(t reflect.Type) (out []field) {
	for f := range t.Fields() {
		if f.Anonymous {
			out = append(out, fieldsOf(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		one := field{name: name, min: number(f.Tag.Get("min")), max: number(f.Tag.Get("max"))}
		if e := f.Tag.Get("enum"); e != "" {
			one.enum = strings.Split(e, "|")
		}
		if n := number(f.Tag.Get("maxlen")); n != nil {
			one.maxLen = int(*n)
		}
		out = append(out, one)
	}
	return out
}

func number(tag string) *float64 {
	if tag == "" {
		return nil
	}
	n, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic("tools: " + err.Error())
	}
	return &n
}

func (f field) describe(s *jsonschema.Schema) {
	for _, e := range f.enum {
		s.Enum = append(s.Enum, e)
	}
	s.Minimum, s.Maximum = f.min, f.max
	if f.maxLen > 0 {
		s.MaxLength = &f.maxLen
	}
}

// decode reads an input by exact names and types, and holds it to its bounds. Errors are
// [*messages.Error]s with the code invalid_argument that name the field.
func decode(input []byte, required []string, bounds []field, v any) error {
	if err := messages.DecodeStrict(bytes.NewReader(input), v); err != nil {
		return err
	}
	var given map[string]any
	if json.Unmarshal(input, &given) != nil {
		return messages.Errorf(messages.CodeInvalidArgument, "the input must be an object")
	}
	for _, name := range required {
		if given[name] == nil {
			return messages.Errorf(messages.CodeInvalidArgument, "%q is missing", name)
		}
	}
	for _, f := range bounds {
		if err := f.check(given[f.name]); err != nil {
			return err
		}
	}
	return nil
}

func (f field) check(value any) error {
	wrong := func(format string, args ...any) error {
		return messages.Errorf(messages.CodeInvalidArgument, "%q must be %s", f.name, fmt.Sprintf(format, args...))
	}
	switch v := value.(type) {
	case string:
		if len(f.enum) > 0 && !slices.Contains(f.enum, v) {
			return wrong("one of %s", strings.Join(f.enum, ", "))
		}
		if f.maxLen > 0 && len(v) > f.maxLen {
			return wrong("at most %d bytes long", f.maxLen)
		}
	case float64:
		if f.min != nil && v < *f.min || f.max != nil && v > *f.max || math.IsNaN(v) {
			return wrong("between %s and %s", bound(f.min), bound(f.max))
		}
	}
	return nil
}

func bound(n *float64) string {
	if n == nil {
		return "any number"
	}
	return strconv.FormatFloat(*n, 'g', -1, 64)
}
