package house

import (
	"reflect"
	"strings"
	"testing"

	"holdfast/messages"
)

// What a task can be told and no reader is told of is not there.
func TestREADME_NamesEveryFieldOfTheSpec(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(read(t, "README.md"), "A task's spec, all of it optional:")
	table, _, ended := strings.Cut(table, "A task that stops")
	if !found || !ended {
		t.Fatal("the table of the spec has gone")
	}
	named := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, name := range strings.Split(cells[1], ",") {
				named[strings.Trim(name, " `")] = true
			}
		}
	}
	for field := range reflect.TypeFor[messages.TaskSpec]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "-" && !named[name] { // that is no caller's to say
			t.Errorf("%s is not in it", name)
		}
	}
}
