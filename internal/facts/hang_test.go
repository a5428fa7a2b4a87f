package facts_test

import (
	"errors"
	"testing"

	"holdfast/internal/chromiumtest"
)

// command is a CDP command with the parameters it is tried with.
type command struct {
	method string
	params params
}

// hanging get no reply while a dialog is open in the page's process.
var hanging = []command{
	{"Runtime.evaluate", params{"expression": "1"}},
	{"Runtime.enable", nil},
	{"Runtime.addBinding", params{"name": "b"}},
	{"Runtime.runIfWaitingForDebugger", nil},
	{"Runtime.terminateExecution", nil},
	{"Page.getFrameTree", nil},
	{"Page.getResourceTree", nil},
	{"Page.captureScreenshot", nil},
	{"Page.getLayoutMetrics", nil},
	{"Page.addScriptToEvaluateOnNewDocument", params{"source": "1"}},
	{"Page.setBypassCSP", params{"enabled": false}},
	{"Page.setLifecycleEventsEnabled", params{"enabled": true}},
	{"Page.createIsolatedWorld", params{"frameId": frameOfPage}},
	{"Page.printToPDF", nil},
	{"Page.captureSnapshot", nil},
	{"Page.setInterceptFileChooserDialog", params{"enabled": false}},
	{"DOM.enable", nil},
	{"DOM.getDocument", nil},
	{"DOMSnapshot.captureSnapshot", params{"computedStyles": []string{}}},
	{"Accessibility.getFullAXTree", nil},
	{"CSS.enable", nil},
	{"Overlay.enable", nil},
	{"Log.enable", nil},
	{"Debugger.enable", nil},
	{"Performance.enable", nil},
	{"Performance.getMetrics", nil},
	{"Audits.enable", nil},
	{"Profiler.enable", nil},
	{"DOMStorage.enable", nil},
	{"Network.enable", nil},
	{"Network.setExtraHTTPHeaders", params{"headers": params{}}},
	{"Emulation.setDeviceMetricsOverride", params{"width": 800, "height": 600, "deviceScaleFactor": 1, "mobile": false}},
	{"Emulation.setFocusEmulationEnabled", params{"enabled": true}},
	{"Emulation.setEmulatedMedia", params{"media": "screen"}},
	{"Input.insertText", params{"text": "x"}},
	{"Memory.getDOMCounters", nil},
	{"Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}},
}

// answering are answered by the browser process, dialog or not.
var answering = []command{
	{"Page.stopLoading", nil},
	{"Page.bringToFront", nil},
	{"Page.getNavigationHistory", nil},
	{"Page.setDownloadBehavior", params{"behavior": "deny"}},
	{"Fetch.enable", params{"patterns": []params{{"urlPattern": "http://never.invalid/*"}}}},
	{"Fetch.disable", nil},
	{"Network.getCookies", nil},
	{"Storage.getCookies", nil},
	{"Input.dispatchMouseEvent", params{"type": "mouseMoved", "x": 5, "y": 5}},
	{"Input.dispatchKeyEvent", params{"type": "keyUp", "key": "Shift"}},
	{"Inspector.enable", nil},
	{"Security.enable", nil},
	{"ServiceWorker.enable", nil},
	{"Target.getTargetInfo", nil},
}

// answeringOnRoot are those of the browser's own session.
var answeringOnRoot = []command{
	{"Target.getTargets", nil},
	{"Target.getTargetInfo", params{"targetId": frameOfPage}},
	{"Target.attachToTarget", params{"targetId": frameOfPage, "flatten": true}},
	{"Target.activateTarget", params{"targetId": frameOfPage}},
	{"Target.setDiscoverTargets", params{"discover": true}},
	{"Target.setAutoAttach", params{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": []params{{"type": "page"}}}},
	{"Storage.getCookies", nil},
	{"Browser.getVersion", nil},
	{"SystemInfo.getProcessInfo", nil},
}

// frameOfPage stands for the page's own id in the tables above.
const frameOfPage = "<page>"

func (c command) on(p *chromiumtest.Page) params {
	filled := params{}
	for name, value := range c.params {
		if value == frameOfPage {
			value = p.Target
		}
		filled[name] = value
	}
	return filled
}

func checkAnswers(t *testing.T, p *chromiumtest.Page, session string, commands []command) {
	t.Helper()
	for _, c := range commands {
		_, err := p.Call(session, c.method, c.on(p))
		if err != nil {
			t.Errorf("%s: %v", c.method, err)
		}
	}
}

// checkHangs sends all commands at once; one that waits does not hold back
// the reply of another.
func checkHangs(t *testing.T, p *chromiumtest.Page, session string, commands []command) []*chromiumtest.Pending {
	t.Helper()
	var sent []*chromiumtest.Pending
	for _, c := range commands {
		sent = append(sent, p.Send(session, c.method, c.on(p)))
	}
	_, _ = sent[0].Wait(silence)
	for _, s := range sent {
		if s.IsAnswered() {
			_, err := s.Wait(0)
			t.Errorf("%s answered under a dialog: %v", s.Method, err)
		}
	}
	return sent
}

func methods(commands []command, wanted ...string) []command {
	var selected []command
	for _, name := range wanted {
		for _, c := range commands {
			if c.method == name {
				selected = append(selected, c)
			}
		}
	}
	return selected
}

// Rule: a snapshot under a dialog comes from what events told, never from the
// page.
func TestM8_WhatAnswersUnderADialog(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	p := c.NewWindow(site.URL("http://a.test/confirm"))
	ask(p)
	checkAnswers(t, p, p.Session, methods(answering, "Network.getCookies", "Storage.getCookies", "Page.getNavigationHistory", "Input.dispatchMouseEvent"))
	checkAnswers(t, p, "", methods(answeringOnRoot, "Target.getTargets", "Target.activateTarget", "Target.attachToTarget"))
	checkHangs(t, p, p.Session, methods(hanging, "Runtime.evaluate", "Page.getFrameTree", "Page.captureScreenshot",
		"Page.getLayoutMetrics", "DOM.getDocument", "Accessibility.getFullAXTree", "Emulation.setEmulatedMedia"))
	want(t, "Page.enable of a new session hangs", p.DoesHang(c.Attach(p.Target), "Page.enable", nil, silence), true)
}

// Rule: commands in the first table are refused at once while a dialog is
// open (blocked_by_dialog), those in the second go through.
func TestC16_TheTableOfWhatHangs(t *testing.T) {
	t.Parallel()
	_, site, c := ownStage(t)
	for _, kind := range []string{"the session that was told", "a fresh session"} {
		t.Run(kind, func(t *testing.T) {
			p := c.NewWindow(site.URL("http://a.test/confirm"))
			ask(p)
			session := p.Session
			if kind == "a fresh session" {
				session = c.Attach(p.Target)
			}
			checkAnswers(t, p, session, answering)
			checkAnswers(t, p, "", answeringOnRoot)
			sent := checkHangs(t, p, session, hanging)
			if kind == "a fresh session" {
				want(t, "Page.enable hangs", p.DoesHang(session, "Page.enable", nil, silence), true)
			}
			// All of them were waiting, none was lost: the answer sets them free.
			succeed(t, "answer", handle(c, p.Session, params{"accept": true}))
			for _, s := range sent {
				if _, err := s.Wait(chromiumtest.Patience); errors.Is(err, chromiumtest.ErrNoReply) {
					t.Errorf("%s: no reply after the answer", s.Method)
				}
			}
		})
	}
	t.Run("what ends the dialog answers", func(t *testing.T) {
		for _, end := range []command{
			{"Page.navigate", params{"url": site.URL("http://a.test/plain")}},
			{"Page.reload", nil},
			{"Page.close", nil},
		} {
			p := c.NewWindow(site.URL("http://a.test/confirm"))
			ask(p)
			if _, err := p.Call(p.Session, end.method, end.params); err != nil {
				t.Errorf("%s: %v", end.method, err)
			}
			want(t, end.method+" closes with", closed(p).Param("result"), "false")
		}
	})
	t.Run("a screencast shows a page that has been painted", func(t *testing.T) {
		p := c.NewWindow(site.URL("http://a.test/confirm"))
		// A dialog before the first paint leaves nothing to show, for good.
		p.Eval(p.Session, "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 100))))")
		ask(p)
		p.Must(p.Session, "Page.startScreencast", params{"format": "jpeg"})
		p.NextWhere("screencast frame", on(p.Session, "Page.screencastFrame"))
	})
	t.Run("tabs open and close", func(t *testing.T) {
		p := c.NewWindow(site.URL("http://a.test/confirm"))
		ask(p)
		c.NewPage(site.URL("http://b.test/plain")).CloseTarget()
	})
	t.Run("a frame's dialog holds its own process alone", func(t *testing.T) {
		p := c.NewWindow(site.URL("http://a.test/oopif-prompt"))
		_, session := p.Frame(p.AutoAttach(1), site.URL("http://b.test/prompt"))
		p.Start(session, "ask()")
		opening(p)
		want(t, "page", string(p.Eval(p.Session, "document.title")), `"/oopif-prompt"`)
		want(t, "frame hangs", p.DoesHang(session, "Runtime.evaluate", params{"expression": "1"}, silence), true)
	})
}
