package acceptance_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// asking has a task show what its pages ask their browser for.
func asking(s *messages.TaskSpec) { s.Blockers = messages.AskAboutBlockers() }

// blocker waits for the one open blocker of the task.
func (k *task) blocker(kind messages.BlockerType) messages.Blocker {
	k.Helper()
	return k.await("a blocker of type "+string(kind), func(s *messages.Snapshot) bool {
		return len(s.Blockers) == 1 && s.Blockers[0].Type == kind
	}).Blockers[0]
}

// unblocked waits until nothing blocks the task.
func (k *task) unblocked() {
	k.Helper()
	k.await("no blocker", func(s *messages.Snapshot) bool { return len(s.Blockers) == 0 })
}

// answer takes the n-th of the next actions, with more input.
func (h *hands) answer(r *messages.ToolResult, n int, more messages.ToolInput) *messages.ToolResult {
	h.Helper()
	if len(r.NextActions) <= n {
		h.Fatalf("%s: no next action %d in %+v", r.Text, n, r.NextActions)
	}
	a := r.NextActions[n]
	for k, v := range more {
		a.Input[k] = v
	}
	input, err := json.Marshal(a.Input)
	if err != nil {
		h.Fatal(err)
	}
	return h.use(a.Tool, string(input))
}

const asksForPlace = `new Promise(done => navigator.geolocation.getCurrentPosition(p => done('at ' + p.coords.latitude), e => done('error ' + e.code)))`

// TestX27_PagesThatAskWait: a page that asks for a permission waits for the answer, and gets what
// it would have got of its browser. A call that waits for the page ends with the question.
func TestX27_PagesThatAskWait(t *testing.T) {
	t.Parallel()
	r := setup(t)
	h := r.task("x27-permission", asking).hands()
	r.site.Set("/asks", `<title>asks</title>`)
	h.visit(r.secure("/asks"))
	h.cdp("", "Emulation.setGeolocationOverride", `{"latitude":12,"longitude":34,"accuracy":1}`)
	began := h.snapshot().Version
	res := h.try("browser_evaluate", `{"expression":"window.got = `+asksForPlace+`"}`)
	b := h.blocker(messages.BlockerPermission)
	if res.Code != messages.CodeBlockedByDialog || len(res.NextActions) != 2 || b.Permission != "geolocation" || b.ExpiresAt <= b.OpenedAt || !strings.HasPrefix(r.secure("/"), b.Origin) || b.TargetID != h.snapshot().PageTargetID {
		t.Fatalf("%+v %+v", res, b)
	}
	if text := h.look(`{}`); !strings.Contains(text, "BLOCKER "+string(b.ID)+" permission") {
		t.Error(text)
	}
	if a := h.answer(res, 0, nil); a.OK == false || len(a.Blockers) != 0 {
		t.Errorf("%+v", a)
	}
	if got := h.awaited("got"); got != "at 12" {
		t.Errorf("granted: %s", got)
	}
	// What is granted is not asked for again.
	if got := h.awaited(asksForPlace); got != "at 12" {
		t.Errorf("once more: %s", got)
	}
	if again := h.try("browser_blocker", `{"action":"accept","blocker_id":"`+string(b.ID)+`"}`); again.Code != messages.CodeNotActionable {
		t.Errorf("%+v", again)
	}
	h.eval("", "window.got = Notification.requestPermission(), window.also = Notification.requestPermission(); 0")
	h.blocker(messages.BlockerPermission) // one for both calls
	h.use("browser_blocker", `{"action":"dismiss"}`)
	if got := h.awaited("Promise.all([got, also]).then(all => all.join())"); got != "denied,denied" {
		t.Errorf("denied: %s", got)
	}
	// A document that goes takes its question along.
	h.eval("", "navigator.clipboard.readText().catch(() => 0); 0")
	h.blocker(messages.BlockerPermission)
	h.visit(r.secure("/asks"))
	h.unblocked()
	events, err := h.node.Changes(h.id, began)
	if err != nil {
		t.Fatal(err)
	}
	var closed []string
	for _, e := range events {
		if c := e.ClosedBlocker; c != nil {
			closed = append(closed, string(c.ClosedBy)+" "+string(c.Action))
		}
	}
	if want := []string{"agent accept", "agent dismiss", "remote "}; !slices.Equal(closed, want) {
		t.Errorf("%q, want %q", closed, want)
	}
}

