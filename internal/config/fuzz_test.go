package config_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/config"
)

// FuzzFile: whatever a file holds, reading it does not panic, what is refused
// is said with line and column, on one line, and what is taken prints as
// something that reads the same.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"limits:\n  max_tasks: 7\n  idle_timeout: 90s\n", "listen: 127.0.0.1:1\nallow_hosts: [a, b]\n", `{"limits":{"max_tasks":7}}`,
		"browser:\n  args:\n  - --a\n  - |\n    b\n", "a: &a 1\nb: *a\n<<: {c: 1}\n", "--- !!map\n? listen\n: x\n...\n", "%YAML 1.2\n---\nlisten: x\n",
		"'listen': \"\\x41:1\"\n", "cdp_url_override: ws://h/x\n", "[[[[[[", "{a: {a: {a:", "- - - -", "? ? ?", "limits: !!int 5", "drain: {timeout: 1h0m0s, delay: .5s}",
		"limits: {cpu_low: 0.5, memory_low: 0.5, memory_high: 0}",
	} {
		f.Add([]byte(seed))
	}
	place := regexp.MustCompile(`^f:[1-9]\d*:[1-9]\d*$`)
	f.Fuzz(func(t *testing.T, content []byte) {
		e, err := config.LoadText("f", content)
		if err != nil {
			var all config.Problems
			if !errors.As(err, &all) {
				t.Fatalf("%T: %v", err, err)
			}
			for _, p := range all {
				if !place.MatchString(p.Where) && !strings.HasPrefix(p.Key, "drain.") && !strings.HasPrefix(p.Key, "limits.") || len(p.Error()) > 512 {
					t.Fatalf("%q", p.Error())
				}
			}
			return
		}
		if err := e.Limits.Bounds().Validate(); err != nil {
			t.Fatalf("no node would take it: %v", err)
		}
		if !e.CDPURLOverride.IsZero() {
			return // masked
		}
		out := e.YAML(nil)
		again, err := config.LoadText("f", []byte(out))
		if err != nil {
			t.Fatalf("what was printed is refused: %v\n%s", err, out)
		}
		if first, second := values(e), values(again); first != second {
			t.Fatalf("read again it is another:\n%s\n%s", first, second)
		}
	})
}

// values is a configuration without the origins.
func values(e *config.Effective) string {
	var b strings.Builder
	for line := range strings.Lines(e.YAML(nil)) {
		value, _, _ := strings.Cut(line, "  # ")
		b.WriteString(strings.TrimRight(value, " ") + "\n")
	}
	return b.String()
}

// FuzzValue: whatever a variable or a flag holds, reading it does not panic,
// what is refused is said without the value, and what is taken prints as
// something that reads the same.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{"", "1", "-1", "1h", "1e9s", "127.0.0.1:0", "[::1]:70000", "true", "warn", "0.5", "..", "ws://u:p@h/x", "a b", "\x00"} {
		for i := range config.Keys() {
			f.Add(i, seed)
		}
	}
	keys := config.Keys()
	f.Fuzz(func(t *testing.T, i int, value string) {
		if i < 0 || i >= len(keys) {
			return
		}
		k := keys[i]
		for _, s := range []config.Sources{{Flags: map[string][]string{k.Flag: {value}}}, {Environ: []string{k.Env + "=" + value}}} {
			e, err := config.Load(s)
			if err != nil {
				if where := "--" + k.Flag + ": "; !strings.HasPrefix(err.Error(), where) && !strings.HasPrefix(err.Error(), k.Env+": ") && !strings.Contains(err.Error(), k.Path) &&
					!strings.HasPrefix(err.Error(), "drain.delay ") && !strings.HasPrefix(err.Error(), "limits.") {
					t.Fatalf("%q says not where", err)
				}
				continue
			}
			if k.IsSecret {
				continue
			}
			again, err := config.LoadText("f", []byte(e.YAML(nil)))
			if err != nil {
				t.Fatalf("what was printed is refused: %v\n%s", err, e.YAML(nil))
			}
			if first, second := values(e), values(again); first != second {
				t.Fatalf("read again it is another:\n%s\n%s", first, second)
			}
		}
	})
}
