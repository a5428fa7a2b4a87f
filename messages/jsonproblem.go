package messages

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"holdfast/internal/redact"
	"holdfast/internal/scan"
)

// jsonProblem says what is wrong with a JSON text without repeating any of
// its values, which may be credentials.
func jsonProblem(err error) string {
	var (
		own       *Error
		syntax    *json.SyntaxError
		wrongType *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &own):
		return own.Message
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return "the JSON must be " + kindOf(wrongType.Type)
	case errors.As(err, &wrongType):
		return fmt.Sprintf("%q must be %s", wrongType.Field, kindOf(wrongType.Type))
	case errors.As(err, &syntax):
		return fmt.Sprintf("malformed JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends too early"
	default:
		return unknownField(err.Error())
	}
}

// textual is what is written as a string, whatever it is made of.
var textual = reflect.TypeFor[encoding.TextUnmarshaler]()

// kindOf is what JSON calls a value of type t.
func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(textual) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	default:
		return "an object"
	}
}

// fieldName is what a field's name looks like: few digits, no signs. Anything else in
// its place may be a credential that was put there by mistake.
var fieldName = regexp.MustCompile(`^(?:[A-Za-z_]+[0-9]?){1,3}$`)

func isFieldName(key string) bool {
	return len(key) <= 40 && fieldName.MatchString(key) && redact.Text(key) == key
}

// unknownField is what is left of encoding/json's errors: `unknown field "x"`.
func unknownField(said string) string {
	_, name, ok := strings.Cut(said, `unknown field "`)
	if !ok {
		return "the JSON is not what is expected here"
	}
	if name = strings.TrimSuffix(name, `"`); !isFieldName(name) {
		return "unknown field; its name is not repeated, since it does not look like one"
	}
	return `unknown field "` + name + `"`
}

// DecodeStrict reads exactly one JSON value from r into v. Unknown fields, keys in
// another letter case, keys that are there twice and trailing data are errors; the
// error is an [*Error] with [CodeInvalidArgument], or passes through where the reader's
// own error was an [*Error] (a body over its limit).
func DecodeStrict(r io.Reader, v any) error {
	dec := json.NewDecoder(r)
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return problemOf(err)
	}
	if err := unmarshalStrict(raw, v); err != nil {
		return problemOf(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		var own *Error
		if errors.As(err, &own) {
			return own
		}
		return Errorf(CodeInvalidArgument, "more than one JSON value")
	}
	return nil
}

func problemOf(err error) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return Errorf(CodeInvalidArgument, "%s", jsonProblem(err))
}

// unmarshalStrict decodes one JSON value into v, by exact keys.
func unmarshalStrict(raw []byte, v any) error {
	if err := checkKeys(raw, reflect.TypeOf(v)); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// checkKeys refuses an object of a struct or a map with a key that is there twice, or
// that is spelled in another letter case than the struct's: encoding/json takes both,
// and the last of two wins. What is no object is left to it.
func checkKeys(raw []byte, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map || reflect.PointerTo(t).Implements(textual) {
		return nil
	}
	if i := scan.SkipSpace(raw, 0); i >= len(raw) || raw[i] != '{' {
		return nil
	}
	seen := map[string]bool{}
	for members := (scan.Members{JSON: raw}); members.Next(); {
		key := string(members.Key)
		if seen[key] {
			return Errorf(CodeInvalidArgument, "%s is there twice", quoted(key))
		}
		seen[key] = true
		field, name := fieldOf(t, key)
		switch {
		case field == nil: // encoding/json refuses it, or it is a map's
		case name != key:
			return Errorf(CodeInvalidArgument, "%s is spelled %s", strconv.Quote(key), name) // as long as the name is
		default:
			if err := checkKeys(members.Value, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldOf is the field of a struct that encoding/json would take key for, and its name.
func fieldOf(t reflect.Type, key string) (field reflect.Type, name string) {
	if t.Kind() != reflect.Struct {
		return nil, ""
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" && strings.EqualFold(name, key) {
			return f.Type, name
		}
	}
	return nil, ""
}

// quoted is a caller's key as an error repeats it, where it looks like a name.
func quoted(key string) string {
	if !isFieldName(key) {
		return "a key"
	}
	return strconv.Quote(key)
}
