package stage

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// ServeRelay starts a bare relay to target, a host and port; self is this program.
func ServeRelay(self, target string) (*Node, error) { return spawnServer(self, "relay", target) }

// Relay is what ServeRelay starts: the least that can stand in the gateway's place. It takes a
// WebSocket, dials the same path at target, and reads and writes messages in both directions.
func Relay(target string, out io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(map[string]string{"url": "http://" + listener.Addr().String()}); err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { relay(w, r, target) }))
}

func relay(w http.ResponseWriter, r *http.Request, target string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	there, _, err := websocket.Dial(ctx, "ws://"+target+r.URL.Path, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = there.CloseNow() }()
	here, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true})
	if err != nil {
		return // the library has answered
	}
	defer func() { _ = here.CloseNow() }()
	here.SetReadLimit(-1)
	there.SetReadLimit(-1)
	go func() {
		defer cancel()
		carry(ctx, here, there)
	}()
	carry(ctx, there, here)
}

// carry reads messages and writes them, until either side ends.
func carry(ctx context.Context, to, from *websocket.Conn) {
	for {
		kind, message, err := from.Read(ctx)
		if err != nil || to.Write(ctx, kind, message) != nil {
			return
		}
	}
}
