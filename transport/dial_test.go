package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/messages"
	"holdfast/transport"
)

// answers is a client whose requests go no further than the function.
type answers func(*http.Request) (int, string)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := f(r)
	h := http.Header{}
	if status/100 == 3 {
		h.Set("Location", body)
	}
	return &http.Response{
		StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)),
		Request: r, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

func version(ws string) answers {
	return func(*http.Request) (int, string) { return 200, fmt.Sprintf(`{"webSocketDebuggerUrl":%q}`, ws) }
}

const hostRefusal = "Host header is specified and is not an IP address or localhost."

func TestResolve(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		asked, said, want string
	}{
		"loopback behind a tunnel":       {"http://10.1.2.3:19222", "ws://127.0.0.1:9222/devtools/browser/x", "ws://10.1.2.3:19222/devtools/browser/x"},
		"localhost without a port":       {"http://chrome.test:9222", "ws://localhost/devtools/browser/x", "ws://chrome.test:9222/devtools/browser/x"},
		"unspecified":                    {"http://10.1.2.3:19222", "ws://0.0.0.0:9222/devtools/browser/x", "ws://10.1.2.3:19222/devtools/browser/x"},
		"unspecified in six":             {"http://10.1.2.3:19222", "ws://[::]:9222/devtools/browser/x", "ws://10.1.2.3:19222/devtools/browser/x"},
		"the same host":                  {"http://10.1.2.3:19222", "ws://10.1.2.3/devtools/browser/x", "ws://10.1.2.3:19222/devtools/browser/x"},
		"another host is believed":       {"https://api.test/", "wss://node7.test/s/1?k=2", "wss://node7.test/s/1?k=2"},
		"no credential to another host":  {"https://u:p@api.test/?token=t", "wss://node7.test/s/1", "wss://node7.test/s/1"},
		"TLS stays":                      {"https://api.test", "ws://api.test/devtools/browser/x", "wss://api.test/devtools/browser/x"},
		"user and query stay":            {"https://u:p@api.test?token=t", "ws://127.0.0.1/devtools/browser/x", "wss://u:p@api.test/devtools/browser/x?token=t"},
		"the whole discovery address":    {"http://10.1.2.3:9222/json/version/", "ws://127.0.0.1/devtools/browser/x", "ws://10.1.2.3:9222/devtools/browser/x"},
		"a bare socket address":          {"ws://10.1.2.3:9222", "ws://127.0.0.1/devtools/browser/x", "ws://10.1.2.3:9222/devtools/browser/x"},
		"a bare secure socket address":   {"wss://api.test/", "ws://127.0.0.1/devtools/browser/x", "wss://api.test/devtools/browser/x"},
		"a whole socket address":         {"ws://10.1.2.3:9222/devtools/browser/y", "ws://127.0.0.1/devtools/browser/x", "ws://10.1.2.3:9222/devtools/browser/y"},
		"a socket address with a query":  {"wss://api.test?key=k", "ws://127.0.0.1/devtools/browser/x", "wss://api.test?key=k"},
		"an address below a path prefix": {"http://api.test/b1", "ws://api.test/b1/devtools/browser/x", "ws://api.test/b1/devtools/browser/x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &http.Client{Transport: answers(func(r *http.Request) (int, string) {
				if !strings.HasSuffix(r.URL.Path, "/json/version") || r.Method != http.MethodGet {
					return 404, ""
				}
				return version(tc.said)(r)
			})}
			got, err := transport.Resolve(t.Context(), cdpURL(t, tc.asked), client)
			if err != nil || got.Reveal() != tc.want {
				t.Errorf("%s, %v", got.Reveal(), err)
			}
		})
	}
	t.Run("asks again as localhost when the host name is refused", func(t *testing.T) {
		t.Parallel()
		var hosts []string
		client := &http.Client{Transport: answers(func(r *http.Request) (int, string) {
			hosts = append(hosts, r.Host)
			if r.Host != "localhost" {
				return 500, hostRefusal
			}
			return version("ws://localhost/devtools/browser/x")(r)
		})}
		got, err := transport.Resolve(t.Context(), cdpURL(t, "http://chrome.test:9222"), client)
		if err != nil || got.Reveal() != "ws://chrome.test:9222/devtools/browser/x" || len(hosts) != 2 {
			t.Errorf("%s, %v, hosts %q", got.Reveal(), err, hosts)
		}
	})
	t.Run("takes a socket without discovery as it is", func(t *testing.T) {
		t.Parallel()
		client := &http.Client{Transport: answers(func(*http.Request) (int, string) { return 404, "" })}
		got, err := transport.Resolve(t.Context(), cdpURL(t, "ws://10.1.2.3:3000"), client)
		if err != nil || got.Reveal() != "ws://10.1.2.3:3000" {
			t.Errorf("%s, %v", got.Reveal(), err)
		}
	})
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-t0ken-0123456789"
	asked := "http://user:" + secret + "@10.1.2.3:9222/?token=" + secret
	unavailable := messages.CodeUpstreamUnavailable
	for name, tc := range map[string]struct {
		asked  string
		answer answers
		want   messages.Code
	}{
		"a page's endpoint":         {"ws://10.1.2.3:9222/devtools/page/" + secret, version("ws://127.0.0.1/x"), messages.CodeInvalidArgument},
		"no URL":                    {"", version("ws://127.0.0.1/x"), messages.CodeInvalidArgument},
		"an answer with a page":     {asked, version("ws://127.0.0.1/devtools/page/" + secret), unavailable},
		"an answer over http":       {asked, version("http://127.0.0.1/" + secret), unavailable},
		"an answer without host":    {asked, version("ws:///" + secret), unavailable},
		"an empty answer":           {asked, func(*http.Request) (int, string) { return 200, "" }, unavailable},
		"no JSON":                   {asked, func(*http.Request) (int, string) { return 200, "<html>" + secret }, unavailable},
		"another JSON":              {asked, func(*http.Request) (int, string) { return 200, `{"webSocketDebuggerUrl":5}` }, unavailable},
		"an endless answer":         {asked, func(*http.Request) (int, string) { return 200, strings.Repeat(" ", 1<<20) }, unavailable},
		"not found":                 {asked, func(*http.Request) (int, string) { return 404, secret }, unavailable},
		"unauthorized":              {asked, func(*http.Request) (int, string) { return 401, secret }, unavailable},
		"an inner error":            {asked, func(*http.Request) (int, string) { return 500, secret }, unavailable},
		"a host refusal that stays": {asked, func(*http.Request) (int, string) { return 500, hostRefusal }, unavailable},
		"a redirect to a file":      {asked, func(*http.Request) (int, string) { return 302, "file:///etc/passwd?" + secret }, unavailable},
		"redirects without end":     {asked, func(*http.Request) (int, string) { return 302, "http://10.1.2.3:9222/" + secret }, unavailable},
		"a redirect elsewhere":      {asked, func(*http.Request) (int, string) { return 302, "http://10.1.2.4:9222/" + secret }, unavailable},
		"a redirect to a port":      {asked, func(*http.Request) (int, string) { return 302, "http://10.1.2.3:9223/" + secret }, unavailable},
		"an endpoint out of TLS":    {"https://api.test/" + secret, version("ws://node7.test/" + secret), unavailable},
		"a redirect out of TLS":     {"https://api.test/" + secret, func(*http.Request) (int, string) { return 302, "http://api.test/" + secret }, unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := transport.Resolve(t.Context(), cdpURL(t, tc.asked), &http.Client{Transport: tc.answer})
			wantCode(t, err, tc.want)
			if strings.Contains(fmt.Sprintf("%+v", err), secret) {
				t.Errorf("the secret shows: %v", err)
			}
		})
	}
}

