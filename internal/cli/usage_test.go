package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/messages"
)

// TestBadUsage: a command line that makes no sense ends with 2, says why on
// standard error in one line, and asks no node anything.
func TestBadUsage(t *testing.T) {
	t.Parallel()
	asked := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a node was asked") }))
	t.Cleanup(asked.Close)
	long := strings.Repeat("x", 129)
	for _, line := range []string{
		"", "bogus", "--bogus", "task", "task bogus", "dialog", "--json", "--node",
		"task start", "task start --new one", "task start one two", "task start a/b", "task start " + long, "task start ..", "task start é",
		"task start one --cdp-url ftp://h", "task start one --cdp-url", "task start one --cdp-url ws://h --launch", "task start one --cdp-url=",
		"task start one --policy maybe", "task start one --timeout soon", "task start one --timeout 0.01", "task start one --timeout=-1", "task start one --timeout 1e300",
		"task start one --timeout NaN", "task start one --scope all", "task start one --scope target", "task start one --scope own --target T", "task start one --beforeunload x",
		"task start one --idle-timeout 0.5", "task start one --max-life 1e12", "task start one --give-up-after 4.9", "task start one --give-up-after 86401", "task start one --label x", "task start one --label =y", "task start one --bogus",
		"task ls extra", "task ls --label x", "task show", "task show a/b", "task show one two", "task stop", "task stop a/b",
		"snapshot", "snapshot a/b", "snapshot one --full=maybe", "watch", "watch one --after x", "watch one --after -1",
		"dialog ls a/b", "dialog ls one two", "dialog accept", "dialog accept a/b", "dialog dismiss", "dialog accept one --dialog a/b", "dialog maybe one", "dialog accept one --text",
		"navigate", "navigate one", "navigate a/b http://x", "navigate one http://x --wait x", "navigate one http://x --timeout 301", "navigate one http://x y", "navigate one http://x --target a/b", "navigate one example.com", "navigate one javascript:1", "navigate one http://x --wait-link 301",
		"cdp", "cdp one", "cdp one bogus", "cdp one A.b []", "cdp one A.b {", "cdp one A.b {} {}", "cdp one A.b {} --frame a/b", "cdp one A.b {} --timeout 0.001", "cdp one A.b {} --wait=-1", "cdp one A.b {} --wait NaN", "cdp one A.b {} --on-dialog maybe",
		"chaos", "chaos one", "chaos --task one", "chaos --kill primary", "chaos one --task one --kill primary", "chaos --task a/b --kill primary", "chaos --task one --kill all", "chaos --task one --kill both --wait=-1s",
		"recover", "recover one", "recover one restart", "recover a/b reload", "recover one reload --target a/b", "recover one reload close",
		"token", "token --task a/b", "token --task one --tenant two", "token --task", "token one",
		"serve extra", "serve --listen 7070", "serve --listen 0.0.0.0:0", "serve --listen :0", "serve --listen example.test:0", "serve --listen [::]:0",
		"serve --metrics-listen 0.0.0.0:0", "serve --metrics-listen x", "serve --cdp-url-override ftp://planted", "serve --idle-timeout soon", "serve --give-up-after 4s", "serve --give-up-after 25h", "serve --idle-timeout=-1s",
		"serve --max-tasks 0", "serve --admin-listen 0.0.0.0:0", "serve --admin-listen 192.0.2.1:0", "serve --drain-timeout 5s --drain-delay 5s", "serve --memory-high 2", "serve --chrome-arg=",
		"config", "config check", "config check /does/not/exist", "config print extra", "config print --max-tasks many", "drain extra",
		"serve --max-tasks many", "serve --max-tasks=-1", "serve --log-format xml", "serve --log-level loud", "serve --config /does/not/exist",
		"doctor extra", "version extra", "demo extra",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.env["HOLDFAST_NODE"] = asked.URL
			out, errs := m.want(2, strings.Fields(line)...)
			if out != "" && !strings.Contains(line, "--json") || !strings.HasPrefix(errs, "invalid_argument: ") || strings.Count(errs, "\n") != 1 || strings.Contains(errs, "planted") {
				t.Errorf("out %q, err %q", out, errs)
			}
		})
	}
	t.Run("nodes and tokens that cannot be", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		for _, args := range [][]string{
			{"--node", "127.0.0.1"},
			{"--node", "ws://h"},
			{"--node", "http://u:planted@h"},
			{"--token-file", "/does/not/exist", "--node", asked.URL},
			{"--token-file", m.write("empty", ""), "--node", asked.URL},
			{"--token-file", m.write("lines", "a\nb"), "--node", asked.URL},
		} {
			if _, errs := m.want(2, append([]string{"task", "ls"}, args...)...); strings.Contains(errs, "planted") {
				t.Error(errs)
			}
		}
	})
}

