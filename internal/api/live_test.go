package api_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/messages"
)

func TestTreeRoute(t *testing.T) {
	t.Parallel()
	var got messages.TreeOptions
	b := setup(t, &apitest.Node{TreeFunc: func(o messages.TreeOptions) messages.Tree {
		got = o
		return messages.Tree{At: 1650000000, Root: messages.TreeNode{Kind: "registry", Key: "node", Generation: 2, State: messages.ActorRunning, StartedAt: 1650000000}}
	}})
	b.wantJSON(b.call("GET", "/v1/tree?task_id=one&depth=2", ""), 200,
		`{"at":1650000000,"root":{"kind":"registry","key":"node","generation":2,"state":"running","started_at":1650000000,"restarts":0,"mailbox":0},"truncated":false}`)
	if got.Task != "one" || got.Depth != 2 || !got.Allows("anything") {
		t.Errorf("%+v", got)
	}
	r := b.request("GET", "/v1/tree", "")
	r.Header.Set("Authorization", "Bearer "+b.admin.ForTask("one"))
	if w := b.do(r); w.Code != 200 || got.Allows("two") || !got.Allows("one") {
		t.Error(w.Code, "a token sees more than its task")
	}
	for _, path := range []string{"/v1/tree?task_id=two", "/v1/live?task_id=two"} {
		r := b.request("GET", path, "")
		r.Header.Set("Authorization", "Bearer "+b.admin.ForTask("one"))
		b.wantError(b.do(r), http.StatusForbidden, messages.CodeForbidden)
	}
	if len(b.node.Renewals()) != 0 {
		t.Error("whoever looks on renews no lease")
	}
}

// heard is one server-sent event.
type heard struct{ name, data string }

// listen reads a live stream in the test's bubble; what has been said since the
// last call comes once everything is quiet.
func listen(t *testing.T, b *bench, path string) (since func() []heard) {
	l, _ := b.serve()
	c := b.open(l, "GET", path)
	var mu sync.Mutex
	var said []heard
	go func() {
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return
		}
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		var e heard
		for lines.Scan() {
			switch line := lines.Text(); {
			case line == "" && e != (heard{}):
				mu.Lock()
				said = append(said, e)
				mu.Unlock()
				e = heard{}
			case strings.HasPrefix(line, "event: "):
				e.name = line[7:]
			case strings.HasPrefix(line, "data: "):
				e.data = line[6:]
			case strings.HasPrefix(line, ": "):
				e.name = line
			}
		}
	}()
	return func() []heard {
		time.Sleep(time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		out := said
		said = nil
		return out
	}
}

func names(list []heard) string {
	var out []string
	for _, e := range list {
		out = append(out, e.name)
	}
	return strings.Join(out, " ")
}

func tasksOf(t *testing.T, e heard) (out messages.LiveTasks) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &out); err != nil || e.name != "tasks" {
		t.Fatal(e, err)
	}
	return out
}

