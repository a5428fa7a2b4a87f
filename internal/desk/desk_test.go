package desk_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/anthdm/hollywood/actor"
	"github.com/anthdm/hollywood/remote"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"holdfast/internal/desk"
	"holdfast/messages/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// program is a program on stock hollywood beside a desk whose node is a handler.
type program struct {
	*actor.Engine
	t    *testing.T
	door *actor.PID
}

func open(t *testing.T, h http.HandlerFunc) program {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d, err := desk.Open(desk.Config{
		Listener: l, Address: l.Addr().String(), Log: slog.New(slog.DiscardHandler),
		Do: func(r *http.Request) (*http.Response, error) {
			pr := httptest.NewRecorder()
			h(pr, r)
			return pr.Result(), r.Context().Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = free.Close()
	r := remote.New(free.Addr().String(), remote.NewConfig())
	e, err := actor.NewEngine(actor.NewEngineConfig().WithRemote(r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
		r.Stop().Wait()
	})
	return program{e, t, actor.NewPID(l.Addr().String(), desk.Alias)}
}

func (p program) ask(m proto.Message) proto.Message {
	p.t.Helper()
	got, err := p.Request(p.door, m, patience).Result()
	if err != nil {
		p.t.Fatal(err)
	}
	return got.(proto.Message)
}

// TestRequestsBecomeThoseOfHTTP: each message, and its form in JSON.
func TestRequestsBecomeThoseOfHTTP(t *testing.T) {
	p := open(t, func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		if r.Body != nil {
			buf := make([]byte, 1<<10)
			n, _ := r.Body.Read(buf)
			body.Write(buf[:n])
		}
		fmt.Fprintf(w, `{"saw":%q}`, r.Method+" "+r.URL.RequestURI()+" "+body.String())
	})
	text, wait := "yes", 0.0
	for _, c := range []struct {
		msg  proto.Message
		want string
	}{
		{&wire.Start{TaskId: "a", Json: []byte(`{"launch":true}`)}, `PUT /v1/tasks/a {"launch":true}`},
		{&wire.Stop{TaskId: "a"}, "DELETE /v1/tasks/a "},
		{&wire.Get{TaskId: "a"}, "GET /v1/tasks/a "},
		{&wire.List{Labels: map[string]string{"k": "v w"}}, "GET /v1/tasks?label=k%3Dv+w "},
		{&wire.Snapshot{TaskId: "a", TargetId: "T", Full: true}, "GET /v1/tasks/a/snapshot?full=true&target_id=T "},
		{&wire.Answer{TaskId: "a", Action: "accept", PromptText: &text, DialogId: "d", By: "human"}, `POST /v1/tasks/a/dialog {"action":"accept","prompt_text":"yes","dialog_id":"d","by":"human"}`},
		{&wire.Navigate{TaskId: "a", Url: "http://x/", WaitUntil: "commit", TimeoutS: 2, WaitS: &wait}, `POST /v1/tasks/a/navigate {"url":"http://x/","wait_until":"commit","timeout_s":2,"wait_s":0}`},
		{&wire.CDP{TaskId: "a", Method: "X.y", Params: []byte(`{"n":1}`), FrameId: "F"}, `POST /v1/tasks/a/cdp {"method":"X.y","params":{"n":1},"frame_id":"F"}`},
		{&wire.Recover{TaskId: "a", Action: "reload"}, `POST /v1/tasks/a/recover {"action":"reload"}`},
	} {
		want := fmt.Sprintf(`{"saw":%q}`, c.want)
		c.msg.ProtoReflect().Set(c.msg.ProtoReflect().Descriptor().Fields().ByName("request_id"), protoreflect.ValueOfString("7"))
		r, ok := p.ask(c.msg).(*wire.Reply)
		if !ok || r.GetRequestId() != "7" || string(r.GetJson()) != want || r.GetError() != nil {
			t.Errorf("%T: %v, want %s", c.msg, r, want)
		}
	}
	in := wrapperspb.Bytes([]byte(`{"ask":"navigate","request_id":"8","task_id":"a","body":{"url":"http://x/"}}`))
	if got := string(p.ask(in).(*wrapperspb.BytesValue).GetValue()); got != `{"request_id":"8","result":{"saw":"POST /v1/tasks/a/navigate {\"url\":\"http://x/\"}"}}` {
		t.Error(got)
	}
}

// TestErrorsAreThoseOfTheContract: the node's own, and those of what is no request.
func TestErrorsAreThoseOfTheContract(t *testing.T) {
	p := open(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/big"):
			_, _ = w.Write(make([]byte, 5<<20))
		case strings.HasSuffix(r.URL.Path, "/panic"):
			panic("planted")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"task_not_found","message":"no","details":{"task_id":"a","sent":false}}}`)
		}
	})
	for _, c := range []struct {
		msg  proto.Message
		code string
	}{
		{&wire.Stop{TaskId: "a"}, "task_not_found"},
		{&wire.Stop{TaskId: "a/b"}, "invalid_argument"},
		{&wire.Stop{}, "invalid_argument"},
		{&wire.CDP{TaskId: "a", Params: []byte("{")}, "invalid_argument"},
		{&wire.Unwatch{}, "invalid_argument"},
		{&wire.Get{TaskId: "big"}, "message_too_large"},
		{&wire.Get{TaskId: "panic"}, "internal"},
		{&wire.Get{RequestId: strings.Repeat("x", 129), TaskId: "a"}, "invalid_argument"},
	} {
		if r, ok := p.ask(c.msg).(*wire.Reply); !ok || r.GetError().GetCode() != c.code || len(r.GetRequestId()) > 128 {
			t.Errorf("%v: %v, want %s", c.msg, r, c.code)
		}
	}
	r := p.ask(&wire.Stop{TaskId: "a"}).(*wire.Reply)
	if got := string(r.GetError().GetJson()); got != `{"sent":false,"task_id":"a"}` {
		t.Error(got)
	}
	for _, bad := range []string{``, `[]`, `{"ask":"nothing"}`, `{"ask":"stop","task_id":"a","more":1}`, `{"ask":"stop","task_id":"a"}{}`} {
		got := string(p.ask(wrapperspb.Bytes([]byte(bad))).(*wrapperspb.BytesValue).GetValue())
		if !strings.Contains(got, `"code":"invalid_argument"`) {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

// TestAWatchIsAnsweredOnceAtItsEnd: its events come before.
func TestAWatchIsAnsweredOnceAtItsEnd(t *testing.T) {
	p := open(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "id: 1\ndata: {\"type\":\"reset\",\"version\":%s}\n\n: silence\n\ndata: {\"type\":\"task_state\",\"version\":9}\n\n", r.Header.Get("Last-Event-ID"))
	})
	said := make(chan any, 16)
	watcher := p.SpawnFunc(func(c *actor.Context) {
		if m, ok := c.Message().(proto.Message); ok {
			said <- m
		}
	}, "watcher")
	after := uint64(4)
	p.SendWithSender(p.door, &wire.Watch{RequestId: "w", TaskId: "a", After: &after}, watcher)
	next := func() any {
		select {
		case m := <-said:
			return m
		case <-time.After(patience):
			t.Fatal("nothing comes")
			return nil
		}
	}
	for _, version := range []uint64{4, 9} {
		if e, ok := next().(*wire.Event); !ok || e.GetVersion() != version || e.GetRequestId() != "w" {
			t.Errorf("%v, want version %d", e, version)
		}
	}
	if r, ok := next().(*wire.Reply); !ok || r.GetError() != nil || r.GetRequestId() != "w" {
		t.Error(r)
	}
}
