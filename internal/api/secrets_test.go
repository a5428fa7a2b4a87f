package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/ui"
	"holdfast/messages"
)

// TestSecretsStayInside plants the admin token, its scoped tokens and a CDP
// URL wherever a request has room for them, lets the node fail with the URL in
// its errors, and looks for all of them in every answer and every log line.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	const cdpSecret = "9c1e5f0a-77aa-4b1d-9d55-0123456789ab"
	const cdpURL = "wss://planted:hunter2@browsers.test/devtools/browser/" + cdpSecret + "?token=tok-planted-777#frag-planted-777"
	parsed, err := messages.ParseCDPURL(cdpURL)
	if err != nil {
		t.Fatal(err)
	}
	failing := errors.New("dial " + cdpURL + ": refused")
	node := &apitest.Node{
		SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
			s := apitest.Active(id)
			s.Connection.Endpoint = parsed.String()
			return s, nil
		},
		CDPFunc:      func(messages.CDPRequest) (messages.CDPResult, error) { return messages.CDPResult{}, failing },
		NavigateFunc: func(messages.NavigateRequest) (messages.NavigateResult, error) { panic(failing) },
		RespondFunc: func(messages.DialogAnswer) (messages.ClosedDialog, error) {
			return messages.ClosedDialog{}, messages.Errorf(messages.CodeUpstreamUnavailable, "no link to %s", parsed).With("endpoint", parsed)
		},
		AliveFunc: func(context.Context) error { return failing },
	}
	b := setup(t, node, withMetrics)
	b.handler.CloseStreams() // one that never ends by itself does
	task := b.admin.ForTask("one")
	secrets := []string{b.admin.Reveal(), task, task[strings.LastIndex(task, ".")+1:], cdpSecret, "hunter2", "tok-planted", "frag-planted"}
	quoted := `"` + cdpURL + `"`
	bodies := []string{
		"", "{}", quoted, `{"cdp_url":` + quoted + `}`, `{"cdp_url":` + quoted + `,"x":1}`, `{"cdp_url":` + quoted + `,"launch":true}`,
		`{"cdp_url":[` + quoted + `]}`, `{"cdp_url":` + quoted, `{"scope":` + quoted + `}`, `{"target_id":` + quoted + `,"scope":"target"}`,
		`{"launch":{"headless":` + quoted + `}}`, `{"labels":{"k":` + quoted + `}}`, `{"dialog_timeout_s":` + quoted + `}`,
		`{"action":"accept"}`, `{"action":` + quoted + `}`, `{"action":"accept","dialog_id":` + quoted + `}`,
		`{"url":` + quoted + `}`, `{"url":` + quoted + `,"wait_until":` + quoted + `}`, `{"method":"Page.navigate","params":{"url":` + quoted + `}}`,
		`{"method":` + quoted + `}`, `{"method":"A.b","params":` + quoted + `}`, `{"cdp_url":"wss://` + strings.Repeat(cdpSecret, 300) + `"}`,
		`{"cdp_url":"ftp://planted:hunter2@h"}`, `{"cdp_url":"ws://planted:hunter2@h:port/` + cdpSecret + `"}`,
	}
	var requests []*http.Request
	for _, rt := range api.RouteTable() {
		if strings.HasPrefix(rt.Path, ui.Root) && rt.Path != ui.Root {
			continue // files, of which one stands for all
		}
		for _, id := range []string{"one", url.PathEscape(cdpURL)} {
			path := apitest.Path(rt.Path, id)
			for _, body := range bodies {
				requests = append(requests, b.request(rt.Method, path, body))
			}
			for _, query := range []string{"access_token=" + b.admin.Reveal(), "access_token=" + task, "x=" + b.admin.Reveal(), "target_id=" + url.QueryEscape(cdpURL), "label=" + task, "full=" + task, "%zz" + task} {
				requests = append(requests, b.request(rt.Method, path+"?"+query, ""))
				r := b.request(rt.Method, path+"?"+query, "")
				r.Header.Del("Authorization")
				requests = append(requests, r)
			}
			for _, header := range []string{"Authorization", "Origin", "Content-Type", "Last-Event-ID", "Cookie", "X-Forwarded-For"} {
				for _, value := range []string{b.admin.Reveal(), "Basic " + b.admin.Reveal(), "Bearer " + task + "x", cdpURL} {
					r := b.request(rt.Method, path, "{}")
					r.Header.Set(header, value)
					requests = append(requests, r)
				}
			}
			r := b.request(rt.Method, path, "")
			r.Host = cdpSecret
			requests = append(requests, r)
		}
	}
	for _, path := range []string{"/" + task, "/v1/" + cdpSecret, "/?token=" + b.admin.Reveal()} {
		requests = append(requests, b.request("GET", path, ""))
	}
	statuses := map[int]int{}
	for _, r := range requests {
		w := b.do(r)
		statuses[w.Code]++
		var head strings.Builder
		_ = w.Header().Write(&head)
		for _, secret := range secrets {
			if strings.Contains(w.Body.String()+head.String(), secret) {
				t.Errorf("%s %s answers with %q: %s", r.Method, r.URL, secret, w.Body)
			}
		}
	}
	logged := b.log.String()
	for _, secret := range secrets {
		if i := strings.Index(logged, secret); i >= 0 {
			t.Errorf("%q is in the log: …%s…", secret, logged[max(0, i-100):min(len(logged), i+100)])
		}
	}
	// The planting was no exercise in 401s, and the log was on.
	for _, status := range []int{200, 201, 204, 400, 401, 403, 404, 500, 503} {
		if statuses[status] == 0 {
			t.Errorf("no request was answered %d: %v", status, statuses)
		}
	}
	if strings.Count(logged, `"request"`) < len(requests) || !strings.Contains(logged, `"level":"ERROR"`) {
		t.Error("the log is not complete")
	}
}