func wantCode(t *testing.T, err error, want messages.Code) {
	t.Helper()
	var e *messages.Error
	if !errors.As(err, &e) || e.Code != want || e.Message == "" {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestDial(t *testing.T) {
	t.Parallel()
	t.Run("of a closed port says what to do", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		_ = l.Close()
		for _, u := range []string{"http://" + addr, "ws://" + addr, "ws://" + addr + "/devtools/browser/0123456789abcdef0123"} {
			_, err := transport.Dial(within(t), cdpURL(t, u), transport.DialOptions{})
			wantCode(t, err, messages.CodeUpstreamUnavailable)
			if s := fmt.Sprint(err); !strings.Contains(s, "--remote-debugging-port") || strings.Contains(s, "0123456789abcdef") {
				t.Error(s)
			}
		}
	})
	t.Run("of a silent endpoint ends with the deadline", func(t *testing.T) {
		t.Parallel()
		for _, u := range []string{"http://127.0.0.1:9222", "ws://127.0.0.1:9222/devtools/browser/abc"} {
			synctest.Test(t, func(t *testing.T) {
				l := transport.NewPipeListener()
				defer l.Close()
				go func() {
					for {
						c, err := l.Accept()
						if err != nil {
							return
						}
						go func() { _, _ = io.Copy(io.Discard, c) }()
					}
				}()
				o := transport.DialOptions{HTTPClient: l.HTTPClient()}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				began := time.Now()
				_, err := transport.Dial(ctx, cdpURL(t, u), o)
				wantCode(t, err, messages.CodeDeadline)
				if d := time.Since(began); d != 3*time.Second {
					t.Errorf("after %v", d)
				}
				began = time.Now()
				_, err = transport.Dial(t.Context(), cdpURL(t, u), o)
				wantCode(t, err, messages.CodeUpstreamUnavailable)
				if d := time.Since(began); d != transport.DefaultDialTimeout {
					t.Errorf("without a deadline after %v", d)
				}
			})
		}
	})
	t.Run("asks the socket again as localhost when the host name is refused", func(t *testing.T) {
		t.Parallel()
		refuse := func(w http.ResponseWriter, r *http.Request) bool {
			if r.Host == "localhost" {
				return false
			}
			http.Error(w, hostRefusal, http.StatusInternalServerError)
			return true
		}
		b := newBrowserBehind(t, refuse, (*peer).echo)
		for _, u := range []string{"http://chrome.test:9222", "ws://chrome.test:9222/devtools/browser/abc"} {
			m, err := transport.Dial(within(t), cdpURL(t, u), transport.DialOptions{HTTPClient: b.client})
			if err != nil {
				t.Fatalf("%s: %v", u, err)
			}
			if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
				t.Error(err)
			}
			m.Close()
			<-m.Closed()
		}
	})
	t.Run("of a wrong browser id says so", func(t *testing.T) {
		t.Parallel()
		b := newBrowser(t, (*peer).echo)
		_, err := transport.Dial(within(t), cdpURL(t, "ws://127.0.0.1:9222/devtools/browser/0123456789abcdef0123"), transport.DialOptions{HTTPClient: b.client})
		wantCode(t, err, messages.CodeUpstreamUnavailable)
		if s := fmt.Sprint(err); !strings.Contains(s, "404") || strings.Contains(s, "0123456789abcdef") {
			t.Error(s)
		}
	})
	t.Run("of something that answers garbage is refused", func(t *testing.T) {
		t.Parallel()
		for _, garbage := range []string{"", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 101 Switching Protocols\r\n\r\n"} {
			l := transport.NewPipeListener()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						_, _ = c.Read(make([]byte, 4096))
						_, _ = io.WriteString(c, garbage)
						_ = c.Close()
					}()
				}
			}()
			for _, u := range []string{"http://127.0.0.1:9222", "ws://127.0.0.1:9222/devtools/browser/abc"} {
				_, err := transport.Dial(within(t), cdpURL(t, u), transport.DialOptions{HTTPClient: l.HTTPClient()})
				wantCode(t, err, messages.CodeUpstreamUnavailable)
			}
			_ = l.Close()
		}
	})
}

