package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	case errors.As(err, &wrongType):
		return fmt.Sprintf("%q must be a %s", wrongType.Field, wrongType.Type)
	case errors.As(err, &syntax):
		return fmt.Sprintf("malformed JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends too early"
	default:
		// What is left is encoding/json's `unknown field "x"`, whose name is
		// the caller's own.
		return err.Error()
	}
}

// DecodeStrict reads exactly one JSON value from r into v. Unknown fields and
// trailing data are errors; the error is an [*Error] with
// [CodeInvalidArgument], or passes through where the reader's own error was
// an [*Error] (a body over its limit).
func DecodeStrict(r io.Reader, v any) error {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		var own *Error
		if errors.As(err, &own) {
			return own
		}
		return Errorf(CodeInvalidArgument, "%s", jsonProblem(err))
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
