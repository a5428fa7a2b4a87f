package effect

import (
	"fmt"
	"reflect"
	"strings"
)

// State is what a machine prints of itself: one line for each fact. It goes to
// transcripts, and to the log when an actor panics, so it holds no text of a page, no
// address and no secret.
type State struct {
	lines  strings.Builder
	prefix string
}

// Fact adds a line. A fact that has its zero value is left out; one that is true is its
// name alone.
func (s *State) Fact(name string, value any) {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0:
	case v.Kind() == reflect.Bool:
		fmt.Fprintf(&s.lines, "%s%s\n", s.prefix, name)
	default:
		fmt.Fprintf(&s.lines, "%s%s: %v\n", s.prefix, name, value)
	}
}

// Within puts a name before the facts that add has.
func (s *State) Within(name string, add func(*State)) {
	before := s.prefix
	s.prefix += name + " "
	add(s)
	s.prefix = before
}

// String returns the lines.
func (s *State) String() string { return s.lines.String() }
