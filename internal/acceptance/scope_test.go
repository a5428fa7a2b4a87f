package acceptance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/actors/session/link"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// find returns the target, or nil.
func find(list []target, id messages.TargetID) *target {
	i := slices.IndexFunc(list, func(t target) bool { return t.ID == string(id) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// gone waits for the end of pages: Chrome says that it closes one before it
// has.
func gone(t *testing.T, witness *chromiumtest.Raw, ids ...messages.TargetID) {
	t.Helper()
	for _, id := range ids {
		until(t, "page "+string(id)+" closed", func() bool { return find(targets(t, witness), id) == nil })
	}
}

func TestDemand12_ForeignPagesAreNeitherHeldNorKept(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t) // what is attached here is attached by this task
	r, p := proxied(t, b)
	ran := make(chan string, 100)
	r.site.Handle("/ran", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		ran <- q.URL.RawQuery
		w.WriteHeader(http.StatusNoContent)
	}))
	r.site.Set("/first-script", `<script>fetch('/ran?' + location.hash.slice(1))</script>`)
	witness := chromiumtest.Dial(t, b.WS())
	user := witness.NewPage(r.site.URL("http://a.test/plain"))
	k := r.task("demand12", r.through(p))
	k.goTo("http://b.test/plain")
	const popups = 10
	for i := range popups {
		begin := time.Now()
		gesture(user, fmt.Sprintf("window.open('/first-script#%d') !== null", i))
		select {
		case got := <-ran:
			if got != fmt.Sprint(i) {
				t.Fatalf("popup %s ran, want %d", got, i)
			}
		case <-time.After(patience):
			t.Fatalf("the first script of foreign popup %d never ran", i)
		}
		if took := time.Since(begin); took > atOnce {
			t.Errorf("foreign popup %d was held for %v", i, took)
		}
	}
	held := func() (n int) {
		for _, i := range targets(t, witness) {
			if i.Type == "page" && i.Attached && i.ID != user.Target && i.ID != string(k.snapshot().PageTargetID) {
				n++
			}
		}
		return n
	}
	until(t, "no foreign page attached", func() bool { return held() == 0 })
	// Every page that was attached was resumed before it was left (C33).
	let := map[string][]string{}
	for _, m := range p.Messages() {
		switch method := chromiumtest.Field(m.Payload, "method"); method {
		case "Runtime.runIfWaitingForDebugger":
			s := chromiumtest.Field(m.Payload, "sessionId")
			let[s] = append(let[s], "resumed")
		case "Target.detachFromTarget":
			s := chromiumtest.Field(json.RawMessage(chromiumtest.Field(m.Payload, "params")), "sessionId")
			let[s] = append(let[s], "left")
		}
	}
	left := 0
	for s, order := range let {
		if slices.Contains(order, "left") {
			left++
			if !slices.Equal(order, []string{"resumed", "left"}) {
				t.Errorf("session %s: %v", s, order)
			}
		}
	}
	if left < popups {
		t.Errorf("%d foreign pages were left, %d were opened", left, popups)
	}
	if s := k.snapshot(); len(s.Pages) != 1 {
		t.Errorf("the task has %d pages", len(s.Pages))
	}
}

func TestDemand12_ForeignTargetsAreRefusedAndInvisible(t *testing.T) {
	t.Parallel()
	r := setup(t)
	witness := chromiumtest.Dial(t, r.chrome.WS())
	user := witness.NewPage(r.site.URL("http://a.test/oopif"))
	frames := user.AutoAttach(1)
	child, _ := user.Frame(frames, r.site.URL("http://b.test/plain"))
	foreign := messages.TargetID(user.Target)
	k := r.task("demand12")
	k.goTo("http://a.test/oopif")
	own := k.frame("/plain")

	onTarget := func(method, params string) error {
		_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: method, Params: json.RawMessage(params)})
		return err
	}
	id := fmt.Sprintf(`{"targetId":%q}`, foreign)
	for name, do := range map[string]func() error{
		"evaluate": func() error {
			_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: foreign}, "1")
			return err
		},
		"navigate": func() error {
			_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: "about:blank", TargetID: foreign})
			return err
		},
		"reload": func() error {
			_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Page.reload", TargetID: foreign})
			return err
		},
		"close":    func() error { return onTarget("Target.closeTarget", id) },
		"activate": func() error { return onTarget("Target.activateTarget", id) },
		"info":     func() error { return onTarget("Target.getTargetInfo", id) },
		"window":   func() error { return onTarget("Browser.getWindowForTarget", id) },
		"window, by way of the own page": func() error {
			_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Browser.getWindowForTarget", Params: json.RawMessage(id), TargetID: k.snapshot().PageTargetID})
			return err
		},
		"info of a frame": func() error { return onTarget("Target.getTargetInfo", fmt.Sprintf(`{"targetId":%q}`, child)) },
	} {
		if got := messages.CodeOf(do()); got != messages.CodeTargetForeign {
			t.Errorf("%s: code %q, want target_foreign", name, got)
		}
	}
	_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{FrameID: messages.FrameID(child)}, "1")
	wantCode(t, err, messages.CodeFrameNotFound)
	for _, method := range []string{"Browser.close", "Browser.crash", "Target.attachToTarget", "Target.setAutoAttach", "Target.exposeDevToolsProtocol"} {
		if got := messages.CodeOf(onTarget(method, id)); got != messages.CodeForbidden {
			t.Errorf("%s: code %q, want forbidden", method, got)
		}
	}
	_, err = k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: "about:blank", TargetID: "0123456789ABCDEF"})
	wantCode(t, err, messages.CodeTargetNotFound)

	var seen struct {
		TargetInfos []target `json:"targetInfos"`
	}
	if err := json.Unmarshal(k.cdp("", "Target.getTargets", "{}"), &seen); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, i := range seen.TargetInfos {
		ids = append(ids, i.ID)
	}
	slices.Sort(ids)
	want := []string{string(k.snapshot().PageTargetID), string(own.FrameID)}
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Errorf("the task sees targets %v, want its own %v", ids, want)
	}
	if got := string(user.Eval(user.Session, "document.title")); got != `"/oopif"` {
		t.Errorf("the foreign page is now %s", got)
	}
}

