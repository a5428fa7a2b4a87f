package stage_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/bench/stage"
)

// The relay passes messages of any length on, to the path that was asked for.
func TestTheRelayPassesMessagesOn(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		c.SetReadLimit(-1)
		for {
			kind, message, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, append([]byte(r.URL.Path+" "), message...)) != nil {
				return
			}
		}
	}))
	defer echo.Close()
	out, in := io.Pipe()
	go func() { _ = stage.Relay(strings.TrimPrefix(echo.URL, "http://"), in) }() // as long as the test's process
	var at struct{ URL string }
	if err := json.NewDecoder(out).Decode(&at); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, _, err := websocket.Dial(ctx, strings.Replace(at.URL, "http", "ws", 1)+"/devtools/browser/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	c.SetReadLimit(-1)
	for _, message := range []string{"1", strings.Repeat("x", 1<<20)} {
		if err := c.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
		_, got, err := c.Read(ctx)
		if err != nil || string(got) != "/devtools/browser/x "+message {
			t.Errorf("of %d bytes came %.40q…, %v", len(message), got, err)
		}
	}
}
