package node_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
)

func isolation(i messages.Isolation) func(*messages.TaskSpec) {
	return func(s *messages.TaskSpec) { s.Isolation = i }
}

// contextOf is the browser context of a page.
func (w *world) contextOf(page messages.TargetID) string {
	w.Helper()
	raw, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Target.getTargetInfo", Params: json.RawMessage(`{"targetId":"` + string(page) + `"}`)})
	if err != nil {
		w.Fatal(err)
	}
	var info struct {
		Target struct {
			Context string `json:"browserContextId"`
		} `json:"targetInfo"`
	}
	if err := json.Unmarshal(raw.Result, &info); err != nil {
		w.Fatal(err)
	}
	return info.Target.Context
}

func (w *world) wantContexts(n int) []string {
	w.Helper()
	synctest.Wait()
	ids := w.b.Contexts()
	if len(ids) != n {
		w.Errorf("the browser has contexts %v, want %d", ids, n)
	}
	return ids
}

func noContexts(_ int, method string) bool { return method == "Target.createBrowserContext" }

// Which tasks have a context of their own, and which do not.
func TestIsolationOfATask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options  chaos.Options
		change   []func(*messages.TaskSpec)
		contexts int
		shows    messages.Isolation
		off      messages.IsolationOff
	}{
		"auto, own, headless":            {chaos.Options{Pages: 1}, []func(*messages.TaskSpec){own}, 1, messages.IsolationContext, ""},
		"auto, own, with windows":        {chaos.Options{Pages: 1, IsHeaded: true}, []func(*messages.TaskSpec){own}, 0, messages.IsolationShared, messages.IsolationOffHeaded},
		"auto, own, refused":             {chaos.Options{Pages: 1, Refuse: noContexts}, []func(*messages.TaskSpec){own}, 0, messages.IsolationShared, messages.IsolationOffRefused},
		"auto, the whole browser":        {chaos.Options{Pages: 1}, []func(*messages.TaskSpec){everything}, 0, messages.IsolationShared, ""},
		"context, with windows":          {chaos.Options{Pages: 1, IsHeaded: true}, []func(*messages.TaskSpec){isolation(messages.IsolationContext)}, 1, messages.IsolationContext, ""},
		"shared":                         {chaos.Options{Pages: 1}, []func(*messages.TaskSpec){own, isolation(messages.IsolationShared)}, 0, messages.IsolationShared, ""},
		"context, without a page before": {chaos.Options{}, []func(*messages.TaskSpec){isolation(messages.IsolationContext)}, 1, messages.IsolationContext, ""},
	} {
		inWorld(t, name, c.options, func(w *world) {
			s := w.start("t", c.change...)
			if s.Connection.Isolation != c.shows || s.Connection.IsolationOff != c.off {
				w.Errorf("%+v", s.Connection)
			}
			ids := w.wantContexts(c.contexts)
			if got := w.contextOf(s.PageTargetID); (c.contexts == 1) != (len(ids) == 1 && got == ids[0]) {
				w.Errorf("the page is in %s, the contexts are %v", got, ids)
			}
			if err := w.node.StopTask(w.ctx, "t"); err != nil {
				w.Error(err)
			}
			w.wantContexts(0)
		})
	}
	inWorld(t, "context, refused", chaos.Options{Pages: 1, Refuse: noContexts}, func(w *world) {
		spec := w.spec()
		spec.Isolation = messages.IsolationContext
		_, _, err := w.node.GetOrStart(w.ctx, "t", spec)
		w.want(messages.CodeCDPError, err)
		if err == nil || !strings.Contains(err.Error(), "isolation context") {
			w.Errorf("%v", err)
		}
	})
	inWorld(t, "context goes with scope own", chaos.Options{Pages: 1}, func(w *world) {
		spec := w.spec()
		spec.Isolation, spec.Scope = messages.IsolationContext, messages.ScopeBrowser
		_, _, err := w.node.GetOrStart(w.ctx, "t", spec)
		w.want(messages.CodeInvalidArgument, err)
		w.start("t", everything)
		spec.Scope = ""
		_, _, err = w.node.GetOrStart(w.ctx, "t", spec)
		w.want(messages.CodeInvalidArgument, err)
	})
}