func TestLiveStream(t *testing.T) {
	t.Parallel()
	active := func(id messages.TaskID, version uint64) *messages.Snapshot {
		s := apitest.Active(id)
		s.Version = version
		return s
	}
	t.Run("everything first, then what changes, and nothing while nothing does", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var list atomic.Pointer[[]*messages.Snapshot]
			one := active("one", 1)
			list.Store(&[]*messages.Snapshot{one, active("two", 1)})
			b := setup(t, &apitest.Node{ListFunc: func() []*messages.Snapshot { return *list.Load() }}, func(c *api.Config) { c.Version = "v9" })
			since := listen(t, b, "/v1/live")
			first := since()
			if names(first) != ": connected node tasks" || !strings.Contains(first[1].data, `"version":"v9"`) || !strings.Contains(first[1].data, `"ready":true`) {
				t.Fatal(first)
			}
			if got := tasksOf(t, first[2]); !got.All || len(got.Tasks) != 2 {
				t.Fatal(got)
			}
			if more := since(); len(more) != 0 {
				t.Fatal("nothing has changed:", more)
			}
			if n := b.handler.Calls(); n != 0 {
				t.Errorf("the end of the node would wait for %d calls", n)
			}
			list.Store(&[]*messages.Snapshot{one, active("three", 1)})
			if got := tasksOf(t, since()[0]); got.All || len(got.Tasks) != 1 || got.Tasks[0].TaskID != "three" || len(got.Gone) != 1 || got.Gone[0] != "two" {
				t.Fatal(got)
			}
			time.Sleep(20 * time.Second)
			if got := names(since()); got != ": still here" {
				t.Fatal(got)
			}
			b.handler.CloseStreams()
		})
	})
	t.Run("a token's tasks are all it hears of", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t, &apitest.Node{List: []*messages.Snapshot{active("one", 1), active("two", 1)}})
			r := b.request("GET", "/v1/live", "")
			r.Header.Set("Authorization", "Bearer "+b.admin.ForTask("two"))
			b.handler.CloseStreams()
			if w := b.do(r); w.Code != 200 || strings.Contains(w.Body.String(), `"one"`) || !strings.Contains(w.Body.String(), `"task_id":"two"`) || !strings.Contains(w.Body.String(), `"scope":"task two"`) {
				t.Fatal(w.Code, w.Body)
			}
		})
	})
	t.Run("the task it follows comes whole, with its events and its actors, and its end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var now atomic.Pointer[messages.Snapshot]
			now.Store(active("one", 4))
			restarts := atomic.Int64{}
			node := &apitest.Node{
				SnapshotFunc: func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error) {
					if s := now.Load(); s != nil {
						return s, nil
					}
					return nil, messages.Errorf(messages.CodeTaskNotFound, "gone")
				},
				ChangesFunc: func(_ messages.TaskID, after uint64) (out []messages.Event, err error) {
					for v := after + 1; v <= now.Load().Version; v++ {
						out = append(out, messages.Event{Type: messages.EventFrames, Version: v})
					}
					return out, nil
				},
				TreeFunc: func(messages.TreeOptions) messages.Tree {
					return messages.Tree{At: messages.SecondsOf(time.Now()), Root: messages.TreeNode{Restarts: int(restarts.Load())}}
				},
			}
			b := setup(t, node)
			since := listen(t, b, "/v1/live?task_id=one")
			versions := func(e heard) (out []uint64) {
				var l messages.LiveTask
				if err := json.Unmarshal([]byte(e.data), &l); err != nil || e.name != "task" {
					t.Fatal(e, err)
				}
				for _, e := range l.Events {
					out = append(out, e.Version)
				}
				return out
			}
			first := since()
			if names(first) != ": connected node tasks task tree" || len(versions(first[3])) != 4 {
				t.Fatal(first)
			}
			now.Store(active("one", 6))
			if got := since(); names(got) != "task" || len(versions(got[0])) != 2 {
				t.Fatal(got)
			}
			restarts.Store(1)
			time.Sleep(time.Second)
			if got := since(); names(got) != "tree" {
				t.Fatal("an actor that restarts changes no snapshot:", got)
			}
			now.Store(active("one", 2))
			if got := since(); names(got) != "task" || len(versions(got[0])) != 2 {
				t.Fatal("its successor's events are all new:", got)
			}
			now.Store(nil)
			if got := since(); names(got) != "task" || strings.Contains(got[0].data, "snapshot") {
				t.Fatal(got)
			}
			if len(b.node.Renewals()) != 0 {
				t.Error("whoever looks on renews no lease")
			}
			b.handler.CloseStreams()
		})
	})
	t.Run("the clients of the task it follows come once there is one, and as they change", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			now := active("one", 4)
			node := &apitest.Node{SnapshotFunc: func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error) { return now, nil }}
			clients := &clientList{}
			b := setup(t, node, func(c *api.Config) { c.Gateway = clients })
			since := listen(t, b, "/v1/live?task_id=one")
			if first := since(); names(first) != ": connected node tasks task tree" {
				t.Fatal(first)
			}
			clients.list.Store(&[]messages.Client{{ClientID: "c-1", Name: "scraper"}})
			time.Sleep(time.Second)
			if got := since(); names(got) != "clients" || !strings.Contains(got[0].data, `"task_id":"one"`) || !strings.Contains(got[0].data, `"name":"scraper"`) {
				t.Fatal(got)
			}
			time.Sleep(time.Second)
			if got := since(); len(got) != 0 {
				t.Fatal("they have not changed:", got)
			}
			clients.list.Store(&[]messages.Client{})
			time.Sleep(time.Second)
			if got := since(); names(got) != "clients" || !strings.Contains(got[0].data, `"clients":[]`) {
				t.Fatal(got)
			}
			b.handler.CloseStreams()
		})
	})
	t.Run("a node that stops taking tasks says so", func(t *testing.T) {
		t.Parallel()
		b := setup(t, &apitest.Node{
			CheckList: []messages.Check{{Name: "room", Reason: "full"}, {Name: "browser", OK: true}},
			Load:      messages.Pressure{Running: 3, Draining: true, Memory: messages.Load{Used: 0.12345, UsedBytes: 99}},
		})
		b.handler.CloseStreams()
		if w := b.call("GET", "/v1/live", ""); !strings.Contains(w.Body.String(), `"ready":false,"checks":[{"name":"room","ok":false,"reason":"full"}],"pressure":{"available":false,"retry_after_s":0,"draining":true,"running":3,`) || !strings.Contains(w.Body.String(), `"used":0.12,`) {
			t.Fatal(w.Body)
		}
	})
}

// clientList is a gateway of which a test says who is connected.
type clientList struct {
	apitest.Gateway
	list atomic.Pointer[[]messages.Client]
}

func (c *clientList) Clients(messages.TaskID) messages.ClientList {
	l := messages.ClientList{Mode: messages.ClientsShared, Clients: []messages.Client{}}
	if now := c.list.Load(); now != nil {
		l.Clients = *now
	}
	return l
}
