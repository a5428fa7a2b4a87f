package facts_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/chromiumtest"
)

// silence is how long a command must stay without a reply to be called
// hanging; what answers at all under a dialog does so in a few milliseconds.
const silence = 700 * time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }

// params are the parameters of a CDP command.
type params = map[string]any

var on = chromiumtest.On

// stage is a site and a client of the shared browser.
func stage(t *testing.T) (*chromiumtest.Site, *chromiumtest.Raw) {
	t.Helper()
	return chromiumtest.Serve(t), chromiumtest.Dial(t, chromiumtest.Shared(t).WS())
}

// ownStage is stage with a browser of its own: for facts that crash it, and
// for root auto-attach, which would hold the pages of other tests.
func ownStage(t *testing.T) (*chromiumtest.Browser, *chromiumtest.Site, *chromiumtest.Raw) {
	t.Helper()
	b := chromiumtest.Launch(t)
	return b, chromiumtest.Serve(t), chromiumtest.Dial(t, b.WS())
}

func opening(p *chromiumtest.Page) chromiumtest.Event {
	return p.NextWhere("opening", on(p.Session, "Page.javascriptDialogOpening"))
}

func closed(p *chromiumtest.Page) chromiumtest.Event {
	return p.NextWhere("closed", on(p.Session, "Page.javascriptDialogClosed"))
}

// ask opens the dialog of a built-in page.
func ask(p *chromiumtest.Page) chromiumtest.Event {
	p.Start(p.Session, "ask()")
	return opening(p)
}

func handle(r *chromiumtest.Raw, session string, p params) error {
	_, err := r.Call(session, "Page.handleJavaScriptDialog", p)
	return err
}

func wantCode(t *testing.T, err error, code int) {
	t.Helper()
	var e *chromiumtest.CDPError
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want code %d", err, code)
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func succeed(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// info is a field of an event's targetInfo.
func info(e chromiumtest.Event, name string) string {
	return chromiumtest.Field(json.RawMessage(e.Param("targetInfo")), name)
}

// within is how long something that must not happen is waited for.
const within = 500 * time.Millisecond
