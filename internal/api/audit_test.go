package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/messages"
)

func TestX20Audit(t *testing.T) {
	t.Parallel()
	node := &apitest.Node{
		CDPFunc: func(r messages.CDPRequest) (messages.CDPResult, error) {
			if r.Method == "A.refused" {
				return messages.CDPResult{}, messages.Errorf(messages.CodeCDPError, "planted in Chrome's answer")
			}
			return messages.CDPResult{Result: json.RawMessage(`{"cookies":"planted in a result"}`)}, nil
		},
	}
	for name, audit := range map[string]bool{"as information where it was asked for": true, "at debug level else": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &syncBuffer{}
			b := setupGate(t, node, func(c *gate.Config) {
				c.IsAudited, c.Logger = audit, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			ask := func(tok, path, body string) {
				r := b.request(http.MethodPost, "/v1/tasks/one/"+path, body)
				r.Header.Set("Authorization", "Bearer "+tok)
				b.do(r)
			}
			ask(b.admin.Reveal(), "dialog", `{"action":"accept","prompt_text":"planted in an answer"}`)
			ask(b.admin.ForTask("one"), "cdp", `{"method":"Network.getCookies","params":{"urls":["http://planted/"]},"target_id":"T1"}`)
			ask(b.admin.Reveal(), "cdp", `{"method":"A.refused","frame_id":"F1"}`)
			ask(b.admin.Reveal(), "recover", `{"action":"release"}`)
			ask("wrong", "cdp", `{"method":"A.never"}`)
			var got []string
			for line := range strings.Lines(log.String()) {
				if !strings.Contains(line, "audit=") {
					continue
				}
				_, rest, _ := strings.Cut(line, "audit=")
				said, _, _ := strings.Cut(rest, " took_ms=")
				_, after, _ := strings.Cut(rest, "took_ms=")
				_, what, _ := strings.Cut(strings.TrimSpace(after), " ")
				got = append(got, said+" "+what)
				want := slog.LevelDebug
				if audit {
					want = slog.LevelInfo
				}
				if !strings.Contains(line, "level="+want.String()+" ") {
					t.Errorf("level of %s", line)
				}
			}
			want := []string{
				`dialog task=one who=admin from=192.0.2.1 code=ok action=accept dialog=d-1 by=agent`,
				`cdp task=one who="task one" from=192.0.2.1 code=ok method=Network.getCookies target=T1 frame=""`,
				`cdp task=one who=admin from=192.0.2.1 code=cdp_error method=A.refused target="" frame=F1`,
				`recover task=one who=admin from=192.0.2.1 code=ok action=release target=""`,
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if strings.Contains(log.String(), "planted") {
				t.Errorf("leaked: %s", log.String())
			}
		})
	}
}

// TestRefusedForItsToken: the log says who it was, once, and not with what.
func TestRefusedForItsToken(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{})
	ask := func(tok, path string) {
		r := b.request(http.MethodGet, path, "")
		r.Header.Set("Authorization", "Bearer "+tok)
		b.do(r)
	}
	ask("planted", "/v1/tasks/one")
	ask(b.admin.ForTask("planted"), "/v1/tasks/one")
	ask("planted", "/planted")
	var got []string
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, "refused for its token") {
			got = append(got, line)
		}
	}
	if len(got) != 1 || !strings.Contains(got[0], `"level":"WARN"`) || !strings.Contains(got[0], `"route":"/v1/tasks/{id}","from":"192.0.2.1"`) {
		t.Errorf("%q", got)
	}
	if strings.Contains(b.log.String(), "planted") {
		t.Errorf("leaked: %s", b.log.String())
	}
}
