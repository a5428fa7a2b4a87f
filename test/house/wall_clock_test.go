package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wall are the methods that lose what a time says on the monotonic clock, by dropping it or
// by giving a number of the wall clock in its place.
var wall = []string{
	"Round", "Truncate", "UTC", "Local", "In", "AddDate", "Unix", "UnixNano", "UnixMilli", "UnixMicro",
	"Second", "Minute", "Hour", "Day", "YearDay", "Month", "Year", "Date", "Clock", "Weekday", "Nanosecond", "ModTime",
}

// wallTimes are where that is done, each with its reason: nothing there decides when
// something is to happen to a task, a link or a call.
var wallTimes = map[string]string{
	"messages/snapshot.go":                     "what a time is shown as",
	"internal/guard/system.go":                 "when the system was born, for ids and for show",
	"internal/guard/tree.go":                   "when an actor started, for show",
	"internal/gate/session.go":                 "a token ends by the wall clock, as its bearer reads it",
	"internal/token/admin.go":                  "a token ends by the wall clock, as its bearer reads it",
	"internal/token/scope.go":                  "a token ends by the wall clock, as its bearer reads it",
	"transport/pipewriter.go":                  "a deadline that has passed by any clock",
	"actors/session/page/navigation.go":        "a length of time, for an error's text",
	"actors/session/sessiontest/transcript.go": "when the stories of tests begin",
	"actors/supervisor/children.go":            "a length of time, for the log",
	"internal/cluster/clock/clock.go":          "compared with the clock since boot alone, to notice a pause; a step ends a lease, and prolongs none",
	"internal/browser/lease.go":                "when a node that may be dead has written it; the wait for it is bounded by the monotonic clock",
	"internal/browser/reap.go":                 "what another process wrote carries the wall clock alone; a lock proves that its owner is dead",
}

// TestNoDecisionReadsTheWallClock: every pause, deadline and age of a running task is a
// difference of two times that carry the monotonic clock. So a step of the wall clock can
// change nothing, and the simulation, which has one clock, need not step it.
func TestNoDecisionReadsTheWallClock(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range sources(t) {
		if !decides(s.name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, s.name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(wall, f.Sel.Name) || isPackage(f.X, "math") {
				return true
			}
			if wallTimes[s.name] == "" {
				t.Errorf("%s calls %s: a step of the wall clock may change what it decides", s.name, f.Sel.Name)
			}
			used[s.name] = true
			return true
		})
	}
	for name := range wallTimes {
		if !used[name] {
			t.Errorf("%s reads no wall clock: take it off the list", name)
		}
	}
}

// decides says whether a file is of what runs tasks, links and calls.
func decides(name string) bool {
	for _, dir := range []string{"actors/", "internal/api/", "internal/browser/", "internal/cluster/", "internal/gate/", "internal/guard/", "internal/node/", "internal/restart/", "internal/token/", "messages/", "transport/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

func isPackage(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
