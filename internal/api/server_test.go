package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/messages"
)

func TestShutdown(t *testing.T) {
	t.Parallel()
	t.Run("it ends event streams and lets a call finish", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t, &apitest.Node{
				WatchFunc: func(context.Context, uint64, bool) (messages.EventStream, error) {
					return &apitest.Stream{IsBlocking: true}, nil
				},
				NavigateFunc: func(r messages.NavigateRequest) (messages.NavigateResult, error) {
					time.Sleep(3 * time.Second)
					return messages.NavigateResult{URL: r.URL}, nil
				},
			})
			l, s := b.serve()
			stream := b.open(l, "GET", "/v1/tasks/one/events")
			call := b.open(l, "POST", "/v1/tasks/one/navigate", "Content-Length: 18\r\n")
			fmt.Fprint(call, `{"url":"http://x"}`)
			answers := make(chan int, 2)
			for _, c := range []net.Conn{stream, call} {
				go func() {
					res, err := http.ReadResponse(bufio.NewReader(c), nil)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					answers <- res.StatusCode
				}()
			}
			synctest.Wait()
			start := time.Now()
			if err := api.Shutdown(t.Context(), s); err != nil {
				t.Error(err)
			}
			if d := time.Since(start); d < 3*time.Second || d > 5*time.Second {
				t.Error("took", d)
			}
			if a, b := <-answers, <-answers; a != 200 || b != 200 {
				t.Error(a, b)
			}
		})
	})
	t.Run("what does not finish is cut", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			gone := make(chan struct{})
			b := setup(t, &apitest.Node{GetOrStartFunc: func(ctx context.Context, _ messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
				<-ctx.Done()
				close(gone)
				return nil, false, ctx.Err()
			}})
			l, s := b.serve()
			b.open(l, "PUT", "/v1/tasks/one")
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := api.Shutdown(ctx, s); err == nil {
				t.Error("no word of it")
			}
			<-gone
		})
	})
}

func TestSlowRequestsAreCut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent string
		want time.Duration
	}{
		"a header that never ends": {"GET /livez HTTP/1.1\r\nHost: loc", 5 * time.Second},
		"a body that never comes":  {"POST /v1/tasks/one/dialog HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 10\r\n\r\n{", 30 * time.Second},
		"a body nobody asked for":  {"GET /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{", 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, &apitest.Node{})
				l, _ := b.serve()
				conn := l.dial()
				defer conn.Close()
				start := time.Now()
				fmt.Fprint(conn, strings.Replace(c.sent, "%s", b.admin.Reveal(), 1))
				_, _ = io.Copy(io.Discard, conn)
				if d := time.Since(start); d < c.want || d > c.want+time.Second {
					t.Error("cut after", d)
				}
			})
		})
	}
	t.Run("a slow answer is not", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t, &apitest.Node{NavigateFunc: func(r messages.NavigateRequest) (messages.NavigateResult, error) {
				time.Sleep(299 * time.Second)
				return messages.NavigateResult{URL: r.URL}, nil
			}})
			l, _ := b.serve()
			c := b.open(l, "POST", "/v1/tasks/one/navigate", "Content-Length: 18\r\n")
			fmt.Fprint(c, `{"url":"http://x"}`)
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || res.StatusCode != 200 {
				t.Error(res, err)
			}
			if n := len(b.node.Renewals()); n != 2 {
				t.Errorf("a long call renews the lease at both ends, not %d times", n)
			}
		})
	})
}

// A start may wait longer for a place than a body may take to arrive, or an answer
// to be written.
func TestX4NothingCutsALongWait(t *testing.T) {
	t.Parallel()
	for name, body := range map[string][2]string{
		"no body":    {"", ""},
		"of length":  {"Content-Length: 2\r\n", "{}"},
		"in chunks":  {"Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"},
		"no chunks":  {"Transfer-Encoding: chunked\r\n", "0\r\n\r\n"},
		"with space": {"Content-Length: 3\r\n", "{} "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, &apitest.Node{GetOrStartFunc: func(ctx context.Context, id messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
					select {
					case <-time.After(messages.MaxQueueTimeout):
						return apitest.Active(id), true, nil
					case <-ctx.Done():
						return nil, false, ctx.Err()
					}
				}})
				l, _ := b.serve()
				c := b.open(l, "PUT", "/v1/tasks/one", body[0])
				fmt.Fprint(c, body[1])
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil || res.StatusCode != http.StatusCreated {
					t.Error(res, err)
				}
			})
		})
	}
}

func TestACallerThatGoesCancelsItsCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		b := setup(t, &apitest.Node{GetOrStartFunc: func(ctx context.Context, _ messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
			<-ctx.Done()
			close(gone)
			return nil, false, ctx.Err()
		}})
		l, _ := b.serve()
		c := b.open(l, "PUT", "/v1/tasks/one", "Content-Length: 2\r\n")
		fmt.Fprint(c, "{}")
		synctest.Wait()
		c.Close()
		<-gone
		synctest.Wait()
		if strings.Contains(b.log.String(), `"level":"ERROR"`) {
			t.Error("that is no error of ours:", b.log)
		}
	})
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := newPipeListener()
		l := gate.Limit(inner, 2, nil)
		defer l.Close()
		accepted := make(chan net.Conn, 8)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					close(accepted)
					return
				}
				accepted <- c
			}
		}()
		clients := []net.Conn{inner.dial(), inner.dial(), inner.dial()}
		synctest.Wait()
		if len(accepted) != 2 {
			t.Fatalf("%d accepted", len(accepted))
		}
		if _, err := clients[2].Read(make([]byte, 1)); err == nil {
			t.Fatal("the third was kept waiting")
		}
		first := <-accepted
		first.Close()
		first.Close() // a second close frees nothing more
		clients = append(clients, inner.dial(), inner.dial())
		synctest.Wait()
		if len(accepted) != 2 {
			t.Fatalf("%d open after one went and two came", len(accepted))
		}
		for _, c := range clients {
			c.Close()
		}
	})
}
