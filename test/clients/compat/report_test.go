package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a report as Playwright writes it, cut to what is read.
const sample = `{"suites": [{"file": "page/page-dialog.spec.ts", "specs": [
	{"title": "passes", "tests": [{"expectedStatus": "passed", "status": "expected", "results": [{"status": "passed"}]}]},
	{"title": "fails", "tests": [{"expectedStatus": "passed", "status": "unexpected", "results": [{"status": "failed", "error": {"message": "why\nwhere"}}]}]},
	{"title": "skipped", "tests": [{"expectedStatus": "skipped", "status": "skipped", "results": []}]}],
	"suites": [{"title": "inside", "specs": [
	{"title": "is to fail", "tests": [{"expectedStatus": "failed", "status": "expected", "results": [{"status": "failed"}]}]}]}]}]}`

func read(t *testing.T, text string) (outcomes, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readReport(file)
}

func TestReportIsReadByHowTestsEnd(t *testing.T) {
	t.Parallel()
	all, err := read(t, sample)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]outcome{
		"page-dialog › passes": {passed, ""}, "page-dialog › fails": {failed, "why"},
		"page-dialog › skipped": {skipped, ""}, "page-dialog › inside › is to fail": {skipped, ""},
	} {
		if all[name] != want {
			t.Errorf("%s: %v, want %v", name, all[name], want)
		}
	}
	if got, want := all.String(), "1 passed, 1 failed, 2 skipped or expected to fail"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReportWithoutTestsIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := read(t, `{"suites": [], "errors": [{"message": "cannot find a module"}]}`); err == nil || !strings.Contains(err.Error(), "cannot find a module") {
		t.Errorf("error %v", err)
	}
}

func TestDifferencesAreWhatIsLost(t *testing.T) {
	t.Parallel()
	direct := outcomes{"a": {passed, ""}, "b": {passed, ""}, "c": {failed, "x"}, "d": {passed, ""}}
	through := outcomes{"a": {passed, ""}, "b": {failed, "why"}, "c": {passed, ""}}
	var out strings.Builder
	lost := printDifferences(&out, direct, through)
	want := "  b: passed directly, failed through: why\n  c: failed directly, passed through: \n  d: passed directly, did not run through: \n"
	if lost != 2 || out.String() != want {
		t.Errorf("%d lost\n%s", lost, out.String())
	}
}