// FuzzResolve feeds arbitrary answers to discovery: it says an error of the
// contract, or an address that can be dialled and leaks no credential.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{
		`{"webSocketDebuggerUrl":"ws://127.0.0.1:9222/devtools/browser/x"}`, `{"webSocketDebuggerUrl":"wss://other.test/x?a=b"}`,
		`{"webSocketDebuggerUrl":"ws://user:pw@[::1]:1/%2f"}`, `{}`, `[]`, hostRefusal, `{"webSocketDebuggerUrl":"ws://LOCALHOST:x"}`,
	} {
		f.Add(200, s)
		f.Add(500, s)
	}
	const secret = "s3cr3t-t0ken"
	asked, err := messages.ParseCDPURL("http://user:" + secret + "@10.1.2.3:9222/?token=" + secret)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 999 {
			return
		}
		client := &http.Client{Transport: answers(func(*http.Request) (int, string) { return status, body })}
		got, err := transport.Resolve(t.Context(), asked, client)
		if err != nil {
			var e *messages.Error
			if !errors.As(err, &e) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v", err)
			}
			return
		}
		raw := got.Reveal()
		if !strings.HasPrefix(raw, "ws://") && !strings.HasPrefix(raw, "wss://") {
			t.Errorf("address %q", raw)
		}
		if strings.Contains(raw, secret) && !strings.Contains(raw, "@10.1.2.3:9222/") && !strings.Contains(body, secret) && !strings.Contains(raw, "10.1.2.3:9222") {
			t.Errorf("the credential went to another host: %q", raw)
		}
	})
}

