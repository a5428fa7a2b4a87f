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
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	found := map[string]string{}
	for _, f := range checkup.Run(ctx, u) {
		t.Logf("%-8s %-16s %s", f.Status, f.Check, f.Found)
		found[f.Check] = f.Status
		if f.Found == "" || (f.Mend != "") != (f.Status == checkup.Failed) {
			t.Errorf("%+v", f)
		}
	}
	if len(found) != 8 {
		t.Errorf("%d checks", len(found))
	}
	return found
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
	want(t, examine(t, b.Endpoint()), nil)
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
		// What the second connection answers is a pause then.
		"that dismisses dialogs":                                   {hosted.Options{DismissAfter: 10 * time.Millisecond}, []string{"native dialogs"}, nil},
		"that keeps the debugger to itself, and admits one client": {hosted.Options{Refuse: []string{"Debugger"}, Dials: 1}, []string{"debugger bridge", "anchor"}, nil},
		"that keeps requests to itself, and drops everybody when one leaves": {
			hosted.Options{Refuse: []string{"Fetch"}, DropOthers: true},
			[]string{"request bridge", "anchor"},
			[]string{"frames attach"},
		},
	} {
		t.Run(name, func(t *testing.T) {
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
