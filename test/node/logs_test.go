package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages"
)

// logged are the lines with all of words in them.
func (l *lines) logged(words ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// field is what a text line says of a key.
func field(line, key string) string {
	_, rest, found := strings.Cut(line, " "+key+"=")
	if !found {
		return ""
	}
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		value, _, _ := strings.Cut(quoted, `"`)
		return value
	}
	value, _, _ := strings.Cut(rest, " ")
	return value
}

func everythingLogged(c *node.Config, l *lines) {
	c.Log = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func TestStateLines(t *testing.T) {
	t.Parallel()

	inWorld(t, "each change of state is one line that tells the one before", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, alone)
		time.Sleep(7 * time.Second)
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		time.Sleep(time.Second)
		w.b.RefuseConnections(false)
		time.Sleep(time.Minute)
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		time.Sleep(time.Hour)
		for range 2 { // stopping what is lost says that one knows
			if err := w.node.StopTask(w.ctx, "t"); err != nil {
				w.Fatal(err)
			}
		}
		synctest.Wait()
		var got []string
		for _, line := range w.lines.logged("task=t ", " state=") {
			got = append(got, field(line, "previous")+" → "+field(line, "state")+" "+field(line, "level"))
			if state := field(line, "state"); field(line, "msg") != "task is "+state {
				w.Errorf("it says otherwise: %s", line)
			}
			if field(line, "version") == "" || (field(line, "previous") == "") != (field(line, "state") == "starting") {
				w.Errorf("incomplete: %s", line)
			}
		}
		want := []string{
			" → starting ", "starting → active ", "active → recovering ", "recovering → active ",
			"active → recovering ", "recovering → lost ", "lost → stopped ",
		}
		for i := range got {
			got[i] = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(got[i], "INFO"), "WARN"), "ERROR")
		}
		if !slices.Equal(got, want) {
			w.Errorf("got %q\nwant %q", got, want)
		}
		if s := field(w.lines.logged("state=recovering")[0], "previous_s"); s != "7" {
			w.Errorf("was active for %ss", s)
		}
		if s := field(w.lines.logged("state=recovering")[0], "reason"); s != "link closed: reset: the connection ended without a close frame" {
			w.Errorf("recovering because of %q", s)
		}
		if s := field(w.lines.logged("state=lost")[0], "reason"); !strings.Contains(s, "gave up on the link after") {
			w.Errorf("lost because of %q", s)
		}
	})

	inWorld(t, "a task at work says nothing", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		synctest.Wait()
		before := len(w.lines.logged())
		for i := range 50 {
			w.b.Navigate(page, fmt.Sprintf("http://a.test/%d", i))
			w.b.LogError(w.b.MainFrame(page), "oh")
			w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
			synctest.Wait()
			if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: messages.ActionAccept}); err != nil {
				w.Fatal(err)
			}
			_, _ = w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Bogus.method"})
		}
		if more := w.lines.logged()[before:]; len(more) != 0 {
			w.Errorf("%d lines: %q", len(more), more[0])
		}
	})
}

// TestAnHourWithoutABrowser holds the bound of demand 15: what the log says of
// a dead endpoint grows with what callers do, not with time.
func TestAnHourWithoutABrowser(t *testing.T) {
	t.Parallel()

	inWorld(t, "nobody asks", chaos.Options{Pages: 1}, func(w *world) {
		for i := range 20 {
			w.start(messages.TaskID(fmt.Sprint("t", i)), everything)
		}
		synctest.Wait()
		before := len(w.lines.logged())
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		time.Sleep(time.Hour)
		if n := len(w.lines.logged()) - before; n != 2*20 { // recovering, lost
			w.Errorf("%d lines of 20 tasks: %q", n, w.lines.logged()[before:])
		}
	})

	inWorld(t, "somebody asks again every minute", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		synctest.Wait()
		before := len(w.lines.logged())
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		time.Sleep(3 * time.Minute)
		for range 57 {
			if _, _, err := w.node.GetOrStart(w.ctx, "t", w.spec()); err == nil {
				w.Fatal("it started")
			}
			time.Sleep(time.Minute)
		}
		if n := len(w.lines.logged()) - before; n != 2+2*57 { // starting, lost
			w.Errorf("%d lines: %q", n, w.lines.logged()[before:])
		}
	})

	inWorld(t, "a browser that comes and goes all the time", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, alone)
		synctest.Wait()
		before := len(w.lines.logged())
		for range 1800 {
			w.b.DropConnections()
			time.Sleep(2 * time.Second)
		}
		states := len(w.lines.logged(" state="))
		if n := len(w.lines.logged()); n-states > 60 {
			w.Errorf("%d lines besides the states: %q", n-states, w.lines.logged()[before:before+5])
		}
	})
}

