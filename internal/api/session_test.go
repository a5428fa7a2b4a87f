package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/api/apitest"
	"holdfast/internal/token"
	"holdfast/messages"
)

func decode[T any](t *testing.T, w *httptest.ResponseRecorder, status int) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != status {
		t.Fatalf("%d %s, %v", w.Code, w.Body, err)
	}
	return out
}

func (b *bench) as(tok, method, target, body string) *httptest.ResponseRecorder {
	r := b.request(method, target, body)
	r.Header.Del("Authorization")
	if tok != "" {
		r.Header.Set("Authorization", "Bearer "+tok)
	}
	return b.do(r)
}

func TestCodesAreGoodOnceAndForAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, &apitest.Node{})
		tenant, err := b.admin.ForTenant("acme")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			tok, scope string
			life       time.Duration
		}{{b.admin.Reveal(), "admin", 12 * time.Hour}, {tenant, "tenant acme", 12 * time.Hour}, {"", "task one", time.Hour}} {
			if c.tok == "" {
				if c.tok, err = b.admin.Until(token.TaskScope("one"), time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			code := decode[messages.LoginCode](t, b.as(c.tok, "POST", "/v1/codes", ""), http.StatusCreated)
			time.Sleep(59 * time.Second)
			s := decode[messages.Session](t, b.as("", "POST", "/v1/session", `{"code":"`+code.Code+`"}`), http.StatusCreated)
			scope, err := b.admin.Verify(s.Token, time.Now())
			if left := time.Until(scope.Ends()); err != nil || scope.String() != c.scope || left > c.life || left < c.life-time.Minute {
				t.Errorf("%s, %v, %v left", scope, err, left)
			}
			b.wantError(b.as("", "POST", "/v1/session", `{"code":"`+code.Code+`"}`), 401, messages.CodeUnauthorized)
			// And the session's own end.
			if w := b.as(s.Token, "GET", "/v1/tasks", ""); w.Code != http.StatusOK {
				t.Error(w.Code)
			}
			time.Sleep(c.life)
			if e := b.wantError(b.as(s.Token, "GET", "/v1/tasks", ""), 401, messages.CodeUnauthorized); e.Message != "the token has expired: get a new one from the node's operator" {
				t.Error(e.Message)
			}
		}
		late := decode[messages.LoginCode](t, b.as(b.admin.Reveal(), "POST", "/v1/codes", ""), http.StatusCreated)
		time.Sleep(time.Minute)
		b.wantError(b.as("", "POST", "/v1/session", `{"code":"`+late.Code+`"}`), 401, messages.CodeUnauthorized)
		// They are bounded: the oldest goes.
		first := decode[messages.LoginCode](t, b.as(b.admin.Reveal(), "POST", "/v1/codes", ""), http.StatusCreated)
		for range 64 {
			decode[messages.LoginCode](t, b.as(b.admin.Reveal(), "POST", "/v1/codes", ""), http.StatusCreated)
		}
		b.wantError(b.as("", "POST", "/v1/session", `{"code":"`+first.Code+`"}`), 401, messages.CodeUnauthorized)
		b.wantError(b.as("", "POST", "/v1/session", ""), 400, messages.CodeInvalidArgument)
		b.wantError(b.as("", "POST", "/v1/codes", ""), 401, messages.CodeUnauthorized)
		r := b.request("POST", "/v1/session", `{"code":"x"}`)
		r.Header.Set("Origin", "http://evil.test")
		b.wantError(b.do(r), 403, messages.CodeForbidden)
	})
}

func TestTheAdminTokenIsNotTakenFromAURL(t *testing.T) {
	t.Parallel()
	b := setup(t, &apitest.Node{})
	b.wantError(b.as("", "GET", "/v1/tasks/one/events?access_token="+b.admin.Reveal(), ""), 401, messages.CodeUnauthorized)
}
