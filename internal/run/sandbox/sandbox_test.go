package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/run/bundle"
	"holdfast/internal/run/sandbox"
)

var engine = sync.OnceValues(func() (*sandbox.Engine, error) {
	return sandbox.NewEngine(context.Background(), bundle.QuickJS(), "globalThis.say = host; globalThis.count = 41; delete globalThis.host")
})

// open returns a sandbox and what its script says.
func open(t *testing.T) (*sandbox.Sandbox, *[]string) {
	t.Helper()
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	said := new([]string)
	s, err := e.Open(t.Context(), func(text string) { *said = append(*said, text) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, said
}

func TestAScriptTellsItsHost(t *testing.T) {
	t.Parallel()
	s, said := open(t)
	if err := s.Eval(t.Context(), "say('ü ' + ++count); Promise.resolve(7).then(n => say('job ' + n))", "a.js"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(*said, ","); got != "ü 42,job 7" {
		t.Errorf("said %s", got)
	}
}

func TestSandboxesShareNothing(t *testing.T) {
	t.Parallel()
	one, _ := open(t)
	two, said := open(t)
	if err := one.Eval(t.Context(), "count = 'changed'; Object.prototype.leak = 1", "one.js"); err != nil {
		t.Fatal(err)
	}
	if err := two.Eval(t.Context(), "say(count + String({}.leak))", "two.js"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(*said, ","); got != "41undefined" {
		t.Errorf("said %s", got)
	}
}

func TestAnExceptionIsTheScripts(t *testing.T) {
	t.Parallel()
	s, said := open(t)
	for code, want := range map[string]string{
		"throw new TypeError('no')": "TypeError: no",
		"undefined.x":               "TypeError: cannot read property 'x' of undefined",
		"syntax error":              "SyntaxError",
		"throw 7":                   "7",
	} {
		err := s.Eval(t.Context(), code, "a.js")
		var thrown *sandbox.ScriptError
		if !errors.As(err, &thrown) || !strings.HasPrefix(thrown.Text, want) {
			t.Errorf("%s: %v, want %s", code, err, want)
		}
	}
	if err := s.Eval(t.Context(), "say('alive')", "a.js"); err != nil || len(*said) != 1 {
		t.Errorf("behind an exception: %v, said %q", err, *said)
	}
}

// Nothing of the process is within reach: what QuickJS's own shell has is not built in.
func TestAScriptHasTheLanguageAlone(t *testing.T) {
	t.Parallel()
	s, said := open(t)
	for _, name := range []string{"std", "os", "process", "require", "fetch", "XMLHttpRequest", "WebSocket", "Worker", "SharedArrayBuffer", "WebAssembly", "host", "scriptArgs", "print", "load"} {
		*said = nil
		if err := s.Eval(t.Context(), "say(typeof "+name+")", "a.js"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(*said, ""); got != "undefined" && name != "SharedArrayBuffer" {
			t.Errorf("%s is a %s", name, got)
		}
	}
	err := s.Eval(t.Context(), "import('std').then(() => say('loaded'), e => say('refused'))", "a.js")
	if got := strings.Join(*said, ""); err != nil || !strings.HasSuffix(got, "refused") {
		t.Errorf("import: %v, %s", err, got)
	}
}

func TestTheEndOfTheContextEndsAScript(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"a loop":               "while (true) {}",
		"a loop of jobs":       "const again = () => Promise.resolve().then(again); again()",
		"a regular expression": "/(a+)+$/.test('" + strings.Repeat("a", 60) + "b')",
		"a built-in loop":      "Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)",
		"a caught end":         "for (;;) { try { for (;;) {} } catch {} finally { continue } }",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := s.Eval(ctx, code, "a.js"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"a text":           "'a'.repeat(2 ** 29)",
		"an array":         "const all = []; for (;;) all.push(new Array(100000).fill(0))",
		"a buffer":         "new Uint8Array(2 ** 30)",
		"an endless stack": "const f = () => f() + 1; f()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Eval(ctx, code, "a.js"); err == nil || ctx.Err() != nil {
				t.Errorf("ended with %v", err)
			}
			if m := s.Memory(); m > sandbox.MaxMemory {
				t.Errorf("it has %d bytes", m)
			}
		})
	}
}
