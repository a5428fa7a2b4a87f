package recordings

import (
	"encoding/json"
	"flag"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"holdfast/chaos"
	"holdfast/internal/chromiumtest"
	"holdfast/transport"
)

var record = flag.Bool("record", false, "drive a real Chromium and rewrite testdata")

func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }

func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if *record {
				save(t, s.name, playReal(t, s, nil))
			}
			synctest.Test(t, func(t *testing.T) {
				compare(t, s, load(t, s.name), playFake(t, s))
			})
		})
	}
}

// TestRecordingsAreFresh holds the files to the Chromium that is installed.
func TestRecordingsAreFresh(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		switch s.name {
		case "oopif", "dialog-in-oopif", "dropped-dialog":
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				recorded := load(t, s.name)
				compare(t, s, recorded, playReal(t, s, dueBy(recorded)))
			})
		}
	}
}

func compare(t *testing.T, s scenario, recorded, played []entry) {
	t.Helper()
	want, got := streams(t, s, recorded), streams(t, s, played)
	for name := range got {
		if want[name] == nil {
			want[name] = []string{}
		}
	}
	for name := range want {
		if diff := cmp.Diff(want[name], got[name], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("connection and session %q, recorded (-) and played (+):\n%s", name, diff)
		}
	}
}

// playFake plays s against the fake. It must be called inside a bubble.
func playFake(t *testing.T, s scenario) []entry {
	t.Helper()
	b := chaos.New(chaos.Options{Seed: 1, Pages: 1})
	listener := transport.NewPipeListener()
	server := &http.Server{Handler: b}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		b.Close()
		_ = server.Close()
		_ = listener.Close()
		served.Wait()
	})
	st := &stage{
		dial:  dialer(t, b.URL("browser.test"), listener.HTTPClient()),
		url:   func(text string) string { return text },
		quiet: time.Second,
		got:   map[string]int{},
		noted: synctest.Wait,
	}
	s.play(t, st)
	if b.IsDead() != s.kills {
		t.Errorf("browser dead: %v, want %v", b.IsDead(), s.kills)
	}
	return st.finish(t, func(text string) string { return text })
}

// playReal plays s against a Chromium of its own with one empty tab, in the steps of
// an earlier recording if there is one.
func playReal(t *testing.T, s scenario, due *due) []entry {
	t.Helper()
	site := chromiumtest.Serve(t)
	for _, title := range []string{"p", "q", "x", "y", "n", "child", "back", "pop"} {
		site.Set("/"+title, "<!doctype html><title>"+title+"</title>")
	}
	b := chromiumtest.Launch(t, "--disable-popup-blocking")
	oneEmptyTab(t, b.WS())
	st := &stage{dial: dialer(t, b.WS(), nil), url: site.URL, quiet: 300 * time.Millisecond, due: due, got: map[string]int{}}
	st.noted = func() {} // Chromium has long done that when a new connection is there
	s.play(t, st)
	rest := time.NewTimer(st.quiet) // the last step may have brought more than is due
	<-rest.C
	if s.kills {
		select {
		case <-b.Exited():
		case <-time.After(chromiumtest.Patience):
			t.Error("the browser survived")
		}
	}
	return st.finish(t, site.Written)
}

func oneEmptyTab(t *testing.T, url string) {
	t.Helper()
	c := chromiumtest.Dial(t, url)
	defer c.Close()
	var before struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	decode(t, c.Must("", "Target.getTargets", nil), &before)
	created := chromiumtest.Field(c.Must("", "Target.createTarget", map[string]any{"url": "about:blank"}), "targetId")
	for _, target := range before.TargetInfos {
		if target.Type == "page" {
			c.Must("", "Target.closeTarget", map[string]any{"targetId": target.TargetID})
		}
	}
	for {
		var now struct {
			TargetInfos []struct{ TargetID, Type, Title string }
		}
		decode(t, c.Must("", "Target.getTargets", nil), &now)
		pages, titled := 0, false
		for _, target := range now.TargetInfos {
			if target.Type == "page" || target.Type == "other" {
				pages++
				titled = target.TargetID == created && target.Title == "about:blank"
			}
		}
		if pages == 1 && titled {
			return
		}
	}
}

func decode(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}