func TestDemand12_D7_TwoTasksShareABrowserAndNothingElse(t *testing.T) {
	t.Parallel()
	r := setup(t)
	asks := r.task("pair-asks")
	accepts := r.task("pair-accepts", policy(messages.PolicyAutoAccept))
	for _, k := range []*task{asks, accepts} {
		k.goTo("http://a.test/confirm")
	}
	if a, b := asks.snapshot().PageTargetID, accepts.snapshot().PageTargetID; a == b {
		t.Fatalf("both drive page %s", a)
	}
	asks.later("", "ask()")
	accepts.later("", "ask()")
	asks.dialog()
	if c := accepts.closed("d-1"); c.ClosedBy != messages.ClosedByAutoPolicy {
		t.Errorf("closed by %s", c.ClosedBy)
	}
	if got := accepts.eval("", "window.got"); got != "true" {
		t.Errorf("the accepting page got %s", got)
	}
	// Each has its own d-1, and an answer is for the asker's task alone.
	_, err := r.node.Respond(r.ctx, accepts.id, messages.DialogAnswer{Action: "accept"})
	wantCode(t, err, messages.CodeNoDialog)
	tab := asks.snapshot().PageTargetID
	_, err = evalOn(r.ctx, r.node, accepts.id, messages.CDPRequest{TargetID: tab}, "1")
	wantCode(t, err, messages.CodeTargetForeign)
	if err := r.node.StopTask(r.ctx, accepts.id); err != nil {
		t.Fatal(err)
	}
	if s := asks.snapshot(); len(s.PendingDialogs) != 1 || len(s.RecentDialogs) != 0 || s.Connection.Reconnects != 0 {
		t.Errorf("the other task's end was felt: %+v", s)
	}
	if _, err := r.node.Respond(r.ctx, asks.id, messages.DialogAnswer{Action: "dismiss"}); err != nil {
		t.Fatal(err)
	}
	if got := asks.eval("", "window.got"); got != "false" {
		t.Errorf("the asking page got %s", got)
	}
}

func TestScope_StopClosesWhatTheTaskOpenedAndNothingElse(t *testing.T) {
	t.Parallel()
	r := setup(t)
	witness := chromiumtest.Dial(t, r.chrome.WS())
	user := witness.NewPage(r.site.URL("http://a.test/plain"))
	stays, goes := r.task("stays"), r.task("goes")
	goes.goTo("http://a.test/confirm")
	goes.cdp("", "Target.createTarget", `{"url":"about:blank"}`)
	goes.await("two pages", func(s *messages.Snapshot) bool { return len(s.Pages) == 2 })
	pages := goes.snapshot().Pages
	// A dialog, and a page that does not want to go, hold nothing up.
	if _, err := evalOn(r.ctx, r.node, goes.id, messages.CDPRequest{TargetID: pages[0].TargetID}, "addEventListener('beforeunload', e => e.preventDefault()); setTimeout(() => confirm('wait?')); 0"); err != nil {
		t.Fatal(err)
	}
	goes.dialog()
	if err := r.node.StopTask(r.ctx, goes.id); err != nil {
		t.Fatal(err)
	}
	gone(t, witness, pages[0].TargetID, pages[1].TargetID)
	list := targets(t, witness)
	for _, id := range []messages.TargetID{messages.TargetID(user.Target), stays.snapshot().PageTargetID} {
		if find(list, id) == nil {
			t.Errorf("page %s, of somebody else, is gone", id)
		}
	}
	stays.eval("", "1")
}

