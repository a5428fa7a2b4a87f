package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"holdfast/messages"
)

// configFlag is the file with serve's flags: a JSON object whose keys are
// flag names. What it names is refused when serve has no such flag, since a
// misspelt limit that silently does not hold is worse than none.
type configFlag string

const maxConfig = 1 << 20

// BeforeResolve implements kong's hook: the file is read before flags that
// were not given are looked up.
func (configFlag) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(configFlag))
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	serve := ctx.Selected()
	values, err := readConfig(f, serve)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if !slices.Contains(serve.Flags, flag) { // a global one of the same name
			return nil, nil
		}
		return values[flag.Name], nil
	}))
	return nil
}

// readConfig reads the file strictly. Errors hold names, never values, which
// may be credentials.
func readConfig(in io.Reader, serve *kong.Node) (map[string]any, error) {
	b, err := io.ReadAll(io.LimitReader(in, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxConfig {
		return nil, errors.New("the file is too large")
	}
	var raw map[string]json.RawMessage
	if err := messages.DecodeStrict(bytes.NewReader(b), &raw); err != nil {
		return nil, err
	}
	values := make(map[string]any, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		at := slices.IndexFunc(serve.Flags, func(f *kong.Flag) bool { return f.Name == name && name != "config" })
		if at < 0 {
			return nil, fmt.Errorf("serve has no flag %q", name)
		}
		if values[name], err = configValue(raw[name], serve.Flags[at].IsSlice()); err != nil {
			return nil, fmt.Errorf("%q %w", name, err)
		}
	}
	return values, nil
}

// configValue takes a string, a number or a boolean, or a list of strings for
// a flag that may be repeated.
func configValue(raw json.RawMessage, list bool) (any, error) {
	if list {
		var l []string
		if json.Unmarshal(raw, &l) != nil {
			return nil, errors.New("must be a list of strings")
		}
		out := make([]any, len(l))
		for i := range l {
			out[i] = l[i]
		}
		return out, nil
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case json.Number:
		return v.String(), nil
	case string, bool:
		return v, nil
	}
	return nil, errors.New("must be a string, a number or a boolean")
}
