package checkup_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/chaos/hosted"
	"holdfast/internal/checkup"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }

func examine(t *testing.T, u messages.CDPURL) map[string]string {
	t.Helper()
	found, _ := examineAll(t, u)
	return found
}

// examineAll also returns the longest message that came through.
func examineAll(t *testing.T, u messages.CDPURL) (found map[string]string, maxMiB int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	found = map[string]string{}
	for _, f := range checkup.Run(ctx, u) {
		t.Logf("%-8s %-16s %s", f.Status, f.Check, f.Found)
		found[f.Check] = f.Status
		if maxMiB += f.MaxMessageMiB; f.MaxMessageMiB != 0 && f.Check != "message size" {
			t.Errorf("%+v", f)
		}
		if f.Found == "" || (f.Mend != "") != (f.Status == checkup.Failed) {
			t.Errorf("%+v", f)
		}
	}
	if len(found) != 8 {
		t.Errorf("%d checks", len(found))
	}
	return found, maxMiB
}

// want holds the findings to what has failed, and to what was skipped; all else is ok.
func want(t *testing.T, found map[string]string, failed []string, skipped ...string) {
	t.Helper()
	for check, status := range found {
		expected := checkup.OK
		switch {
		case slices.Contains(failed, check):
			expected = checkup.Failed
		case slices.Contains(skipped, check):
			expected = checkup.Skipped
		}
		if status != expected {
			t.Errorf("%s: %s, want %s", check, status, expected)
		}
	}
}

func TestABrowserThatIsReachedDirectly(t *testing.T) {
	b := chromiumtest.Launch(t)
	c := chromiumtest.Dial(t, b.WS())
	c.Must("", "Target.setDiscoverTargets", map[string]any{"discover": true})
	created := chromiumtest.On("", "Target.targetCreated")
	before := len(c.Events(created))
	// The popups of another client run meanwhile, and their openers (C33).
	user := c.NewPage("")
	done, ran := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				ran <- n
				return
			default:
			}
			if _, err := c.Call(user.Session, "Runtime.evaluate", map[string]any{"expression": "const w = window.open(''); w.opener = null; w.close(); 1", "userGesture": true, "replMode": true}); err != nil {
				t.Errorf("popup %d of somebody else's: %v", n, err)
			}
		}
	}()
	found, maxMiB := examineAll(t, b.Endpoint())
	close(done)
	if n := <-ran; n < 10 {
		t.Errorf("%d popups of somebody else's ran", n)
	}
	user.CloseTarget()
	want(t, found, nil)
	if maxMiB != 48 {
		t.Errorf("messages of %d MiB", maxMiB)
	}
	// Every page that came has gone.
	for _, e := range c.Events(created)[before:] {
		if info := json.RawMessage(e.Param("targetInfo")); chromiumtest.Field(info, "type") == "page" {
			c.NextWhere("the end of the tab", func(e chromiumtest.Event) bool {
				return chromiumtest.On("", "Target.targetDestroyed")(e) && e.Param("targetId") == chromiumtest.Field(info, "targetId")
			})
		}
	}
}

func TestAHostedBrowser(t *testing.T) {
	for name, c := range map[string]struct {
		options         hosted.Options
		failed, skipped []string
	}{
		// A session that the browser would hold popups for is not to be had.
		"that does not attach by itself": {
			hosted.Options{Refuse: []string{"Target.setAutoAttach"}},
			[]string{"auto-attach"},
			[]string{"native dialogs", "debugger bridge", "request bridge", "frames attach", "message size", "anchor"},
		},
		"whose own client holds popups as well":             {hosted.Options{DismissAfter: 10 * time.Millisecond, HasHolder: true}, []string{"native dialogs"}, nil},
		"that has a debugger, and not what makes it deaf":   {hosted.Options{Refuse: []string{"Debugger.setBlackboxPatterns"}}, []string{"debugger bridge"}, nil},
		"that has a debugger, and lets nobody add a script": {hosted.Options{Refuse: []string{"Page.addScriptToEvaluateOnNewDocument"}}, []string{"debugger bridge"}, nil},
		// What the second connection answers is a request then, or nothing.
		"that leaves requests alone to make a page wait": {
			hosted.Options{DismissAfter: 10 * time.Millisecond, Refuse: []string{"Debugger"}},
			[]string{"native dialogs", "debugger bridge"},
			nil,
		},
		"that leaves nothing to make a page wait": {
			hosted.Options{DismissAfter: 10 * time.Millisecond, Refuse: []string{"Debugger", "Fetch"}},
			[]string{"native dialogs", "debugger bridge", "request bridge"},
			[]string{"frames attach", "anchor"},
		},
		// What the second connection answers is a pause then.
		"that dismisses dialogs":                                   {hosted.Options{DismissAfter: 10 * time.Millisecond}, []string{"native dialogs"}, nil},
		"that keeps the debugger to itself, and admits one client": {hosted.Options{Refuse: []string{"Debugger"}, Dials: 1}, []string{"debugger bridge", "anchor"}, nil},
		"that keeps requests to itself, and drops everybody when one leaves": {
			hosted.Options{Refuse: []string{"Fetch"}, DoesDropOthers: true},
			[]string{"request bridge", "anchor"},
			[]string{"frames attach"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.options.Dials == 0 && !c.options.DoesDropOthers {
				c.options.MaxMessage = 4 << 20 // longer ones take seconds, and are tried elsewhere
			}
			service, err := hosted.New(chromiumtest.Shared(t).WS(), c.options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(service.Close)
			u, err := messages.ParseCDPURL(service.Open().URL())
			if err != nil {
				t.Fatal(err)
			}
			want(t, examine(t, u), c.failed, c.skipped...)
		})
	}
}

// A message that is too long for a service ends the connection: what comes after is tried
// all the same.
func TestAServiceThatCarriesNoLongMessages(t *testing.T) {
	service, err := hosted.New(chromiumtest.Shared(t).WS(), hosted.Options{MaxMessage: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	u, err := messages.ParseCDPURL(service.Open().URL())
	if err != nil {
		t.Fatal(err)
	}
	found, maxMiB := examineAll(t, u)
	want(t, found, nil)
	if maxMiB != 1 {
		t.Errorf("messages of %d MiB", maxMiB)
	}
}

func TestNothingThere(t *testing.T) {
	u, err := messages.ParseCDPURL("ws://127.0.0.1:1/devtools/browser/x")
	if err != nil {
		t.Fatal(err)
	}
	found := examine(t, u)
	if found["connection"] != checkup.Failed || found["anchor"] != checkup.Skipped {
		t.Error(found)
	}
}
