package chaos_test

import (
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"

	"holdfast/chaos"
)

// A process that tests thousands of tasks has one Browser per task with two
// connections each; the fake may not be what fills its memory.
func TestManyBrowsersAreCheap(t *testing.T) {
	const browsers = 500
	synctest.Test(t, func(t *testing.T) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		worlds := make([]*chaos.Browser, browsers)
		for i := range worlds {
			worlds[i] = chaos.New(chaos.Options{Seed: uint64(i), Pages: 2})
			for _, p := range worlds[i].Pages() {
				worlds[i].AddFrame(worlds[i].MainFrame(p.Target), "http://b.test/"+strconv.Itoa(i))
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if per := (after.HeapAlloc - before.HeapAlloc) / browsers; per > 8<<10 {
			t.Errorf("%d bytes per browser of two pages and two frames", per)
		}
		for _, b := range worlds {
			b.Close()
		}
	})
}

// Over a real socket: what the fake costs a measurement that stands on it.
func BenchmarkRoundTrip(b *testing.B) {
	browser := chaos.New(chaos.Options{Pages: 1})
	defer browser.Close()
	server := httptest.NewServer(browser)
	defer server.Close()
	ws, _, err := websocket.Dial(b.Context(), browser.URL(server.Listener.Addr().String()), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	message := []byte(`{"id":1,"method":"Browser.getVersion"}`)
	for b.Loop() {
		if err := ws.Write(b.Context(), websocket.MessageText, message); err != nil {
			b.Fatal(err)
		}
		if _, _, err := ws.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