// A context lives as long as its task: over lost links, and not beyond.
func TestContextLivesWithItsTask(t *testing.T) {
	t.Parallel()
	inWorld(t, "it is kept over reconnects", chaos.Options{Pages: 1}, func(w *world) {
		s := w.start("t", own)
		id := w.wantContexts(1)[0]
		primary, anchor := w.links()
		primary.Drop()
		anchor.Drop()
		w.links()
		time.Sleep(time.Second)
		if now := w.snapshot("t"); now.PageTargetID != s.PageTargetID || now.Connection.Isolation != messages.IsolationContext {
			w.Errorf("%+v", now)
		}
		if got := w.wantContexts(1)[0]; got != id {
			w.Errorf("context %s, want %s", got, id)
		}
	})
	inWorld(t, "its popups are in it", chaos.Options{Pages: 1}, func(w *world) {
		s := w.start("t", own)
		id := w.wantContexts(1)[0]
		popup := w.b.OpenPopup(messages.FrameID(s.PageTargetID), "http://a.test/")
		if now := w.snapshot("t"); len(now.Pages) != 2 || w.contextOf(popup) != id {
			w.Errorf("pages %+v", now.Pages)
		}
	})
	inWorld(t, "it goes where only the anchor stands", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", own)
		w.wantContexts(1)
		primary, _ := w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Error(err)
		}
		w.wantContexts(0)
	})
	inWorld(t, "another browser at the same address has another", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", own, func(s *messages.TaskSpec) {
			u, err := messages.ParseCDPURL("http://127.0.0.1:9222") // a restart changes the other address
			if err != nil {
				w.Fatal(err)
			}
			s.CDPURL = u
		})
		before := w.wantContexts(1)[0]
		w.b.Restart()
		time.Sleep(30 * time.Second)
		s := w.snapshot("t")
		if s.State != messages.StateActive || s.Connection.BrowserRestarts != 1 || s.Connection.Isolation != messages.IsolationContext {
			w.Fatalf("%+v", s)
		}
		if now := w.wantContexts(1)[0]; now == before || w.contextOf(s.PageTargetID) != now {
			w.Errorf("context %s, before %s, the page is in %s", now, before, w.contextOf(s.PageTargetID))
		}
	})
	inWorld(t, "another isolation is another task", chaos.Options{Pages: 1}, func(w *world) {
		before := w.start("t", own)
		after := w.start("t", own, isolation(messages.IsolationShared))
		w.wantContexts(0)
		if before.PageTargetID == after.PageTargetID || after.Connection.Isolation != messages.IsolationShared {
			w.Errorf("%+v", after)
		}
	})
}

// Two tasks are each in their own context, and what acts on a context reaches one
// of them.
func TestContextsOfTwoTasks(t *testing.T) {
	inWorld(t, "two tasks", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", own)
		mine := w.wantContexts(1)[0]
		w.start("u", own)
		both := w.wantContexts(2)
		foreign := both[0]
		if foreign == mine {
			foreign = both[1]
		}
		permissions := func(params string) error {
			_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Browser.grantPermissions", Params: json.RawMessage(params)})
			return err
		}
		if err := permissions(`{"permissions":[]}`); err != nil {
			w.Error(err)
		}
		if sent := w.b.Settings("")["Browser.grantPermissions"]; !strings.Contains(sent, mine) {
			w.Errorf("sent %s, want context %s", sent, mine)
		}
		w.want(messages.CodeForbidden, permissions(`{"permissions":[],"browserContextId":"`+foreign+`"}`))
	})
}

// A task that a scoped token has started has no page of another task, though its
// scope is the whole browser.
func TestScopedTasksLeavePagesOfOthers(t *testing.T) {
	t.Parallel()
	scoped := func(w *world, spec messages.TaskSpec) (*messages.Snapshot, error) {
		snap, _, err := w.node.GetOrStart(messages.WithCaller(w.ctx, messages.Caller{IsScoped: true, Tenant: "acme"}), "acme:all", spec)
		return snap, err
	}
	allow := func(c *node.Config) { c.Egress.CDPHosts = []string{"127.0.0.1"} }
	inWorldWith(t, "those that come later", chaos.Options{Pages: 1}, allow, func(w *world) {
		spec := w.spec()
		spec.Scope = messages.ScopeBrowser
		if _, err := scoped(w, spec); err != nil {
			w.Fatal(err)
		}
		s := w.start("other", own)
		w.b.OpenPopup(messages.FrameID(s.PageTargetID), "http://a.test/")
		w.b.DropConnections()
		time.Sleep(time.Minute)
		if pages := w.snapshot("acme:all").Pages; len(pages) != 1 {
			w.Errorf("it has %+v", pages)
		}
		if pages := w.snapshot("other").Pages; len(pages) != 2 {
			w.Errorf("the other has %+v", pages)
		}
		_, err := w.node.CDP(w.ctx, "acme:all", messages.CDPRequest{
			Method: "Target.getTargetInfo", Params: json.RawMessage(`{"targetId":"` + string(s.PageTargetID) + `"}`),
		})
		w.want(messages.CodeTargetForeign, err)
	})
	inWorldWith(t, "and one that is named", chaos.Options{Pages: 1}, allow, func(w *world) {
		spec := w.spec()
		s := w.start("other", own)
		spec.Scope = messages.ScopeBrowser
		_, err := scoped(w, spec)
		w.want(messages.CodeForbidden, err)
		spec.Scope, spec.TargetID = messages.ScopeTarget, s.PageTargetID
		_, err = scoped(w, spec)
		w.want(messages.CodeTargetForeign, err)
	})
}

// The renderer may take back what is common to all sessions of a page only some time after
// the link of another task has left the page.
func TestWhatAnotherTasksLeaveTakesBackLateIsSetAgain(t *testing.T) {
	t.Parallel()
	inWorld(t, "late", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", own).PageTargetID
		w.cdp("t", "", "Emulation.setEmulatedMedia", `{"media":"print"}`)
		w.start("other", own)
		synctest.Wait() // the connection that the other's link has begun leaves the page
		w.b.TakeBack(page, "Emulation.setEmulatedMedia")
		time.Sleep(renewsWithin)
		synctest.Wait()
		if got := w.b.Settings(page)["Emulation.setEmulatedMedia"]; got != `{"media":"print"}` {
			w.Errorf("the page has %q", got)
		}
	})
}

const renewsWithin = 2 * time.Second
