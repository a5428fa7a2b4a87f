package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Key is one setting, as the table has it.
type Key struct {
	Path      string // in the file, groups and all: limits.max_tasks
	Env       string
	Flag      string // without the dashes
	Default   string // as written in the file; "" is empty
	Empty     string // what empty means
	Help      string
	Enum      []string
	CanReload bool // SIGHUP applies it
	IsSecret  bool

	kind     *kind
	min, max any
	def      any
	index    []int // of the field in Config
}

// Group is a group of settings in the file.
type Group struct{ Path, Help string }

// envPrefix begins the name of every variable of ours.
const envPrefix = "HOLDFAST_"

// Keys lists every setting in the order of the file.
func Keys() []Key { return slices.Clone(table.keys) }

// table is built from the tags of Config, once; what is wrong with them panics
// at the start of every test.
var table = build()

type keyTable struct {
	keys   []Key
	groups []Group
	paths  map[string]int // into keys
}

func build() keyTable {
	t := keyTable{paths: map[string]int{}}
	t.add(reflect.TypeFor[Config](), "", nil)
	for i, k := range t.keys {
		t.paths[k.Path] = i
	}
	return t
}

func (t *keyTable) add(from reflect.Type, prefix string, index []int) {
	for i := range from.NumField() {
		f := from.Field(i)
		at := append(slices.Clone(index), i)
		path := prefix + f.Tag.Get("key")
		if kinds[f.Type] == nil {
			t.groups = append(t.groups, Group{Path: path, Help: f.Tag.Get("help")})
			t.add(f.Type, path+".", at)
			continue
		}
		t.keys = append(t.keys, newKey(f, path, at))
	}
}

func newKey(f reflect.StructField, path string, index []int) Key {
	k := Key{
		Path: path, Flag: f.Tag.Get("flag"), Default: f.Tag.Get("default"), Empty: f.Tag.Get("empty"), Help: f.Tag.Get("help"),
		CanReload: f.Tag.Get("reload") == "yes", IsSecret: f.Tag.Get("secret") == "yes",
		kind: kinds[f.Type], index: index,
	}
	k.Env = envPrefix + strings.ToUpper(strings.ReplaceAll(k.Flag, "-", "_"))
	if enum := f.Tag.Get("enum"); enum != "" {
		k.Enum = strings.Split(enum, ",")
	}
	k.def = reflect.Zero(f.Type).Interface()
	for tag, field := range map[string]*any{"default": &k.def, "min": &k.min, "max": &k.max} {
		if s, ok := f.Tag.Lookup(tag); ok {
			v, err := k.kind.parse(s)
			if err != nil {
				panic(fmt.Sprintf("config: the tag %s of %s: %v", tag, path, err))
			}
			*field = v
		}
	}
	return k
}

// IsList says whether the setting has any number of values.
func (k Key) IsList() bool { return k.kind.shapes == list }

// IsBool says whether the setting is true or false.
func (k Key) IsBool() bool { return k.kind.shapes == truth }

// Placeholder stands for the value in a command line's help.
func (k Key) Placeholder() string { return k.kind.placeholder }

// KindName says what a value is, for people.
func (k Key) KindName() string {
	if k.Enum != nil {
		return strings.Join(k.Enum, " or ")
	}
	return k.kind.name
}

// parse reads the texts a value is written as; what is wrong is said without
// the value.
func (k *Key) parse(values []string) (any, string) {
	if slices.ContainsFunc(values, func(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }) {
		return nil, "must be UTF-8 and without zero bytes"
	}
	if k.IsList() {
		if slices.Contains(values, "") {
			return nil, "holds an empty text"
		}
		return append([]string(nil), values...), "" // an empty list is as none
	}
	s := values[len(values)-1]
	v, err := k.kind.parse(s)
	if err != nil {
		return nil, "must " + k.kind.must
	}
	if k.Enum != nil && !slices.Contains(k.Enum, s) {
		return nil, "must be " + strings.Join(k.Enum, " or ")
	}
	return v, k.outside(v)
}

// isGroup says whether path is that of a group.
func isGroup(path string) bool {
	return slices.ContainsFunc(table.groups, func(g Group) bool { return g.Path == path })
}
