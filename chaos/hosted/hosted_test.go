package hosted_test

import (
	"context"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"holdfast/chaos/hosted"
	"holdfast/internal/chromiumtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }

func start(t *testing.T, o hosted.Options) *hosted.Backend {
	t.Helper()
	b, err := hosted.New(chromiumtest.Shared(t).WS(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func TestADialogIsGoneBeforeAnybodyCanAnswer(t *testing.T) {
	b := start(t, hosted.Options{DismissAfter: 10 * time.Millisecond})
	site := chromiumtest.Serve(t)
	c := chromiumtest.Dial(t, b.Open().URL())
	p := c.NewPage(site.URL("http://a.test/confirm"))
	p.Start(p.Session, "ask()")
	c.NextWhere("opening", chromiumtest.On(p.Session, "Page.javascriptDialogOpening"))
	c.NextWhere("closed", chromiumtest.On(p.Session, "Page.javascriptDialogClosed"))
	if got := string(p.Eval(p.Session, "got")); got != "false" {
		t.Errorf("the page received %s", got)
	}
	if _, err := c.Call(p.Session, "Page.handleJavaScriptDialog", map[string]any{"accept": true}); err == nil {
		t.Error("it could be answered all the same")
	}
}

func TestOneThatLeavesTakesTheOthersAlong(t *testing.T) {
	b := start(t, hosted.Options{DoesDropOthers: true})
	door, elsewhere := b.Open(), b.Open()
	long, short, other := chromiumtest.Dial(t, door.URL()), chromiumtest.Dial(t, door.URL()), chromiumtest.Dial(t, elsewhere.URL())
	short.Must("", "Browser.getVersion", nil)
	short.Close()
	select {
	case <-long.Done():
	case <-time.After(chromiumtest.Patience):
		t.Error("the other connection stands")
	}
	other.Must("", "Browser.getVersion", nil)
}

func TestOneConnectionIsDropped(t *testing.T) {
	b := start(t, hosted.Options{})
	door := b.Open()
	first, second := chromiumtest.Dial(t, door.URL()), chromiumtest.Dial(t, door.URL())
	second.Must("", "Browser.getVersion", nil)
	if !door.HasDropped(1) || door.HasDropped(3) {
		t.Error("the first is not open, or a third is")
	}
	select {
	case <-first.Done():
	case <-time.After(chromiumtest.Patience):
		t.Error("the first stands")
	}
	second.Must("", "Browser.getVersion", nil)
}

func TestAnAddressExpires(t *testing.T) {
	b := start(t, hosted.Options{Dials: 1})
	door := b.Open()
	c := chromiumtest.Dial(t, door.URL())
	ctx, cancel := context.WithTimeout(context.Background(), chromiumtest.Patience)
	defer cancel()
	if _, res, err := websocket.Dial(ctx, door.URL(), nil); err == nil || res == nil || res.StatusCode != 410 {
		t.Errorf("a second client: %v, %v", res, err)
	}
	c.Must("", "Browser.getVersion", nil)
	if door.Dials() != 1 || door.Refused() != 1 {
		t.Errorf("%d let in, %d refused", door.Dials(), door.Refused())
	}
}

// C32, C33: no other client has to resume what it holds, nor the page that opened it.
func TestTheClientInsideHoldsPopupsAndLetsThemRun(t *testing.T) {
	b := start(t, hosted.Options{DismissAfter: 10 * time.Millisecond, HasHolder: true})
	site := chromiumtest.Serve(t)
	c := chromiumtest.Dial(t, b.Open().URL())
	p := c.NewPage(site.URL("http://a.test/popup"))
	p.Must(p.Session, "Runtime.evaluate", map[string]any{"expression": "openChild()", "userGesture": true})
	if got := string(p.Eval(p.Session, "new Promise(r => { const look = () => 'got' in child ? r(String(child.got)) : setTimeout(look, 5); look() })")); got != `"null"` {
		t.Errorf("the popup received %s", got)
	}
	p.Eval(p.Session, "child.close()")
}

func TestWhatIsTooLongEndsTheConnection(t *testing.T) {
	b := start(t, hosted.Options{MaxMessage: 1 << 20, Refuse: []string{"Page.addScriptToEvaluateOnNewDocument"}})
	c := chromiumtest.Dial(t, b.Open().URL())
	p := c.NewPage("")
	if _, err := p.Call(p.Session, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "1"}); err == nil {
		t.Error("a method that is refused was had")
	}
	if _, err := p.Call(p.Session, "Runtime.evaluate", map[string]any{"expression": "'x'.repeat(1 << 21)"}); err == nil {
		t.Error("it came through")
	}
	select {
	case <-c.Done():
	case <-time.After(chromiumtest.Patience):
		t.Error("the connection stands")
	}
}