// TestX27_QuestionsOutliveTheLink: a page that waits is answered over the next link.
func TestX27_QuestionsOutliveTheLink(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Shared(t))
	k := r.task("x27-link", r.through(p), asking)
	r.site.Set("/asks", `<title>asks</title><input type=file id=pick>`)
	k.visit(r.secure("/asks"))
	k.eval("", "window.got = Notification.requestPermission(); pick.click(); 0")
	k.await("both blockers", func(s *messages.Snapshot) bool { return len(s.Blockers) == 2 })
	p.KillAll()
	for _, b := range k.whole(1).Blockers {
		h := k.hands()
		if b.Type == messages.BlockerPermission {
			h.use("browser_blocker", `{"action":"accept","blocker_id":"`+string(b.ID)+`"}`)
			if got := k.awaited("got"); got != "granted" {
				t.Errorf("granted: %s", got)
			}
			continue
		}
		h.use("browser_blocker", `{"action":"accept","blocker_id":"`+string(b.ID)+`","files":[{"name":"a.txt","content":"aGk="}]}`)
		if got := k.eval("", "pick.files[0].name"); got != `"a.txt"` {
			t.Errorf("chosen: %s", got)
		}
	}
	k.unblocked()
	k.eval("", "window.got = navigator.clipboard.readText().catch(e => e.name); 0")
	k.blocker(messages.BlockerPermission) // the next link asks too
}

// TestX27_FilesPrintsAndPDFs: a chooser that a page opens by itself, in a frame of another process
// too; a page that wants to be printed; a PDF that the browser shows.
func TestX27_FilesPrintsAndPDFs(t *testing.T) {
	t.Parallel()
	r := setup(t)
	h := r.task("x27-files", asking).hands()
	store := h.shelves()
	r.site.Set("/inner", `<title>inner</title><input type=file id=pick multiple>`)
	h.show("/outer", `<title>outer</title><iframe src="`+r.site.URL("http://b.test/inner")+`"></iframe>`)
	frame := h.frameWhere("/inner", func(n messages.FrameNode) bool {
		return n.IsOOPIF && n.SessionID != "" && strings.HasSuffix(n.URL, "/inner")
	}).FrameID
	h.await("its document", func(*messages.Snapshot) bool { return h.eval(frame, "document.readyState") == `"complete"` })
	h.eval(frame, "pick.click(); 0")
	if b := h.blocker(messages.BlockerFileChooser); b.FrameID != frame || !b.IsMultiple || b.BackendNodeID == 0 {
		t.Errorf("%+v", b)
	}
	h.use("browser_blocker", `{"action":"accept","files":[{"name":"a.txt","content":"aGk="},{"name":"b.txt","content":"aGk="}]}`)
	h.unblocked()
	if got := h.eval(frame, "[...pick.files].map(f => f.name).join()"); got != `"a.txt,b.txt"` {
		t.Errorf("chosen: %s", got)
	}
	h.eval("", "print(); 0")
	h.blocker(messages.BlockerPrint)
	printed := h.use("browser_blocker", `{"action":"accept"}`)
	if len(printed.Artifacts) != 1 || !strings.HasPrefix(string(h.bytesOf(store, printed.Artifacts[0])), "%PDF") {
		t.Errorf("%+v", printed)
	}
	h.unblocked()
	pdf := h.bytesOf(store, printed.Artifacts[0])
	r.site.Handle("/paper", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(pdf)
	}))
	h.use("browser_navigate", `{"url":"`+r.site.URL("http://a.test/paper")+`"}`)
	h.blocker(messages.BlockerPDF)
	saved := h.use("browser_blocker", `{"action":"accept"}`)
	if len(saved.Artifacts) != 1 || !slices.Equal(h.bytesOf(store, saved.Artifacts[0]), pdf) {
		t.Errorf("%+v", saved)
	}
	h.unblocked()
}

// TestX27_PoliciesDecide: what a task's policies say is done at once, and told.
func TestX27_PoliciesDecide(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.site.Set("/asks", `<title>asks</title><input type=file id=pick>`)
	k := r.task("x27-policy", func(s *messages.TaskSpec) {
		s.Blockers = &messages.BlockerPolicies{FileChooser: messages.BlockersDismiss, Permission: messages.BlockersAccept, Print: messages.BlockersDismiss}
		s.DialogTimeoutS = 0.5
	})
	k.visit(r.secure("/asks"))
	if got := k.awaited("Notification.requestPermission()"); got != "granted" {
		t.Errorf("accept: %s", got)
	}
	k.eval("", "window.got = new Promise(done => { pick.oncancel = () => done('cancelled') }); pick.click(); 0")
	if got := k.awaited("got"); got != "cancelled" {
		t.Errorf("dismiss: %s", got)
	}
	k.eval("", "print(); 0")
	k.unblocked()
	// Nothing answers this one.
	w := r.task("x27-watchdog", asking, func(s *messages.TaskSpec) { s.DialogTimeoutS = 0.3 })
	w.visit(r.secure("/asks"))
	if got := w.awaited("Notification.requestPermission()"); got != "denied" {
		t.Errorf("the watchdog: %s", got)
	}
	w.unblocked()
	// Who asks for nothing has pages as they are.
	p := r.task("x27-plain")
	p.visit(r.secure("/asks"))
	if got := p.eval("", "[print, Notification.requestPermission, navigator.geolocation.getCurrentPosition].every(f => /native code/.test(f))"); got != "true" {
		t.Error("a page has functions of ours that no policy asks for")
	}
}
