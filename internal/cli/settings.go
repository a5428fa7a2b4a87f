package cli

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"holdfast/internal/config"
)

// settings are the flags of every setting of a node, made from its table.
type settings struct {
	Config string       `placeholder:"FILE" type:"path" help:"YAML file of settings. Default: HOLDFAST_CONFIG. A variable wins over the file, a flag over both: docs/configuration.md."`
	Flags  kong.Plugins `embed:""`
}

// tokenFlag is the flag of a setting that commands which talk to a node have as well.
const tokenFlag = "token-file"

func newSettings() settings {
	var fields []reflect.StructField
	for _, k := range config.Keys() {
		of := reflect.TypeFor[*string]() // nil: not given
		switch {
		case k.IsBool():
			of = reflect.TypeFor[*bool]()
		case k.IsList():
			of = reflect.TypeFor[[]string]()
		}
		tag := fmt.Sprintf("name:%q sep:\"none\" group:%q help:%s", k.Flag, groupTitle(k), strconv.Quote(flagHelp(k)))
		if k.Placeholder() != "" {
			tag += fmt.Sprintf(" placeholder:%q", k.Placeholder())
		}
		if k.IsBool() {
			tag += ` negatable:""`
		}
		fields = append(fields, reflect.StructField{
			Name: "Flag" + strconv.Itoa(len(fields)), Type: of, Tag: reflect.StructTag(tag),
		})
	}
	return settings{Flags: kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

func flagHelp(k config.Key) string {
	help := k.Help
	switch {
	case k.IsList():
		help += " May be repeated."
	case k.Default != "":
		help += " Default: " + k.Default + "."
	}
	return help + " (" + k.Env + ")"
}

// groupTitle is the heading under which --help lists a setting: its group in the
// file.
func groupTitle(k config.Key) string {
	group, _, isNested := strings.Cut(k.Path, ".")
	if !isNested {
		return "Where and how the node answers"
	}
	return "Settings of " + group
}

// given are the flags that stand on the command line.
func (s *settings) given(r *run) map[string][]string {
	out := map[string][]string{}
	v, at := reflect.ValueOf(s.Flags[0]).Elem(), 0
	for _, k := range config.Keys() {
		switch f := v.Field(at).Interface().(type) {
		case *string:
			if f != nil {
				out[k.Flag] = []string{*f}
			}
		case *bool:
			if f != nil {
				out[k.Flag] = []string{strconv.FormatBool(*f)}
			}
		case []string:
			out[k.Flag] = f
		}
		at++
	}
	if r.TokenFile != "" {
		out[tokenFlag] = []string{r.TokenFile} // from the working directory on
	}
	return out
}

// sources are where this command's configuration is read from.
func (s *settings) sources(r *run) config.Sources {
	src := config.Sources{File: firstOf(s.Config, r.Getenv("HOLDFAST_CONFIG")), Flags: s.given(r)}
	if r.Environ != nil {
		src.Environ = r.Environ()
	}
	return src
}

// load reads the configuration; a mistake in it is one of usage.
func (s *settings) load(r *run) (*config.Effective, error) {
	e, err := config.Load(s.sources(r))
	if err != nil {
		return nil, &usageError{err: err}
	}
	if e.StateDir == "" {
		if e.StateDir, err = r.stateDir(); err != nil {
			return nil, err
		}
	}
	if !strings.HasPrefix(e.StateDir, "/") {
		return nil, usagef("the state directory must be an absolute path")
	}
	return e, nil
}
