package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// oneSystem is what a file shows that is compiled for some systems alone.
var (
	oneSystemName  = regexp.MustCompile(`_(linux|darwin|windows)(_test)?\.go$`)
	buildCondition = regexp.MustCompile(`(?m)^//go:build .*(linux|darwin|windows|unix)`)
)

// TestOneSystemsCodeStandsInItsFile: what needs a system stands in a file that no other
// one compiles, and no code asks which system it is on. So a missing counterpart is an
// error of the compiler, not a surprise at run time.
func TestOneSystemsCodeStandsInItsFile(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if strings.HasPrefix(s.name, "internal/bench/") || strings.HasPrefix(s.name, "deploy/") { // modules of their own, for Linux
			continue
		}
		asks := strings.Contains(s.text, "runtime.GOOS")
		needs := slices.ContainsFunc(s.imports, func(i string) bool { return strings.HasPrefix(i, "golang.org/x/sys/") })
		isOfOne := oneSystemName.MatchString(path.Base(s.name)) || buildCondition.MatchString(s.text)
		if asks {
			t.Errorf("%s asks for runtime.GOOS: give each system a file", s.name)
		}
		if needs && !isOfOne {
			t.Errorf("%s imports golang.org/x/sys and is compiled for every system: give it a file of the system's name", s.name)
		}
	}
}
