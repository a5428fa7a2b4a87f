package acceptance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// popup waits for a page that the page opened, besides those known.
func (k *task) popup(opener messages.TargetID, known ...messages.TargetID) messages.Page {
	k.Helper()
	var found messages.Page
	k.await("a popup", func(s *messages.Snapshot) bool {
		for _, p := range s.Pages {
			if p.OpenerID != nil && *p.OpenerID == opener && !slices.Contains(known, p.TargetID) {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

func TestM14_APopupsFirstScriptIsCaught(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]string{
		"same site":            `openChild()`,
		"another site":         `openChild('http://b.test/prompt-on-load')`,
		"without an opener":    `window.open('/prompt-on-load', '_blank', 'noopener')`,
		"blank, then on":       `const w = window.open(''); w.location = '/prompt-on-load'`,
		"by a link":            `const a = document.createElement('a'); a.href = '/prompt-on-load'; a.target = '_blank'; document.body.append(a); a.click()`,
		"with an inline frame": `openChild('/oopif-prompt-on-load')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("m14")
			k.goTo("http://a.test/popup")
			opener := k.snapshot().PageTargetID
			for i := range 5 {
				k.laterOn(opener, k.site.URL(open))
				d := k.dialog()
				if d.Message != "who?" || d.TargetID == opener || d.ID != messages.NewDialogID(uint64(i+1)) {
					t.Fatalf("dialog %+v", d)
				}
				p := k.popup(opener)
				if p.TargetID != d.TargetID || p.PageState != messages.PageDialog {
					t.Errorf("popup %+v, dialog %+v", p, d)
				}
				k.accept("round " + strconv.Itoa(i))
				if got := k.evalOnFrame(d, "window.got"); got != strconv.Quote("round "+strconv.Itoa(i)) {
					t.Errorf("the popup received %s", got)
				}
				k.cdp("", "Target.closeTarget", `{"targetId":"`+string(p.TargetID)+`"}`)
				k.await("the popup's end", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
			}
		})
	}
}

func TestC9_APopupsDialogFreezesItsOpenerAndThatIsSaid(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c9")
	k.goTo("http://a.test/popup")
	opener := k.snapshot().PageTargetID
	k.laterOn(opener, "openChild()")
	d := k.dialog()
	// Same site, same process: the opener cannot run, and its caller is not
	// left hanging.
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"1"}`), TargetID: opener})
	if e := wantCode(t, err, messages.CodeBlockedByDialog); !strings.Contains(fmt.Sprint(e.Details["pending_dialogs"]), string(d.ID)) {
		t.Errorf("the opener's caller is not told of %s: %v", d.ID, e.Details)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss, DialogID: d.ID})
	k.await("both run on", func(s *messages.Snapshot) bool {
		return len(s.Pages) == 2 && s.Pages[0].PageState == messages.PageOK && s.Pages[1].PageState == messages.PageOK
	})
	if got := k.evalOn(opener, "window.child !== null"); got != "true" {
		t.Errorf("the opener says %s", got)
	}
	if got := k.evalOn(d.TargetID, "window.got"); got != "null" {
		t.Errorf("the popup received %s", got)
	}
}

func TestC29_AnOOPIFsFirstScriptIsCaught(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c29")
	for i := range 10 {
		_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/oopif-prompt-on-load?" + strconv.Itoa(i))})
		if code := messages.CodeOf(err); code != messages.CodeBlockedByDialog {
			t.Fatalf("navigate: %v", err)
		}
		d := k.dialog()
		if d.Message != "who?" || d.FrameID == k.snapshot().FrameTree.Top.FrameID {
			t.Fatalf("dialog %+v", d)
		}
		k.accept("found")
		if got := k.evalOnFrame(d, "window.got"); got != `"found"` {
			t.Fatalf("round %d: the frame received %s", i, got)
		}
	}
}

func TestC29_OtherPeoplesPopupsAreNotHeld(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("c29")
	w := chromiumtest.Dial(t, r.chrome.WS())
	p := w.NewPage(r.site.URL("http://a.test/popup"))
	for i := range 5 {
		title := strconv.Itoa(i)
		r.site.Set("/child", `<title>`+title+`</title><script>opener.postMessage('`+title+`', '*')</script>`)
		got := p.Send(p.Session, "Runtime.evaluate", map[string]any{
			"expression":    "new Promise(done => { addEventListener('message', e => done(e.data), {once: true}); openChild('/child') })",
			"awaitPromise":  true,
			"returnByValue": true, "userGesture": true,
		})
		b, err := got.Wait(patience)
		if err != nil || !bytes.Contains(b, []byte(`"`+title+`"`)) {
			t.Fatalf("popup %d: %s, %v", i, b, err)
		}
	}
	if s := k.snapshot(); len(s.Pages) != 1 {
		t.Errorf("pages %+v", s.Pages)
	}
}

func TestC30_ACreatedPagesFirstScriptIsCaught(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c30")
	k.goTo("http://a.test/plain")
	first := k.snapshot().PageTargetID
	for i := range 10 {
		var r struct {
			TargetID messages.TargetID `json:"targetId"`
		}
		params, _ := json.Marshal(map[string]string{"url": k.site.URL("http://b.test/prompt-on-load")})
		if err := json.Unmarshal(k.cdp("", "Target.createTarget", string(params)), &r); err != nil {
			t.Fatal(err)
		}
		d := k.dialog()
		if d.TargetID != r.TargetID || d.Message != "who?" {
			t.Fatalf("round %d: dialog %+v on page %s", i, d, r.TargetID)
		}
		k.accept("created")
		if got := k.evalOn(r.TargetID, "window.got"); got != `"created"` {
			t.Errorf("round %d: the page received %s", i, got)
		}
		k.cdp("", "Target.closeTarget", `{"targetId":"`+string(r.TargetID)+`"}`)
	}
	k.await("only the first page", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 && s.PageTargetID == first })
}

