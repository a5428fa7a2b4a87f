package reference

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"holdfast/messages"
)

// schemas makes JSON Schemas of the types of package messages.
type schemas struct {
	source *source
	// isClosed refuses fields that the schema does not have. A request is closed in any
	// case, because the node refuses such a field.
	isClosed bool
	all      map[string]*jsonschema.Schema // by the name of the type
	reflect  *jsonschema.Reflector
}

func newSchemas(s *source, isClosed bool) *schemas {
	s.values["Code"], s.values["EventType"] = nil, nil
	for _, c := range messages.CodeTable() {
		s.values["Code"] = append(s.values["Code"], value{string(c.Code), c.Cause})
	}
	for _, e := range messages.EventTable() {
		s.values["EventType"] = append(s.values["EventType"], value{string(e.Type), e.About})
	}
	out := &schemas{source: s, isClosed: isClosed, all: map[string]*jsonschema.Schema{}}
	out.reflect = &jsonschema.Reflector{
		Anonymous: true,
		Mapper:    out.special,
		LookupComment: func(t reflect.Type, field string) string {
			if field == "" {
				return s.typeText(t.Name())
			}
			return s.fieldText(t.Name(), field)
		},
	}
	return out
}

// add adds a struct type and every type below it, and returns a reference to it.
func (s *schemas) add(t reflect.Type, isRequest bool) *jsonschema.Schema {
	for name, def := range s.reflect.ReflectFromType(t).Definitions {
		if s.all[name] != nil {
			continue
		}
		s.all[name] = def
		if !s.isClosed && !isRequest {
			def.AdditionalProperties = nil
		}
	}
	s.adjust(t, map[reflect.Type]bool{})
	return reference(t.Name())
}

// tagged are the values that a field's tag leaves of its type's.
func tagged(f reflect.StructField) (values []any) {
	for _, t := range strings.Split(f.Tag.Get("jsonschema"), ",") {
		if v, ok := strings.CutPrefix(t, "enum="); ok {
			values = append(values, v)
		}
	}
	return values
}

// adjust lets null stand where a field is a pointer that is always written, and keeps a field
// that does not take every value of its type to those that it takes.
func (s *schemas) adjust(t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || s.all[t.Name()] == nil || s.all[t.Name()].Properties == nil {
		return
	}
	seen[t] = true
	for f := range t.Fields() {
		s.adjust(f.Type, seen)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if p, ok := s.all[t.Name()].Properties.Get(name); ok && p.Ref != "" {
			p.Enum = tagged(f)
		}
		if f.Type.Kind() != reflect.Pointer || strings.HasPrefix(options, "omit") || f.Type.Elem().Kind() == reflect.Struct {
			continue
		}
		p, ok := s.all[t.Name()].Properties.Get(name)
		if !ok || p.AnyOf != nil {
			continue
		}
		was := *p
		was.Description = ""
		*p = jsonschema.Schema{Description: p.Description, AnyOf: []*jsonschema.Schema{&was, {Type: "null"}}}
	}
}

func reference(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// special makes the schemas of types that are written in another form than Go's.
func (s *schemas) special(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Type: "object"}
	case reflect.TypeFor[messages.ToolInput]():
		return s.named(t, func() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} })
	case reflect.TypeFor[messages.CDPURL]():
		return &jsonschema.Schema{Type: "string", Format: "uri"}
	case reflect.TypeFor[messages.PageChange]():
		names := &jsonschema.Schema{Type: "string"}
		for _, name := range messages.PageChange(0xff).Fields() {
			names.Enum = append(names.Enum, name)
		}
		return &jsonschema.Schema{Type: "array", Items: names}
	case reflect.TypeFor[messages.LaunchSpec]():
		return s.named(t, func() *jsonschema.Schema {
			object := (&jsonschema.Reflector{Anonymous: true, DoNotReference: true, LookupComment: s.reflect.LookupComment}).ReflectFromType(t)
			object.Version, object.Description = "", ""
			return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "boolean"}, object}}
		})
	}
	if !strings.HasSuffix(t.PkgPath(), "/messages") {
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		return s.named(t, func() *jsonschema.Schema {
			out := &jsonschema.Schema{Type: "string"}
			for _, v := range s.source.values[t.Name()] {
				out.Enum = append(out.Enum, v.text)
			}
			return out
		})
	case reflect.Float64:
		return s.named(t, func() *jsonschema.Schema { return &jsonschema.Schema{Type: "number"} })
	}
	return nil
}

// named adds a schema of its own for the type, and returns a reference to it.
func (s *schemas) named(t reflect.Type, schema func() *jsonschema.Schema) *jsonschema.Schema {
	if s.all[t.Name()] == nil {
		made := schema()
		made.Description = s.source.typeText(t.Name())
		for _, v := range s.source.values[t.Name()] {
			if v.about != "" {
				made.Description += "\n- `" + v.text + "`: " + s.source.plain(v.about)
			}
		}
		s.all[t.Name()] = made
	}
	return reference(t.Name())
}
