package cli_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/messages"
)

// TestMistakesSayWhatHelps: each mistake of a newcomer gets the command that helps.
func TestMistakesSayWhatHelps(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	failure := messages.Errorf(messages.CodeBlockedByDialog, "a dialog is open on the page; answer it first").
		WithSent(messages.SentYes).With("pending_dialogs", []messages.Dialog{{ID: "d-1", Type: "confirm", Message: "Really\nbuy?", FrameID: "F"}})
	m.node.CDPFunc = func(r messages.CDPRequest) (messages.CDPResult, error) {
		if r.Method == "Page.reload" {
			return messages.CDPResult{}, messages.Errorf(messages.CodeTaskNotFound, "there is no task one; PUT /v1/tasks/one starts it").With("task_id", "one").WithHint("PUT /v1/tasks/one starts it")
		}
		return messages.CDPResult{}, failure
	}
	s := m.serve()
	for _, c := range []struct {
		exit int
		line string
		want string
	}{
		{1, "cdp one Runtime.evaluate {}", "blocked_by_dialog: a dialog is open on the page; answer it first\n" +
			"  d-1 confirm\n  │ Really\n  │ buy?\n  details: {\"sent\":true}\n  → answer: holdfast dialog accept one, or holdfast dialog dismiss one\n"},
		{1, "cdp one Page.reload", "task_not_found: there is no task one\n  → start it: holdfast task start one\n"},
		{2, "task start one --bogus", "invalid_argument: unknown flag --bogus (see holdfast task start --help)\n"},
		{2, "token --task a/b", "(see holdfast token --help)\n"},
		{2, "chaos", "invalid_argument: missing flags: --kill=LINKS (see holdfast chaos --help)\n"},
	} {
		_, errs := m.want(c.exit, strings.Fields(c.line)...)
		if strings.HasPrefix(c.want, "(") && strings.HasSuffix(errs, c.want) {
			continue
		}
		if errs != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.line, errs, c.want)
		}
	}
	t.Run("a node by its address alone", func(t *testing.T) {
		if out, errs := m.want(0, "task", "ls", "--node", strings.TrimPrefix(s.url, "http://"), "--token-file", s.tokenFile); out != "no tasks\n" {
			t.Errorf("%q, %q", out, errs)
		}
	})
	t.Run("times as seconds and as durations", func(t *testing.T) {
		var got messages.TaskSpec
		m.node.GetOrStartFunc = func(_ context.Context, id messages.TaskID, s messages.TaskSpec) (*messages.Snapshot, bool, error) {
			got = s
			return apitest.Active(id), true, nil
		}
		for _, given := range []string{"300", "300s", "5m"} {
			if m.want(0, "task", "start", "one", "--idle-timeout", given); got.IdleTimeoutS != 300 {
				t.Errorf("%s is %g s", given, got.IdleTimeoutS)
			}
		}
		if _, errs := m.want(2, "task", "start", "one", "--idle-timeout", "soon"); !strings.Contains(errs, "neither seconds nor a duration") {
			t.Error(errs)
		}
	})
	t.Run("an address that is taken", func(t *testing.T) {
		_, errs := m.want(1, "serve", "--listen", strings.TrimPrefix(s.url, "http://"))
		if !strings.HasPrefix(errs, "address_in_use: listen (--listen): a Holdfast node listens on 127.0.0.1:") || !strings.Contains(errs, "→ use that node, or name another address with --listen") {
			t.Error(errs)
		}
		other, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := other.Addr().String()
		defer other.Close()
		if _, errs := m.want(1, "serve", "--listen", addr); !strings.Contains(errs, "another process listens on "+addr) {
			t.Error(errs)
		}
	})
	t.Run("a token before any node has run", func(t *testing.T) {
		if _, errs := newMachine(t).want(1, "token", "--task", "one"); !strings.HasPrefix(errs, "no_token: there is no admin token in ") || !strings.Contains(errs, "→ holdfast serve makes one") {
			t.Error(errs)
		}
	})
	t.Run("a task that was not running", func(t *testing.T) {
		m.node.SnapshotFunc = func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
			return nil, messages.Errorf(messages.CodeTaskNotFound, "there is no task %s", id)
		}
		if out, _ := m.want(0, "task", "stop", "typo"); out != "typo was not running\n" {
			t.Errorf("%q", out)
		}
	})
}
