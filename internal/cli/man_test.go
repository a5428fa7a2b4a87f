package cli_test

import (
	"slices"
	"strings"
	"testing"
)

// TestManual: the page names every command of --help, and each of its lines that begins
// as a request of roff is one that the page is made of.
func TestManual(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	page, _ := m.want(0, "man")
	known := []string{".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", ".nf", ".fi"}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) && !slices.Contains(known, request) {
			t.Errorf("a line of text is taken for a request: %q", line)
		}
	}
	help, _ := m.want(0, "--help")
	_, commands, _ := strings.Cut(help, "Commands:\n")
	count := 0
	for line := range strings.Lines(commands) {
		command, _, isCommand := strings.Cut(strings.TrimPrefix(line, "  "), "  ")
		if !isCommand || command == "" || strings.HasPrefix(line, "    ") {
			continue
		}
		count++
		command = strings.ReplaceAll(command, "-", `\-`)
		if !strings.Contains(page, "\n.SS holdfast "+command+"\n") && !strings.Contains(page, "\n.SS holdfast "+command+" ") {
			t.Errorf("%q is not in the page", command)
		}
	}
	if count < 25 {
		t.Errorf("%d commands in %s", count, help)
	}
	if strings.Count(page, `\-\-max\-tasks=`) != 1 {
		t.Error("the settings of serve are not there once")
	}
}
