package chaos_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"holdfast/chaos"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	connected := func(name string, f func(t *testing.T, w *world, c *client, conn *chaos.Conn)) {
		bubble(t, name, func(t *testing.T) {
			w := open(t, chaos.Options{Pages: 1})
			c := w.dial()
			synctest.Wait()
			f(t, w, c, w.b.Connections()[0])
		})
	}
	const method = "Browser.getVersion"

	connected("a swallowed reply is lost once", func(t *testing.T, _ *world, c *client, conn *chaos.Conn) {
		conn.SwallowNextReply(method)
		first, second := c.send("", method, ""), c.send("", method, "")
		synctest.Wait()
		if c.replies(first) != 0 || c.replies(second) != 1 {
			t.Errorf("replies: %d and %d", c.replies(first), c.replies(second))
		}
	})

	connected("a duplicated reply comes twice", func(t *testing.T, _ *world, c *client, conn *chaos.Conn) {
		conn.DuplicateNextReply(method)
		first, second := c.send("", method, ""), c.send("", method, "")
		synctest.Wait()
		if c.replies(first) != 2 || c.replies(second) != 1 {
			t.Errorf("replies: %d and %d", c.replies(first), c.replies(second))
		}
	})

	connected("a delayed reply is overtaken", func(t *testing.T, _ *world, c *client, conn *chaos.Conn) {
		conn.DelayReplies(method, time.Minute)
		slow, fast := c.send("", method, ""), c.send("", "Target.getTargets", "")
		synctest.Wait()
		if c.replies(slow) != 0 || c.replies(fast) != 1 {
			t.Errorf("replies: %d and %d", c.replies(slow), c.replies(fast))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if c.replies(slow) != 1 {
			t.Error("the delayed reply never came")
		}
	})

	connected("a stalled connection goes on where it was", func(t *testing.T, w *world, c *client, conn *chaos.Conn) {
		conn.Stall()
		id := c.send("", method, "")
		synctest.Wait()
		if c.replies(id) != 0 || len(conn.Commands()) != 0 {
			t.Error("a stalled connection works")
		}
		conn.Resume()
		synctest.Wait()
		if c.replies(id) != 1 {
			t.Error("no reply after the stall")
		}
	})

	connected("a stalled connection can be dropped", func(t *testing.T, w *world, c *client, conn *chaos.Conn) {
		conn.Stall()
		c.send("", method, "")
		conn.Drop()
		<-c.done
		if got := len(w.b.Connections()); got != 0 {
			t.Errorf("%d connections", got)
		}
	})

	connected("a close frame has its code", func(t *testing.T, w *world, _ *client, conn *chaos.Conn) {
		ws, _, err := websocket.Dial(t.Context(), w.b.URL("browser.test"), &websocket.DialOptions{HTTPClient: w.listener.HTTPClient()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = ws.CloseNow() }()
		synctest.Wait()
		go w.b.Connections()[1].Close(websocket.StatusGoingAway, "bye")
		_, _, err = ws.Read(t.Context())
		if websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("read: %v", err)
		}
		synctest.Wait()
	})

	connected("what is sent raw arrives raw", func(t *testing.T, _ *world, c *client, conn *chaos.Conn) {
		conn.SendRaw([]byte("}{"))
		synctest.Wait()
		if all := c.all(); len(all) != 1 || all[0].raw != "}{" {
			t.Errorf("heard %v", all)
		}
	})

	connected("a refused dial and a dead browser look the same", func(t *testing.T, w *world, _ *client, _ *chaos.Conn) {
		dial := func() error {
			ws, _, err := websocket.Dial(t.Context(), w.b.URL("browser.test"), &websocket.DialOptions{HTTPClient: w.listener.HTTPClient()})
			if err == nil {
				_ = ws.CloseNow()
			}
			return err
		}
		w.b.RefuseConnections(true)
		if dial() == nil {
			t.Error("dialled while refused")
		}
		w.b.RefuseConnections(false)
		if err := dial(); err != nil {
			t.Errorf("dial: %v", err)
		}
		w.b.Kill()
		if dial() == nil {
			t.Error("dialled a dead browser")
		}
	})

	connected("commands are remembered in order", func(t *testing.T, _ *world, c *client, conn *chaos.Conn) {
		c.send("", method, "")
		c.send("", "Target.getTargets", "{}")
		synctest.Wait()
		got := conn.Received("")
		if len(got) != 2 || got[0] != method || got[1] != "Target.getTargets" {
			t.Errorf("got %v", got)
		}
	})
}
