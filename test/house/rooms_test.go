package house

import (
	"path"
	"strings"
	"testing"
)

// maxRoom bounds the lines of a package under actors, tests aside: what is larger has parts that
// are packages of their own.
const maxRoom = 3000

func TestRoomsOfActorsStaySmall(t *testing.T) {
	t.Parallel()
	rooms := map[string]int{}
	for _, s := range sources(t) {
		if dir := path.Dir(s.name); strings.HasPrefix(dir, "actors/") {
			rooms[dir] += strings.Count(s.text, "\n")
		}
	}
	if len(rooms) < 10 {
		t.Errorf("only %d packages are read", len(rooms))
	}
	for dir, lines := range rooms {
		if lines > maxRoom {
			t.Errorf("%s has %d lines, more than %d: cut it where a part has a name of its own", dir, lines, maxRoom)
		}
	}
}
