package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"holdfast/internal/api/apitest"
	"holdfast/internal/cli"
	"holdfast/messages"
)

// TestTablesFitTheTerminal: columns give way on a narrow screen, and nothing is cut
// in a pipe.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	long := rich("checkout-7")
	long.Pages[0].URL = "http://a.test/" + strings.Repeat("x", 200)
	long.PendingDialogs[0].Message = strings.Repeat("question ", 30) + "END"
	long.PendingDialogs[0].ExpiresAt = messages.SecondsOf(time.Now().Add(298*time.Second + 900*time.Millisecond))
	m.node = showing(long, apitest.Active("two"))
	m.serve()
	on := func(term cli.Terminal, args ...string) string {
		t.Helper()
		var out, errs strings.Builder
		p := m.program(&out, &errs)
		p.Terminal = term
		if code := p.Run(t.Context(), args); code != 0 {
			t.Fatal(code, errs.String())
		}
		return out.String()
	}
	for _, width := range []int{60, 80, 118} {
		for _, command := range []string{"task ls", "dialog ls", "tree"} {
			out := on(cli.Terminal{Width: width}, strings.Fields(command)...)
			for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s on %d columns has a line of %d: %s", command, width, n, line)
				}
			}
		}
	}
	if out := on(cli.Terminal{Width: 80}, "task", "ls"); strings.Contains(out, "BROWSER") || !strings.Contains(out, "http://a.test/x") || !strings.Contains(out, "…") {
		t.Errorf("on 80 columns:\n%s", out)
	}
	for _, command := range []string{"task ls", "dialog ls", "snapshot checkout-7", "dialog show checkout-7"} {
		if out := on(cli.Terminal{}, strings.Fields(command)...); strings.Contains(out, "…\n") && !strings.Contains(out, "--full") || strings.Contains(out, "\x1b") || !strings.Contains(out, long.PendingDialogs[0].Message) && command != "task ls" {
			t.Errorf("%s in a pipe is cut or colored:\n%s", command, out)
		}
	}
	for _, command := range []string{"snapshot checkout-7", "dialog show checkout-7", "dialog show checkout-7 --dialog d-1"} {
		if out := on(cli.Terminal{Width: 60}, strings.Fields(command)...); !strings.Contains(out, "question END") || !strings.Contains(out, "dismissed in 4 min ") {
			t.Errorf("%s does not show the whole question:\n%s", command, out)
		}
	}
	if out := on(cli.Terminal{Width: 200, HasColor: true}, "task", "ls"); !strings.Contains(out, "\x1b[32mactive\x1b[0m") {
		t.Errorf("without color: %q", out)
	}
	m.env["NO_COLOR"] = "1"
	if out := on(cli.Terminal{Width: 200, HasColor: true}, "task", "ls"); strings.Contains(out, "\x1b") {
		t.Errorf("NO_COLOR is set: %q", out)
	}
}

// TestWatchFoldsRuns: a terminal shows a run of like events as one line.
func TestWatchFoldsRuns(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	frames := messages.Event{Type: messages.EventFrames, FrameTree: &messages.FrameTree{Top: messages.FrameTop{URL: "http://a.test/"}}}
	m.node.WatchFunc = func(context.Context, uint64, bool) (messages.EventStream, error) {
		return &apitest.Stream{Batches: [][]messages.Event{{frames, frames, frames, {Type: messages.EventTaskState, State: messages.StateActive}}}}, nil
	}
	m.serve()
	var out, errs strings.Builder
	p := m.program(&out, &errs)
	p.Terminal = cli.Terminal{Width: 100, HasColor: true}
	if code := p.Run(t.Context(), []string{"watch", "one"}); code != 0 {
		t.Fatal(code, errs.String())
	}
	if got := out.String(); strings.Count(got, "\x1b[1A\x1b[2K") != 2 || !strings.Contains(got, "×3\n") || !strings.HasSuffix(got, "task_state      active\n") {
		t.Errorf("%q", got)
	}
}