func TestScope_Target(t *testing.T) {
	t.Parallel()
	t.Run("is the page that is named and what it opens", func(t *testing.T) {
		t.Parallel()
		r := setup(t)
		witness := chromiumtest.Dial(t, r.chrome.WS())
		user := witness.NewPage(r.site.URL("http://a.test/popup"))
		witness.NewPage(r.site.URL("http://a.test/plain"))
		k := r.task("target", scoped(messages.ScopeTarget, user.Target))
		if s := k.snapshot(); len(s.Pages) != 1 || s.PageTargetID != messages.TargetID(user.Target) {
			t.Fatalf("pages %+v", s.Pages)
		}
		k.later("", "openChild('/plain')")
		k.await("the popup", func(s *messages.Snapshot) bool { return len(s.Pages) == 2 })
	})
	t.Run("needs the page to be there", func(t *testing.T) {
		t.Parallel()
		r := setup(t)
		spec := r.spec()
		scoped(messages.ScopeTarget, "00000000000000000000000000000000")(&spec)
		_, _, err := r.node.GetOrStart(r.ctx, "none", spec)
		wantCode(t, err, messages.CodeTargetNotFound)
		_, err = r.node.Snapshot("none", messages.SnapshotOptions{})
		wantCode(t, err, messages.CodeTaskNotFound)
	})
	t.Run("is lost with its page", func(t *testing.T) {
		t.Parallel()
		r, p := proxied(t, chromiumtest.Shared(t))
		witness := chromiumtest.Dial(t, r.chrome.WS())
		user := witness.NewPage("")
		k := r.task("gone", r.through(p), scoped(messages.ScopeTarget, user.Target))
		p.HoldDials()
		p.KillAll()
		k.await("recovering", func(s *messages.Snapshot) bool { return s.State == messages.StateRecovering })
		user.CloseTarget()
		p.ReleaseDials()
		s := k.await("lost", func(s *messages.Snapshot) bool { return s.State == messages.StateLost })
		if !strings.Contains(s.Reason, user.Target) {
			t.Errorf("reason %q", s.Reason)
		}
	})
}

func TestScope_BorrowedPagesLiveOnAndAreNotFrozen(t *testing.T) {
	t.Parallel()
	for _, scope := range []messages.Scope{messages.ScopeTarget, messages.ScopeBrowser} {
		for _, kind := range []string{"/confirm", "/prompt", "/alert"} {
			t.Run(string(scope)+kind, func(t *testing.T) {
				t.Parallel()
				// Scope browser takes every page: no other client may be there.
				b := chromiumtest.Shared(t)
				if scope == messages.ScopeBrowser {
					b = chromiumtest.Launch(t)
				}
				r := setupOn(t, b)
				user := chromiumtest.Dial(t, b.WS()).NewPage(r.site.URL("http://a.test" + kind))
				spec := []string{}
				if scope == messages.ScopeTarget {
					spec = append(spec, user.Target)
				}
				k := r.task(messages.TaskID("borrowed-"+scope), scoped(scope, spec...))
				if _, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: messages.TargetID(user.Target)}, "setTimeout(ask); 0"); err != nil {
					t.Fatal(err)
				}
				k.dialog()
				if err := r.node.StopTask(r.ctx, k.id); err != nil {
					t.Fatal(err)
				}
				want := map[string]string{"/confirm": "false", "/prompt": "null", "/alert": `"returned"`}[kind]
				if got := string(user.Eval(user.Session, "window.got")); got != want {
					t.Errorf("the page got %s, want %s", got, want)
				}
				if got := string(user.Eval(user.Session, "document.title")); got != `"`+kind+`"` {
					t.Errorf("the page is at %s", got)
				}
			})
		}
	}
}

// TestC19_C72_AHelperThatALostLinkLeftIsClosed is a release whose link was lost in the middle.
func TestC19_C72_AHelperThatALostLinkLeftIsClosed(t *testing.T) {
	t.Parallel()
	for _, scope := range []messages.Scope{messages.ScopeOwn, messages.ScopeBrowser} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			r := alone(t)
			witness := chromiumtest.Dial(t, r.chrome.WS())
			id := messages.TaskID("helped-" + string(scope))
			made := chromiumtest.Field(witness.Must("", "Target.createTarget", map[string]any{"url": link.HelperURL(id), "newWindow": true}), "targetId")
			k := r.task(id, scoped(scope, ""))
			gone(t, witness, messages.TargetID(made))
			if s := k.snapshot(); slices.ContainsFunc(s.Pages, func(p messages.Page) bool { return p.TargetID == messages.TargetID(made) }) {
				t.Errorf("pages %+v", s.Pages)
			}
		})
	}
}

// What a page asks once the task has left it stands there for good (M1): a script that asks
// several times in a row is listened to until it has ended.
func TestScope_ABorrowedPageIsNotLeftToItsNextQuestion(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Shared(t)
	r := setupOn(t, b)
	user := chromiumtest.Dial(t, b.WS()).NewPage(r.site.URL("http://a.test/plain"))
	k := r.task("asks-on", scoped(messages.ScopeTarget, user.Target))
	k.later("", "window.n = 0; for (let i = 0; i < 12; i++) { confirm('c' + i); window.n++ }")
	k.dialog()
	if err := r.node.StopTask(r.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	if got := string(user.Eval(user.Session, "window.n")); got != "12" {
		t.Errorf("the page has had %s answers, want 12", got)
	}
}