// An endpoint that takes a question for a WebSocket's is refused: reading the connection
// that it gives instead ends with no context.
func TestDialRefusesAnUpgradeForAnAnswer(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn := handshake(t, w, r); conn != nil {
			<-done
			_ = conn.Close()
		}
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(l) }()
	defer func() { close(done); _ = srv.Close(); <-served }()
	_, err = transport.Resolve(t.Context(), cdpURL(t, "http://"+l.Addr().String()), nil)
	if wantCode(t, err, messages.CodeUpstreamUnavailable); !strings.Contains(err.Error(), "101") {
		t.Errorf("%v does not say what was answered", err)
	}
}

// TestM3: a broker on one port of this machine hands out browsers on others. What it
// says is changed, as for a tunnel, and the error says so.
func TestM3_AnAnswerThatWasChangedIsNamed(t *testing.T) {
	t.Parallel()
	broker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/json/version" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"webSocketDebuggerUrl":"ws://127.0.0.1:34567/devtools/browser/s3cr3t-t0ken-0123456789"}`)
	}))
	defer broker.Close()
	_, err := transport.Dial(t.Context(), cdpURL(t, broker.URL), transport.DialOptions{})
	wantCode(t, err, messages.CodeUpstreamUnavailable)
	for _, word := range []string{"404", "named port 34567", "dialled instead"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %q", err, word)
		}
	}
	if strings.Contains(fmt.Sprintf("%+v", err), "s3cr3t") {
		t.Errorf("the secret shows: %v", err)
	}
}

// TestSecurity10: what a redirect leads to gets neither the credential nor the
// request, where it is another party.
func TestSecurity10_RedirectsCarryNoCredential(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-t0ken-0123456789"
	serve := func(h http.HandlerFunc) (addr string) {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	var mu sync.Mutex
	var seen []string
	note := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprint(r.URL.Path, r.Header))
	}
	third := serve(func(_ http.ResponseWriter, r *http.Request) { note(r) })
	away := serve(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+third+"/landed", http.StatusFound)
	})
	home := serve(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/landed" {
			http.Redirect(w, r, "/landed", http.StatusFound)
			return
		}
		note(r)
	})
	for _, u := range []string{"http://user:pw@%s/red?token=", "ws://%s/wsr/" + secret + "?token="} {
		for _, host := range []string{away, home} {
			_, err := transport.Dial(t.Context(), cdpURL(t, fmt.Sprintf(u, host)+secret), transport.DialOptions{})
			if messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
				t.Errorf("%s: %v", u, err)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 2 { // those that stayed on the host
		t.Errorf("asked: %q", seen)
	}
	for _, s := range seen {
		if !strings.HasPrefix(s, "/landed") || strings.Contains(s, secret) || strings.Contains(s, "Referer") {
			t.Errorf("the redirect carried %q", s)
		}
	}
}

func TestBrowserMark(t *testing.T) {
	t.Parallel()
	b := newBrowser(t, (*peer).echo)
	m, again := b.dial(t, transport.DialOptions{}), b.dial(t, transport.DialOptions{})
	if m.Browser() == "" || m.Browser() != again.Browser() {
		t.Errorf("marks %q and %q of one browser", m.Browser(), again.Browser())
	}
	if strings.Contains(m.Browser(), "abc") {
		t.Errorf("the mark %q gives the browser's id away", m.Browser())
	}
}
