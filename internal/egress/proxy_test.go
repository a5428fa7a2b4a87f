package egress_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/egress"
)

// through is a client whose every request goes through the proxy.
func through(t *testing.T, x *egress.Proxy) *http.Client {
	t.Helper()
	tr := &http.Transport{
		Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://" + x.Address()) },
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

func newProxy(t *testing.T, p *egress.Policy, isStrict bool) *egress.Proxy {
	t.Helper()
	x, err := egress.NewProxy(p, isStrict, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

// site answers with what it was asked, and echoes over a WebSocket.
func site(t *testing.T) (addr string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ws":
			c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
			if err != nil {
				return
			}
			defer c.CloseNow()
			for {
				kind, b, err := c.Read(r.Context())
				if err != nil || c.Write(r.Context(), kind, b) != nil {
					return
				}
			}
		case "/away":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		default:
			_, _ = io.WriteString(w, "secret-of-the-inside "+r.Header.Get("X-Asked"))
		}
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func get(t *testing.T, c *http.Client, u string) (int, string) {
	t.Helper()
	r, err := c.Get(u)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return r.StatusCode, string(b)
}

func TestProxyDenies(t *testing.T) {
	t.Parallel()
	addr := site(t)
	_, port, _ := net.SplitHostPort(addr)
	n := &names{next: map[string][]string{"inside.test.": {"127.0.0.1"}, "intra.test.": {"127.0.0.1"}}}
	p := parse(t, egress.Rules{Allow: []string{"intra.test"}})
	p.Resolve(n.resolver(t))
	x := newProxy(t, p, true)
	c := through(t, x)
	for _, host := range []string{"127.0.0.1", "localhost", "inside.test", "[::1]", "0.0.0.0", "169.254.169.254"} {
		if status, body := get(t, c, "http://"+host+":"+port+"/"); status != http.StatusForbidden || strings.Contains(body, "secret") || strings.Contains(body, "127.") {
			t.Errorf("%s: %d %s", host, status, body)
		}
		if status, body := get(t, c, "https://"+host+":"+port+"/"); status != 0 || !strings.Contains(body, "Forbidden") {
			t.Errorf("%s by CONNECT: %d %s", host, status, body)
		}
	}
	if status, body := get(t, c, "http://intra.test:"+port+"/"); status != http.StatusOK || !strings.Contains(body, "secret-of-the-inside") {
		t.Errorf("an allowed name: %d %s", status, body)
	}
	if status, _ := get(t, c, "http://intra.test:"+port+"/away?to="+url.QueryEscape("http://"+addr+"/")); status != http.StatusForbidden {
		t.Errorf("a redirect inside: %d", status)
	}
	if x.Denied() == 0 {
		t.Error("nothing was counted")
	}
	if status, body := get(t, &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+x.Address()+"/"); status != http.StatusBadRequest {
		t.Errorf("asked itself: %d %s", status, body)
	}
	// What the browser's refused connections look like tells nothing of what listens.
	for _, u := range []string{"http://intra.test:1/"} {
		if status, body := get(t, c, u); status != http.StatusBadGateway || strings.Contains(body, "127.") || strings.Contains(body, "refused") {
			t.Errorf("%s: %d %s", u, status, body)
		}
	}
}

// TestRestrict: a proxy that let everything through cuts that off once it is strict.
func TestRestrict(t *testing.T) {
	t.Parallel()
	addr := site(t)
	x := newProxy(t, parse(t, egress.Rules{}), false)
	c := through(t, x)
	if status, body := get(t, c, "http://"+addr+"/"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	// As Chromium does it: a tunnel for a WebSocket.
	tunnel, err := net.Dial("tcp4", x.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer tunnel.Close()
	if _, err := io.WriteString(tunnel, "CONNECT "+addr+" HTTP/1.1\r\nHost: "+addr+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 256)
	if k, err := tunnel.Read(b); err != nil || !strings.Contains(string(b[:k]), " 200 ") {
		t.Fatalf("%s, %v", b[:k], err)
	}
	ws, _, err := websocket.Dial(ctx, "ws://"+addr+"/ws", &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return tunnel, nil },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(ctx, websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, got, err := ws.Read(ctx); err != nil || string(got) != "hello" {
		t.Fatalf("%s, %v", got, err)
	}
	x.Restrict()
	if _, _, err := ws.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the tunnel stands: %v", err)
	}
	if status, body := get(t, c, "http://"+addr+"/"); status != http.StatusForbidden {
		t.Errorf("%d %s", status, body)
	}
}
