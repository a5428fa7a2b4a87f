package acceptance_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

func TestAHungPageIsNavigatedOrReplaced(t *testing.T) {
	t.Parallel()
	spins := func(t *testing.T) *patient {
		p := setupOn(t, chromiumtest.Launch(t)).patient("spins")
		p.goTo("http://a.test/busy")
		p.later("", "spin()")
		return p
	}
	usable := func(p *patient) {
		p.Helper()
		p.is(messages.PageOK)
		if got := p.eval("", "location.pathname"); got != `"/plain"` && got != `"/busy"` {
			p.Errorf("the page is at %s", got)
		}
	}
	t.Run("one that is known to hang is navigated", func(t *testing.T) {
		t.Parallel()
		p := spins(t)
		go func() { _, _ = p.tryEval("", "1") }() // ends with the test
		p.is(messages.PageHung)
		p.goTo("http://a.test/plain")
		usable(p)
	})
	t.Run("one that was not is replaced", func(t *testing.T) {
		t.Parallel()
		p := spins(t)
		_, err := p.node.Navigate(p.ctx, p.id, messages.NavigateRequest{URL: p.site.URL("http://a.test/plain"), TimeoutS: 5})
		wantCode(t, err, messages.CodePageWedged)
		p.is(messages.PageHung)
		old := p.snapshot().PageTargetID
		// Until its next document has come so far, a reload frees the page.
		witness := chromiumtest.Dial(t, p.chrome.WS())
		until(t, "a page between two documents", func() bool {
			page := find(targets(t, witness), old)
			return page != nil && page.URL == ""
		})
		if _, err := p.recover(messages.RecoverReload); messages.CodeOf(err) != messages.CodePageWedged || !strings.Contains(err.Error(), "replace") {
			t.Errorf("reload: %v", err)
		}
		// Chrome has no address for it, and a new link is told of none.
		p.loseBoth()
		p.await("hung behind a new link", func(s *messages.Snapshot) bool {
			return s.Connection.Reconnects > 0 && s.Connection.Primary == messages.LinkUp && s.PageState == messages.PageHung
		})
		r, err := p.recover(messages.RecoverReplace)
		if err != nil {
			t.Fatal(err)
		}
		if s := p.snapshot(); len(s.Pages) != 1 || s.PageTargetID == old || s.PageTargetID != r.Page.TargetID {
			t.Errorf("the page is %+v, the task's are %+v", r.Page, s.Pages)
		}
		usable(p)
		if got := p.eval("", "location.pathname"); got != `"/busy"` {
			t.Errorf("it is not where the page was last, but at %s", got)
		}
	})
	t.Run("a task without a page navigates in a new one", func(t *testing.T) {
		t.Parallel()
		p := spins(t)
		go func() { _, _ = p.tryEval("", "1") }() // ends with the test
		p.is(messages.PageHung)
		if _, err := p.recover(messages.RecoverClose); err != nil {
			t.Fatal(err)
		}
		p.goTo("http://a.test/plain")
		usable(p)
	})
}

// Ten pages whose renderers start are ten pages that answer in a moment.
func TestOnWedge_PagesThatStartAreNotClosed(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	raw := chromiumtest.Dial(t, b.WS())
	var pages []messages.TargetID
	for i := range 10 {
		url := r.site.URL(fmt.Sprintf("http://%c.test/plain", 'a'+rune(i)))
		pages = append(pages, messages.TargetID(chromiumtest.Field(raw.Must("", "Target.createTarget", map[string]any{"url": url, "background": true}), "targetId")))
	}
	var starting sync.WaitGroup
	for i, page := range pages {
		starting.Go(func() {
			id := messages.TaskID(fmt.Sprintf("starts-%d", i))
			spec := r.spec()
			spec.Scope, spec.TargetID, spec.OnWedge, spec.OnWedgeAfterS = messages.ScopeTarget, page, messages.OnWedgeClose, messages.MinOnWedgeAfter.Seconds()
			s, _, err := r.node.GetOrStart(r.ctx, id, spec)
			switch {
			case err != nil:
				t.Errorf("%s: %v", id, err)
			case s.PageState == messages.PageDialogUnreachable:
				t.Errorf("%s: a page that starts is said to be %s", id, s.PageState)
			}
		})
	}
	starting.Wait()
	for i, page := range pages {
		k := &task{r, messages.TaskID(fmt.Sprintf("starts-%d", i))}
		k.await("a page that answers", func(s *messages.Snapshot) bool {
			return len(s.Pages) == 1 && s.Pages[0].TargetID == page && s.PageState == messages.PageOK
		})
	}
}

// A machine with more to do than it can is no reason to blame a page that
// answers as soon as it is let.
func TestNoneHasIt4_NoHealthyPageIsCalledHungOnABusyMachine(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	k := r.task("healthy")
	k.goTo("http://a.test/plain")
	w := k.watch()
	for range 6 {
		busy := chromiumtest.Dial(t, b.WS()).NewPage(r.site.URL("http://b.test/busy"))
		busy.Start(busy.Session, "spin()")
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(k.ctx, patience)
		if v, err := evalOn(ctx, k.node, k.id, messages.CDPRequest{TimeoutS: 20}, "document.title"); err != nil || v != `"/plain"` {
			t.Fatalf("the healthy page said %s, %v", v, err)
		}
		cancel()
	}
	k.goTo("http://a.test/confirm")
	w.until("the end", func(e messages.Event) bool { return e.Page != nil && strings.HasSuffix(e.Page.URL, "/confirm") })
	for _, e := range w.seen {
		if e.Page != nil && e.Page.PageState != messages.PageOK {
			t.Errorf("the healthy page was blamed: %+v", e.Page)
		}
	}
}