// TestLogsLeakNothing plants secrets wherever one can be, lets everything go
// wrong, and looks for them in all that is logged.
func TestLogsLeakNothing(t *testing.T) {
	t.Parallel()
	// None of them looks like a secret: what is not logged need not be found.
	secret := func(where string) string { return "planted in " + where }
	urlSecret := func(where string) string { return "planted" + where }

	kinds := []string{"session", "dialog", "frame", "browser", "anchor", "supervisor"}
	var breaking atomic.Pointer[string]
	var seen lines
	change := func(c *node.Config) {
		everythingLogged(c, &seen)
		c.AllowChaos = true
		c.Intercept = func(m guard.Moment) {
			kind := breaking.Load()
			if kind == nil || m.Kind != *kind || m.Phase != guard.PhaseReceive || !breaking.CompareAndSwap(kind, nil) {
				return
			}
			switch m.Kind {
			case "session":
				panic(secret("a panic's string"))
			case "dialog":
				panic(errors.New(secret("a panic's error")))
			case "frame":
				panic(struct{ Text string }{secret("a panic's struct")})
			default:
				panic(fmt.Errorf("wrapped: %w", errors.New(secret("a panic's wrapped error"))))
			}
		}
	}
	cookies := chaos.Options{Pages: 1, Load: func(string) chaos.Document { return chaos.Document{Title: secret("a title")} }}
	inWorldWith(t, "whatever goes wrong", cookies, change, func(w *world) {
		for _, raw := range []string{
			"ws://agent:" + urlSecret("password") + "@127.0.0.1:9222" + w.b.Path() + "?token=" + urlSecret("query") + "#" + urlSecret("fragment"),
			"ws://127.0.0.1:9222/devtools/browser/" + urlSecret("path"),
			"http://" + urlSecret("user") + "@127.0.0.1:9222/?key=" + urlSecret("discovery"),
		} {
			u, err := messages.ParseCDPURL(raw)
			if err != nil {
				w.Fatal(err)
			}
			_, _, _ = w.node.GetOrStart(w.ctx, "elsewhere", messages.TaskSpec{CDPURL: u})
			_ = w.node.StopTask(w.ctx, "elsewhere")
		}
		page := w.start("t", everything, func(s *messages.TaskSpec) { s.Labels = map[string]string{"why": urlSecret("label")} }).PageTargetID
		main := w.b.MainFrame(page)
		cdp := func(method, params string) {
			_, _ = w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: method, Params: []byte(params), TimeoutS: 1})
		}
		round := 0
		goWrong := func() {
			round++
			w.b.LogError(main, secret("a console error"))
			w.b.ThrowException(main, secret("an exception"))
			cdp("Runtime.evaluate", `{"expression":"'`+secret("an expression")+`'"}`)
			cdp("Runtime.evaluate", `{"expression":"throw new Error('`+secret("an exception's text")+`')"}`)
			cdp("Network.setExtraHTTPHeaders", `{"headers":{"Authorization":"Bearer `+secret("a header")+`","Cookie":"`+secret("a cookie")+`"}}`)
			cdp("Network.getCookies", `{}`)
			cdp("Emulation.setLocaleOverride", `{"locale":"`+secret("what is refused")+`"}`)
			cdp("Page.addScriptToEvaluateOnNewDocument", `{"source":"`+secret("a script")+`"}`)
			cdp("Bogus.method", `{"a":"`+secret("a wrong command")+`"}`)
			_, _ = w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://a.test/?q=" + urlSecret("url"), TimeoutS: 1})
			w.b.OpenDialog(main, chaos.Prompt, secret(fmt.Sprint("a dialog ", round)), secret("a default"))
			synctest.Wait()
			text := secret("an answer")
			_, _ = w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: messages.ActionAccept, PromptText: &text})
			synctest.Wait()
		}
		goWrong()
		for _, kind := range kinds {
			breaking.Store(&kind)
			goWrong()
			time.Sleep(20 * time.Second)
			w.start("t", everything)
			page = w.snapshot("t").PageTargetID
			main = w.b.MainFrame(page)
			if breaking.Load() != nil {
				w.Errorf("no %s was broken", kind)
			}
		}
		for _, c := range w.b.Connections() {
			c.SendRaw([]byte(secret("garbage")))
			c.SendRaw([]byte(`{"method":"Page.frameNavigated","params":"` + secret("a malformed event") + `"}`))
			c.SendRaw([]byte(`{"id":1,"error":{"message":"` + secret("a late error") + `"}}`))
		}
		goWrong()
		for _, c := range w.b.Connections() {
			for range 20 {
				c.SendRaw([]byte(secret("much garbage")))
			}
		}
		time.Sleep(20 * time.Second)
		w.start("t", everything)
		for _, c := range w.b.Connections() {
			c.Close(websocket.StatusGoingAway, "token="+urlSecret("goodbye"))
		}
		time.Sleep(20 * time.Second)
		w.start("t", everything)
		goWrong()
		w.b.Kill()
		time.Sleep(time.Hour)
	})
	failing := func(c *node.Config) {
		everythingLogged(c, &seen)
		c.HTTPClient = &http.Client{Transport: answering(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%s %s: %s", r.Method, r.URL, secret("a transport's error"))
		})}
	}
	inWorldWith(t, "a client that repeats the URL in its errors", chaos.Options{}, failing, func(w *world) {
		u, err := messages.ParseCDPURL("wss://a:" + urlSecret("password") + "@h/devtools/browser/" + urlSecret("path") + "?token=" + urlSecret("query"))
		if err != nil {
			w.Fatal(err)
		}
		if _, _, err := w.node.GetOrStart(context.Background(), "t", messages.TaskSpec{CDPURL: u}); err == nil {
			w.Error("it started")
		}
	})
	t.Cleanup(func() { // after the parallel subtests
		all := seen.logged()
		if len(all) < 25 || len(seen.logged("actor panicked")) < len(kinds) {
			t.Errorf("only %d lines, %d panics: not much went wrong", len(all), len(seen.logged("actor panicked")))
		}
		for _, line := range all {
			if strings.Contains(line, "planted") {
				t.Errorf("leaked: %s", line)
			}
		}
	})
}

type answering func(*http.Request) (*http.Response, error)

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
