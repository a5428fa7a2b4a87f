package node_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/node"
	"holdfast/messages"
)

// A service that ends the connection with a code and a reason says what is wrong there:
// a session has expired, a key is not right (TestM1).
func TestM1_TheCloseCodeAndReasonAreInTheError(t *testing.T) {
	t.Parallel()
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // Accept has answered
		}
		_, _, _ = c.Read(r.Context()) // a first command, which then has its outcome
		_ = c.Close(4123, "Oh my! your key "+secret)
	}))
	defer service.Close()
	u, err := messages.ParseCDPURL("ws" + strings.TrimPrefix(service.URL, "http") + "/devtools/browser/1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	node, err := node.Start(ctx, node.Config{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = node.Stop(ctx) }()
	_, _, err = node.GetOrStart(ctx, "t", messages.TaskSpec{CDPURL: u})
	if err == nil {
		t.Fatal("it started")
	}
	for _, word := range []string{"4123", "Oh my!"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %q", err, word)
		}
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the secret shows: %v", err)
	}
}
