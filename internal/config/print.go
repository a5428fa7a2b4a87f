package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// mask stands for a credential.
const mask = "***"

// Setting is one line of an effective configuration.
type Setting struct {
	Key string `json:"key"`
	// Value is a text, a number, a boolean, or a list of texts; durations
	// are texts as the file has them; credentials are masked.
	Value any `json:"value"`
	Origin
	// Reload says that SIGHUP applies a change.
	Reload bool `json:"reload"`
}

// Settings lists every setting with its value and where that came from.
func (e *Effective) Settings() []Setting {
	out := make([]Setting, len(table.keys))
	for i := range table.keys {
		k := &table.keys[i]
		v := e.value(k)
		s := Setting{Key: k.Path, Value: v, Origin: e.origins[i], Reload: k.CanReload}
		switch {
		case k.IsList():
			s.Value = append([]string{}, v.([]string)...) // [] rather than null
		case k.kind.shapes&(truth|fraction) == 0 && k.kind.shapes != whole:
			s.Value = k.show(v)
		}
		out[i] = s
	}
	return out
}

// show writes a value as the file would have it, without quotes.
func (k *Key) show(v any) string {
	switch {
	case k.IsSecret:
		if reflect.ValueOf(v).IsZero() {
			return ""
		}
		return mask
	case k.IsList():
		return k.quoted(v)
	}
	return k.kind.format(v)
}

// YAML writes the configuration as a file that could be read again, but for
// what is masked, with the origin of every value beside it.
// derived are the values, by key, that the machine gives where a setting is empty
// or 0; they stand in the comment.
func (e *Effective) YAML(derived map[string]string) string {
	type line struct{ text, origin string }
	var (
		lines []line
		group string
		width int
	)
	for i := range table.keys {
		k := &table.keys[i]
		in, name, nested := strings.Cut(k.Path, ".")
		if !nested {
			in, name = "", k.Path
		}
		if in != group {
			group = in
			lines = append(lines, line{text: in + ":"})
		}
		text := name + ": " + k.quoted(e.value(k))
		if nested {
			text = "  " + text
		}
		if len(text) <= maxAlign {
			width = max(width, len(text))
		}
		origin := e.origins[i].String()
		if d := derived[k.Path]; d != "" {
			origin += ", in effect " + clean(d)
		}
		lines = append(lines, line{text, origin})
	}
	var b strings.Builder
	for _, l := range lines {
		if l.origin == "" {
			fmt.Fprintln(&b, l.text)
			continue
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", width, l.text, l.origin)
	}
	return b.String()
}

// maxAlign is how long a line may be that the comments stand behind.
const maxAlign = 60

// String says where a value came from.
func (o Origin) String() string {
	if o.Where == "" {
		return string(o.Kind)
	}
	return o.Where
}

// quoted writes a value as YAML.
func (k *Key) quoted(v any) string {
	switch {
	case k.IsList():
		list := v.([]string)
		out := make([]string, len(list))
		for i := range list {
			out[i] = quote(list[i])
		}
		return "[" + strings.Join(out, ", ") + "]"
	case k.kind.shapes == text:
		return quoteUnlessPlain(k.show(v))
	}
	return k.show(v)
}

// clean keeps a value on its line.
func clean(s string) string { return strings.Trim(strconv.Quote(s), `"`) }

// quote writes a text in JSON's quotes, which are YAML's too.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	return string(b)
}

// plain are the texts that are read as such without quotes: names, paths, and
// addresses with a port.
var plain = regexp.MustCompile(`^([a-zA-Z/][a-zA-Z0-9./_-]*|[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*:[0-9]+)$`)

// reserved are names that some reader of YAML takes for something else.
var reserved = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n)$`)

func quoteUnlessPlain(s string) string {
	if !plain.MatchString(s) || reserved.MatchString(s) {
		return quote(s)
	}
	return s
}
