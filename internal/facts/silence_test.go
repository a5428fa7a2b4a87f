package facts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// shows is what the browser process says that a page shows: the address of the
// current entry of its history, "" where it has none, or the error.
func shows(t *testing.T, c *chromiumtest.Raw, session string) string {
	t.Helper()
	raw, err := c.Call(session, "Page.getNavigationHistory", nil)
	if err != nil {
		return err.Error()
	}
	var h struct {
		CurrentIndex int
		Entries      []struct{ URL string }
	}
	if json.Unmarshal(raw, &h) != nil || h.CurrentIndex >= len(h.Entries) {
		t.Fatalf("a history: %s", raw)
	}
	return h.Entries[h.CurrentIndex].URL
}

// Rule: a key that the browser process takes is no proof of a dialog. A page that
// starts has its keys taken as well; it shows no document yet.
func TestAPageThatStartsTakesKeysAndShowsNoDocument(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	started := 0
	for round := range 5 {
		target := chromiumtest.Field(c.Must("", "Target.createTarget", params{"url": site.URL(fmt.Sprintf("http://%c.test/plain", 'a'+rune(round))), "background": true}), "targetId")
		session := c.Attach(target)
		eval := c.Send(session, "Runtime.evaluate", params{"expression": "1"})
		for !eval.IsAnswered() {
			at, taken := shows(t, c, session), keyBeforeSign(c, session)
			if at != "" {
				break // its document has come, and its renderer answers when it finds the time
			}
			if taken && !eval.IsAnswered() {
				started++
			}
		}
	}
	if t.Logf("keys taken by pages that started: %d", started); started == 0 {
		t.Error("no page was seen to start")
	}
}

// Rule: nor is it where a page that spins was sent somewhere on its own site. The
// navigation does not come to pass, and from then on only the page's end helps.
func TestAPageBetweenTwoDocumentsTakesKeysAndShowsNeither(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/busy"))
	spin(p)
	p.Send(p.Session, "Page.navigate", params{"url": site.URL("http://a.test/plain")})
	const inactive = "Not attached to an active page"
	for end := time.Now().Add(chromiumtest.Patience); shows(t, c, p.Session) == site.URL("http://a.test/busy") && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	var told struct {
		Info struct {
			URL string `json:"url"`
		} `json:"targetInfo"`
	}
	if err := json.Unmarshal(c.Must("", "Target.getTargetInfo", params{"targetId": p.Target}), &told); err != nil {
		t.Fatal(err)
	}
	want(t, "address", told.Info.URL, "")
	for _, session := range []string{p.Session, c.Attach(p.Target)} {
		want(t, "takes keys", keyBeforeSign(c, session), true)
		for _, method := range []string{"Page.getNavigationHistory", "Page.reload", "Page.handleJavaScriptDialog"} {
			_, err := c.Call(session, method, params{"accept": true})
			var e *chromiumtest.CDPError
			if !errors.As(err, &e) || e.Message != inactive {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
	p.Send(p.Session, "Page.navigate", params{"url": "about:blank"})
	want(t, "hangs though it was sent to another process", p.DoesHang(p.Session, "Runtime.evaluate", params{"expression": "1"}, 2*time.Second), true)
	p.Must("", "Target.closeTarget", params{"targetId": p.Target})
}

// Rule: a page that spins is sent away by about:blank first, whatever its address
// is to be.
func TestAPageThatSpinsIsFreedByABlankPage(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewPage(site.URL("http://a.test/busy"))
	spin(p)
	p.Must(p.Session, "Page.navigate", params{"url": "about:blank"})
	want(t, "hangs", p.DoesHang(p.Session, "Runtime.evaluate", params{"expression": "1"}, chromiumtest.Patience), false)
	p.Navigate(site.URL("http://a.test/plain"))
	want(t, "title", string(p.Eval(p.Session, "document.title")), `"/plain"`)
}

// Rule: what a page waits for may be the dialog of another one in its process.
func TestC59_ADialogSilencesWhoeverSharesItsProcess(t *testing.T) {
	t.Parallel()
	t.Run("frames of one site, of two pages", func(t *testing.T) {
		t.Parallel()
		_, site, c := ownStage(t)
		asking, silenced := c.NewPage(site.URL("http://a.test/oopif-prompt")), c.NewPage(site.URL("http://c.test/plain"))
		_, asks := asking.Frame(asking.AutoAttach(1), site.URL("http://b.test/prompt"))
		silenced.Eval(silenced.Session, "new Promise(done => { const f = document.createElement('iframe'); f.src = '"+site.URL("http://b.test/prompt")+"'; f.onload = () => done(1); document.body.append(f) })")
		_, frame := silenced.Frame(silenced.AutoAttach(1), site.URL("http://b.test/prompt"))
		asking.Start(asks, "ask()")
		opening(asking)
		want(t, "the frame hangs", c.DoesHang(frame, "Runtime.evaluate", params{"expression": "1"}, silence), true)
		want(t, "and takes keys", keyBeforeSign(c, frame), true)
		want(t, "its page hangs", c.DoesHang(silenced.Session, "Runtime.evaluate", params{"expression": "1"}, silence), false)
		succeed(t, "answer", handle(c, asking.Session, params{"accept": true}))
		want(t, "the frame hangs after the answer", c.DoesHang(frame, "Runtime.evaluate", params{"expression": "1"}, chromiumtest.Patience), false)
	})
	t.Run("a popup and its opener", func(t *testing.T) {
		t.Parallel()
		_, site, c := ownStage(t)
		p := c.NewPage(site.URL("http://a.test/popup"))
		c.Must("", "Target.setDiscoverTargets", params{"discover": true})
		openPopup(p, "openChild('/confirm')")
		created := c.NextWhere("the popup", func(e chromiumtest.Event) bool {
			return e.Method == "Target.targetCreated" && openedBy(p.Target)(e)
		})
		popup := c.Attach(info(created, "targetId"))
		c.Must(popup, "Page.enable", nil)
		for end := time.Now().Add(chromiumtest.Patience); string(c.Eval(popup, "typeof ask")) != `"function"` && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		c.Start(popup, "ask()")
		c.NextWhere("opening", on(popup, "Page.javascriptDialogOpening"))
		want(t, "the opener hangs", c.DoesHang(p.Session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
		want(t, "and takes keys", keyBeforeSign(c, p.Session), true)
		succeed(t, "answer", handle(c, popup, params{"accept": true}))
		want(t, "the opener hangs after the answer", c.DoesHang(p.Session, "Runtime.evaluate", params{"expression": "1"}, chromiumtest.Patience), false)
	})
}
