package demo_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"holdfast/internal/cli"
	"holdfast/internal/demo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheStoryIsTold(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := demo.Run(context.Background(), demo.Options{Out: &out, DrawTree: cli.PrintTree}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		"blocked_by_dialog", `"Your PIN, please?"`, "the primary is up, the anchor is up", "socket closed; d-1 still waits",
		`accepted with "4242" through the anchor; d-1 was closed by agent`, "active after 1 reconnect", "payment got 4242", `"Payment"`,
		"[own process]", "Done in",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, out.String())
		}
	}
}

func TestAFailureNamesItsReason(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/nonexistent/chromium": "cannot be run",
		"/bin/false":            "does not run",
	} {
		err := demo.Run(context.Background(), demo.Options{Out: io.Discard, ChromePath: path, DrawTree: cli.PrintTree})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

func TestAStepThatCannotBeDoneIsNamed(t *testing.T) {
	t.Parallel()
	err := demo.Run(context.Background(), demo.Options{
		Out: io.Discard, ChromeArgs: []string{"--block-new-web-contents", "--host-resolver-rules=MAP localhost ~NOTFOUND"},
		DrawTree: cli.PrintTree,
	})
	if err == nil || !strings.Contains(err.Error(), "could not open the page") {
		t.Fatalf("got %v", err)
	}
}