func TestDemand9_PopupsAreFollowed(t *testing.T) {
	t.Parallel()
	r := setup(t)
	witness := chromiumtest.Dial(t, r.chrome.WS())
	k := r.task("demand9")
	k.goTo("http://a.test/popup")
	opened := func(n int) messages.Page {
		t.Helper()
		s := k.await(fmt.Sprintf("%d pages", n), func(s *messages.Snapshot) bool { return len(s.Pages) == n && s.Pages[n-1].SessionID != "" })
		return s.Pages[n-1]
	}
	top := k.snapshot().PageTargetID

	// Its first script asks: it is caught, and on the popup.
	k.later("", "openChild()")
	first := opened(2)
	if d := k.dialog(); d.TargetID != first.TargetID || d.Message != "who?" {
		t.Fatalf("dialog %+v, popup %s", d, first.TargetID)
	}
	if first.OpenerID == nil || *first.OpenerID != top {
		t.Errorf("opener %v, want %s", first.OpenerID, top)
	}
	if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept", PromptText: text("ann")}); err != nil {
		t.Fatal(err)
	}
	if got, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: first.TargetID}, "window.got"); err != nil || got != `"ann"` {
		t.Fatalf("the popup got %s, %v", got, err)
	}

	// A popup of the popup.
	open := func(from messages.TargetID, script string) {
		t.Helper()
		if _, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: from}, "setTimeout(() => {"+script+"}); 0"); err != nil {
			t.Fatal(err)
		}
	}
	open(first.TargetID, "window.open('/plain')")
	second := opened(3)
	if second.OpenerID == nil || *second.OpenerID != first.TargetID {
		t.Errorf("opener %v, want %s", second.OpenerID, first.TargetID)
	}
	// One that is not to know its opener is the task's all the same.
	open(top, "window.open('/plain', '_blank', 'noopener')")
	third := opened(4)
	if got, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: third.TargetID}, "window.opener"); err != nil || got != "null" {
		t.Errorf("noopener: opener %s, %v", got, err)
	}
	for _, page := range k.snapshot().Pages {
		if page.PageState != messages.PageOK {
			t.Errorf("page %s is %s", page.URL, page.PageState)
		}
	}

	if err := r.node.StopTask(r.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	gone(t, witness, top, first.TargetID, second.TargetID, third.TargetID)
}

func TestDemand9_ANewTabIsWatchedFromItsFirstScript(t *testing.T) {
	t.Parallel()
	k := setup(t).task("newtab")
	for i := range uint64(10) {
		var made struct {
			TargetID messages.TargetID `json:"targetId"`
		}
		result := k.cdp("", "Target.createTarget", `{"url":"`+k.site.URL("http://a.test/prompt-on-load")+`"}`)
		if err := json.Unmarshal(result, &made); err != nil {
			t.Fatal(err)
		}
		d := k.dialog()
		if d.ID != messages.NewDialogID(i+1) || d.TargetID != made.TargetID || d.Message != "who?" {
			t.Fatalf("tab %d: dialog %+v, page %s", i, d, made.TargetID)
		}
		if _, err := k.node.Respond(k.ctx, k.id, messages.DialogAnswer{Action: "accept"}); err != nil {
			t.Fatal(err)
		}
		k.cdp("", "Target.closeTarget", `{"targetId":"`+string(made.TargetID)+`"}`)
	}
	k.await("the first tab alone", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
}
