package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"holdfast/internal/token"
	"holdfast/messages"
)

func TestTokensThatEnd(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve()
	out, _ := m.want(0, "token", "--task", "one", "--for", "90m", "--json")
	var got struct {
		Token     string           `json:"token"`
		ExpiresAt messages.Seconds `json:"expires_at"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	admin, err := token.Load(s.tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := admin.Verify(got.Token, time.Now())
	left := time.Until(scope.Ends())
	if err != nil || scope.String() != "task one" || left < 89*time.Minute || left > 90*time.Minute || got.ExpiresAt != messages.SecondsOf(scope.Ends()) {
		t.Errorf("%s, %v, %v left, says %v", scope, err, left, got.ExpiresAt)
	}
	tenant, _ := m.want(0, "token", "--tenant", "acme", "--for", "1s")
	if scope, err := admin.Verify(strings.TrimSpace(tenant), time.Now().Add(-time.Minute)); err != nil || scope.String() != "tenant acme" {
		t.Error(scope, err)
	}
	for _, bad := range []string{"0.5s", "-1h", "90", "x", "1000000h"} {
		m.want(2, "token", "--task", "one", "--for="+bad)
	}
}