func TestHelp(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, line := range []string{"--help", "serve --help", "task --help", "task start --help", "dialog accept -h"} {
		if out, errs := m.want(0, strings.Fields(line)...); !strings.HasPrefix(out, "Usage: holdfast") || errs != "" {
			t.Errorf("%s: %q %q", line, out, errs)
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	commands := []string{
		"task start one", "task restart one", "task ls", "task show one", "task stop one", "snapshot one", "watch one", "dialog ls", "dialog ls one",
		"dialog accept one", "dialog dismiss one", "navigate one about:blank", "cdp one Page.reload", "recover one reload", "chaos --task one --kill both --wait 0", "drain",
	}
	t.Run("3 when no node is reached", func(t *testing.T) {
		t.Parallel()
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		stranger := httptest.NewServer(http.NotFoundHandler())
		defer stranger.Close()
		for _, line := range commands {
			for _, node := range []string{"", closed.URL, stranger.URL} {
				m := newMachine(t)
				m.env["HOLDFAST_NODE"] = node
				out, errs := m.want(3, strings.Fields(line)...)
				if out != "" || !strings.HasPrefix(errs, "upstream_unavailable: ") || strings.Count(errs, "\n") != 1 {
					t.Errorf("%s: out %q, err %q", line, out, errs)
				}
			}
		}
	})
	t.Run("0 when the node did it", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.serve()
		for _, line := range commands {
			if _, errs := m.want(0, strings.Fields(line)...); errs != "" {
				t.Errorf("%s: %q", line, errs)
			}
		}
	})
	t.Run("1 and the code when the node said no", func(t *testing.T) {
		t.Parallel()
		for _, code := range messages.Codes() {
			m := newMachine(t)
			m.node.CDPFunc = func(messages.CDPRequest) (messages.CDPResult, error) {
				return messages.CDPResult{}, messages.Errorf(code, "why\x1b[31m").With("tried", []string{"d-1"})
			}
			m.serve()
			out, errs := m.want(1, "cdp", "one", "Page.reload")
			want := string(code) + ": why\uFFFD[31m\n  details: {\"tried\":[\"d-1\"]}\n"
			if code == messages.CodeBlockedByDialog || code == messages.CodeDialogAmbiguous {
				want += "  → answer: holdfast dialog accept one --dialog ID\n"
			}
			if out != "" || errs != want {
				t.Errorf("got %q, want %q", errs, want)
			}
		}
	})
	t.Run("1 when the token is not good", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.serve()
		m.env["HOLDFAST_TOKEN"] = "wrong"
		for _, line := range commands {
			if _, errs := m.want(1, strings.Fields(line)...); !strings.HasPrefix(errs, "unauthorized: ") {
				t.Errorf("%s: %q", line, errs)
			}
		}
	})
	t.Run("1 when the demo fails, or is not there", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		for _, line := range []string{"demo", "cluster demo"} {
			if _, errs := m.want(1, strings.Fields(line)...); !strings.HasPrefix(errs, "internal: ") {
				t.Error(errs)
			}
		}
	})
	t.Run("0 when a watch is interrupted", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.node.WatchFunc = func(context.Context, uint64, bool) (messages.EventStream, error) {
			return blocked(messages.Event{Type: messages.EventTaskState, Version: 3, State: messages.StateActive}), nil
		}
		m.serve()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out := &onWrite{do: cancel}
		if code := m.program(out, out).Run(ctx, []string{"watch", "one"}); code != 0 || !strings.Contains(out.String(), "active") {
			t.Error(code, out)
		}
	})
}
