package config

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong with a configuration. It holds no value.
type Problem struct {
	Where string // FILE:LINE:COLUMN, a variable, a flag
	Key   string // the path of the key, where it is about one
	What  string
}

// Error implements error.
func (p Problem) Error() string {
	s := p.What
	if p.Key != "" {
		s = p.Key + " " + s
	}
	if p.Where != "" {
		s = p.Where + ": " + s
	}
	return s
}

// Problems are all that was found, in the order of the sources.
type Problems []Problem

// Error implements error, on one line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "; ")
}

// inOrder sorts the problems by their lines; those of no file come last.
func (p Problems) inOrder() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		la, ca := a.position()
		lb, cb := b.position()
		return cmp.Or(cmp.Compare(la, lb), cmp.Compare(ca, cb))
	})
	return p
}

// position is the line and column of a problem in a file.
func (p Problem) position() (line, col int) {
	parts := strings.Split(p.Where, ":")
	if n := len(parts); n >= 3 {
		line, _ = strconv.Atoi(parts[n-2])
		col, _ = strconv.Atoi(parts[n-1])
	}
	if line == 0 {
		line = math.MaxInt
	}
	return line, col
}

// maxProblems bounds what is said of one file.
const maxProblems = 20

func asError(p []Problem) error {
	if len(p) == 0 {
		return nil
	}
	return Problems(p)
}

func groupOf(prefix string) string {
	if prefix == "" {
		return "the file"
	}
	return strings.TrimSuffix(prefix, ".")
}

// maxName bounds a key in an error, in bytes: it is the writer's own text.
const maxName = 64

// unknownKey says that there is no such key, and which may be meant.
func unknownKey(path string) string {
	what := "there is no key " + path
	if len(path) > maxName {
		what = "there is no key " + strings.ToValidUTF8(path[:maxName], "") + "…"
	}
	if meant := closest(path); meant != "" {
		what += ": is it " + meant + "?"
	}
	return what
}

// closest is the key that may be meant by one that is not there: the same name
// in another group, a flag's name, or one letter off.
func closest(path string) string {
	last := path[strings.LastIndexByte(path, '.')+1:]
	plain := strings.ReplaceAll(last, "-", "_")
	for _, k := range table.keys {
		name := k.Path[strings.LastIndexByte(k.Path, '.')+1:]
		if name == plain || k.Flag == last || strings.ReplaceAll(k.Flag, "-", "_") == plain {
			return k.Path
		}
	}
	for _, k := range table.keys {
		name := k.Path[strings.LastIndexByte(k.Path, '.')+1:]
		if isOneOff(name, plain) {
			return k.Path
		}
	}
	for _, g := range table.groups {
		if isNear(g.Path, plain) {
			return g.Path
		}
	}
	return ""
}

// isNear says that one name begins with the other, or that one letter is off: a
// group is often written in short.
func isNear(group, name string) bool {
	return len(name) > 2 && (strings.HasPrefix(group, name) || strings.HasPrefix(name, group)) || isOneOff(group, name)
}

// isOneOff says whether one letter added, left out or changed turns a into b.
func isOneOff(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}
