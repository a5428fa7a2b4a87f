package acceptance_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"holdfast/chaos/hosted"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// spot is where a matrix row's functions are called: an expression before the
// name of the function, in a page or a frame.
type spot struct {
	where messages.CDPRequest
	in    string
	relay bool   // by a message to the first frame, which is of another origin in the same process
	leave string // where a navigation asks before it leaves; "" is nowhere
}

// row is one kind of page.
type row struct {
	name string
	// none says that the platform opens no dialog there.
	none bool
	// unheard says that its documents may make no request that we hear, or none that is
	// synchronous: by requests it keeps its native dialogs.
	unheard bool
	open    func(k *task) spot
}

func visit(url string) func(*task) spot {
	return func(k *task) spot {
		k.goTo(url)
		return spot{where: messages.CDPRequest{TargetID: k.snapshot().PageTargetID}, leave: left}
	}
}

// left is where a page is left for.
const left = "http://a.test/matrix-left"

// below visits a page and asks in its only frame, of a process of its own or not.
func below(url, suffix string) func(*task) spot {
	return func(k *task) spot {
		k.goTo(url)
		f := k.frameWhere("the frame", func(n messages.FrameNode) bool {
			return strings.Contains(n.URL, suffix) && (!n.IsOOPIF || n.SessionID != "")
		})
		if f.IsOOPIF {
			return spot{where: messages.CDPRequest{FrameID: f.FrameID}}
		}
		return spot{where: messages.CDPRequest{TargetID: k.snapshot().PageTargetID}, in: "frames[0]."}
	}
}

func inPage(url, in string) func(*task) spot {
	return func(k *task) spot {
		s := visit(url)(k)
		s.in, s.leave = in, ""
		return s
	}
}

// atOnceInFrame asks in a frame in the moment in which it is made (C45).
func atOnceInFrame(how string) func(*task) spot {
	return inPage("https://a.test/matrix", "(f => { "+how+"; document.documentElement.append(f); return f.contentWindow })(document.createElement('iframe')).")
}

var matrix = []row{
	{name: "http", open: visit("http://a.test/matrix")},
	{name: "https", open: visit("https://a.test/matrix")},
	{name: "CSP connect-src 'self'", open: visit("https://a.test/matrix-csp-self")},
	{name: "CSP connect-src 'none'", unheard: true, open: visit("https://a.test/matrix-csp-none")},
	{name: "CSP connect-src, hosts", unheard: true, open: visit("https://a.test/matrix-csp-hosts")},
	{name: "CSP connect-src https:", open: visit("https://a.test/matrix-csp-scheme")},
	{name: "CSP connect-src *", open: visit("https://a.test/matrix-csp-any")},
	{name: "CSP default-src 'none'", unheard: true, open: visit("https://a.test/matrix-csp-all")},
	{name: "CSP default-src 'self'", open: visit("https://a.test/matrix-csp-default")},
	{name: "upgrade-insecure-requests, https", open: visit("https://a.test/matrix-upgrade")},
	{name: "upgrade-insecure-requests, http", open: visit("http://a.test/matrix-upgrade")},
	{name: "trusted types", open: visit("https://a.test/matrix-trusted")},
	{name: "COOP, COEP", open: visit("https://a.test/matrix-isolated")},
	{name: "sync-xhr=()", unheard: true, open: visit("https://a.test/matrix-nosync")},
	{name: "service worker", open: func(k *task) spot {
		s := visit("https://a.test/matrix-worker")(k)
		k.evalPromise("", "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 1)")
		k.goTo("https://a.test/matrix-worker")
		if got := k.eval("", "navigator.serviceWorker.controller !== null"); got != "true" {
			k.Error("no service worker controls the page")
		}
		return s
	}},
	{name: "about:blank", open: visit("about:blank")},
	{name: "data: page", open: visit("data:text/html,<title>data</title>")},
	{name: "file: page", open: func(k *task) spot {
		file := filepath.Join(k.TempDir(), "matrix.html")
		if err := os.WriteFile(file, []byte("<title>file</title><p>"), 0o600); err != nil {
			k.Fatal(err)
		}
		return visit("file://" + file)(k)
	}},
	{name: "error page", open: func(k *task) spot {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			k.Fatal(err)
		}
		_ = l.Close()
		_, err = k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: "http://" + l.Addr().String()})
		if e := wantCode(k.T, err, messages.CodeCDPError); e.Details["error_text"] != "net::ERR_CONNECTION_REFUSED" {
			k.Errorf("details %v", e.Details)
		}
		if got := k.eval("", "location.protocol"); got != `"chrome-error:"` {
			k.Errorf("no error page: %s", got)
		}
		return spot{where: messages.CDPRequest{TargetID: k.snapshot().PageTargetID}, leave: left}
	}},
	{name: "frame, same origin", open: below("https://a.test/matrix-holds-same", "/matrix")},
	{name: "frame, other process", open: below("https://a.test/matrix-holds-other", "/matrix")},
	{name: "frame, https in http", open: below("http://a.test/matrix-holds-other", "/matrix")},
	{name: "frame, srcdoc", open: below("https://a.test/matrix-holds-srcdoc", "about:srcdoc")},
	{name: "frame, srcdoc, connect-src 'none'", unheard: true, open: below("https://a.test/matrix-holds-srcdoc-none", "about:srcdoc")},
	{name: "frame, data:", open: func(k *task) spot {
		s := below("https://a.test/matrix-holds-data", "data:")(k)
		s.relay = true
		return s
	}},
	{name: "frame, blob:", open: below("https://a.test/matrix-holds-blob", "blob:")},
	{name: "sandbox with modals", open: below("https://a.test/matrix-holds-modals", "/matrix")},
	{name: "sandbox without", none: true, open: below("https://a.test/matrix-holds-sandbox", "/matrix")},
	{name: "sandbox, same origin", none: true, open: below("https://a.test/matrix-holds-sandbox-same", "/matrix")},
	{name: "CSP sandbox", none: true, open: visit("https://a.test/matrix-csp-sandbox")},
	{name: "frame used at once, blank", open: atOnceInFrame("")},
	{name: "frame used at once, javascript:", open: atOnceInFrame("f.src = 'javascript:0'")},
	{name: "document.open", open: inPage("https://a.test/matrix", "(document.open(), document.write('<title>new</title><p>'), document.close(), window).")},
	{name: "popup", open: func(k *task) spot {
		visit("https://a.test/matrix")(k)
		opener := k.snapshot().PageTargetID
		k.laterOn(opener, "window.open('/matrix')")
		popup := k.popup(opener).TargetID
		k.await("the popup's document", func(s *messages.Snapshot) bool {
			return slices.ContainsFunc(s.Pages, func(p messages.Page) bool { return p.TargetID == popup && p.Title == "/matrix" })
		})
		return spot{where: messages.CDPRequest{TargetID: popup}}
	}},
}

func matrixPages(r *rig) {
	page := func(path string, header ...string) {
		r.site.SetType(path, "text/html", "<title>"+path+"</title><p>", header...)
	}
	page("/matrix")
	page("/matrix-left")
	page("/matrix-csp-self", "Content-Security-Policy: connect-src 'self'")
	page("/matrix-csp-none", "Content-Security-Policy: connect-src 'none'")
	page("/matrix-csp-hosts", "Content-Security-Policy: connect-src https://api.example https://*.cdn.example")
	page("/matrix-csp-scheme", "Content-Security-Policy: connect-src https:")
	page("/matrix-csp-any", "Content-Security-Policy: connect-src *")
	page("/matrix-csp-default", "Content-Security-Policy: default-src 'self'")
	page("/matrix-upgrade", "Content-Security-Policy: upgrade-insecure-requests")
	r.site.SetType("/matrix-holds-srcdoc-none", "text/html", `<title>holds srcdoc</title><iframe srcdoc="<p>"></iframe>`, "Content-Security-Policy: connect-src 'none'")
	page("/matrix-csp-all", "Content-Security-Policy: default-src 'none'")
	page("/matrix-csp-sandbox", "Content-Security-Policy: sandbox allow-scripts")
	page("/matrix-trusted", "Content-Security-Policy: require-trusted-types-for 'script'; trusted-types 'none'")
	page("/matrix-isolated", "Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Embedder-Policy: require-corp")
	page("/matrix-nosync", "Permissions-Policy: sync-xhr=()")
	page("/matrix-worker")
	r.site.SetType("/worker.js", "text/javascript", "addEventListener('install', () => skipWaiting()); addEventListener('activate', e => e.waitUntil(clients.claim())); addEventListener('fetch', e => e.respondWith(fetch(e.request)))")
	holds := func(name, frame string) {
		r.site.Set("/matrix-holds-"+name, "<title>holds "+name+"</title>"+frame)
	}
	holds("same", `<iframe src="/matrix"></iframe>`)
	holds("other", `<iframe src="https://b.test/matrix"></iframe>`)
	holds("srcdoc", `<iframe srcdoc="<p>"></iframe>`)
	holds("data", `<script>addEventListener('message', e => { got.push(e.data) })</script><iframe src="data:text/html,<script>addEventListener('message', e => { const v = eval(e.data); parent.postMessage(typeof v + ' ' + v, '*') })</script>"></iframe>`)
	holds("blob", `<script>const f = document.createElement('iframe'); f.src = URL.createObjectURL(new Blob(['<p>'], {type: 'text/html'})); document.documentElement.append(f)</script>`)
	holds("modals", `<iframe sandbox="allow-scripts allow-modals" src="/matrix"></iframe>`)
	holds("sandbox", `<iframe sandbox="allow-scripts" src="/matrix"></iframe>`)
	holds("sandbox-same", `<iframe sandbox="allow-scripts allow-same-origin" src="/matrix"></iframe>`)
}

// call opens a dialog, and what its page has of it by the answer.
type call struct {
	kind                                messages.DialogType
	call, accepted, answered, dismissed string
}

// calls are the kinds of dialogs that a script opens.
var calls = []call{
	{"alert", "alert('m')", "undefined undefined", "undefined undefined", "undefined undefined"},
	{"confirm", "confirm('m')", "boolean true", "boolean true", "boolean false"},
	{"prompt", "prompt('m', 'd')", "string d", "string t", "object null"},
}

// asks has one kind of page ask, one call right behind the other, and adds to failed what
// was wrong with each.
func (k *task) asks(c row, s spot, path messages.DialogPath, p messages.DialogPolicy, failed map[string]error, calls ...call) {
	fail := func(kind, format string, args ...any) {
		failed[kind] = errors.Join(failed[kind], fmt.Errorf(format, args...))
	}
	run := func(expression string) (string, error) {
		return evalOn(k.ctx, k.node, k.id, s.where, expression)
	}
	var script strings.Builder
	script.WriteString("window.got = []; ")
	if !s.relay {
		script.WriteString("setTimeout(() => { let v; ")
	}
	for _, a := range calls {
		if s.relay {
			fmt.Fprintf(&script, "frames[0].postMessage(%q, '*'); ", a.call)
		} else {
			fmt.Fprintf(&script, "try { v = %s%s; got.push(typeof v + ' ' + v) } catch (e) { got.push('threw ' + e) } ", s.in, a.call)
		}
	}
	if !s.relay {
		script.WriteString("}); ")
	}
	var last messages.DialogID
	if recent := k.snapshot().RecentDialogs; len(recent) > 0 {
		last = recent[len(recent)-1].ID
	}
	since := func(s *messages.Snapshot) []messages.ClosedDialog {
		i := slices.IndexFunc(s.RecentDialogs, func(d messages.ClosedDialog) bool { return d.ID == last })
		return s.RecentDialogs[i+1:]
	}
	if _, err := run(script.String() + "0"); err != nil {
		fail(string(calls[0].kind), "%w", err)
		return
	}
	var closed []messages.ClosedDialog
	if !c.none {
		for _, a := range calls {
			if p != messages.PolicyMustRespond {
				break
			}
			d := k.dialog()
			if d.Path != path || d.Type != a.kind || d.Message != "m" {
				fail(string(a.kind), "dialog %+v", d)
			}
			answer := messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID}
			if d.Type == "prompt" {
				answer.PromptText = text("t")
			}
			k.respond(answer)
		}
		k.await("the records", func(s *messages.Snapshot) bool {
			closed = since(s)
			return len(closed) >= len(calls)
		})
	}
	var got []string
	until(k.T, "the page's own account", func() bool {
		v, err := run("got")
		return err == nil && json.Unmarshal([]byte(v), &got) == nil && len(got) == len(calls)
	})
	if closed := since(k.snapshot()); c.none && len(closed) > 0 {
		fail(string(calls[0].kind), "dialogs were told of: %+v", closed)
	}
	for i, a := range calls {
		want := a.dismissed
		switch {
		case c.none || p == messages.PolicyAutoDismiss:
		case p == messages.PolicyAutoAccept:
			want = a.accepted
		default:
			want = a.answered
		}
		if got[i] != want {
			fail(string(a.kind), "the page received %s, want %s", got[i], want)
		}
		by := messages.ClosedByAutoPolicy
		if p == messages.PolicyMustRespond {
			by = messages.ClosedByAgent
		}
		if !c.none && (closed[i].Path != path || closed[i].Type != a.kind || closed[i].ClosedBy != by) {
			fail(string(a.kind), "history says %+v", closed[i])
		}
	}
}

// asksBefore has the page ask before it is left, natively on either path.
func (k *task) asksBefore(s spot) error {
	if _, err := evalOn(k.ctx, k.node, k.id, s.where, "addEventListener('beforeunload', e => { e.preventDefault() }); 1"); err != nil {
		return err
	}
	_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL(s.leave)})
	if messages.CodeOf(err) == messages.CodeBlockedByDialog { // must_respond, with an anchor: it asks
		d := k.dialog()
		if d.Type != "beforeunload" || d.Path != "native" {
			return fmt.Errorf("dialog %+v", d)
		}
		k.respond(messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID})
	} else if err != nil {
		return err
	}
	until(k.T, "the page left", func() bool {
		title, err := evalOn(k.ctx, k.node, k.id, s.where, "document.title")
		return err == nil && title == `"/matrix-left"`
	})
	s2 := k.await("its dialog over", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 0 })
	if c := s2.RecentDialogs[len(s2.RecentDialogs)-1]; c.Type != "beforeunload" || c.Path != "native" || c.Action != messages.ActionAccept {
		return fmt.Errorf("history says %+v", c)
	}
	return nil
}

// ways are how dialogs come.
var ways = []struct {
	name   string
	bridge messages.Bridge
	by     messages.BridgeBy
}{
	{"natively", messages.BridgeOff, ""},
	{"over the bridge, by the debugger", messages.BridgeOn, "debugger"},
	{"over the bridge, by requests", messages.BridgeOn, "request"},
}

var policies = []messages.DialogPolicy{messages.PolicyMustRespond, messages.PolicyAutoAccept, messages.PolicyAutoDismiss}

// cell is what came of one kind of page, by one way and one policy.
type cell struct {
	way    string
	page   string
	policy messages.DialogPolicy
}

var matrixTo = flag.String("matrix", "", "the file that TestDialogMatrix writes its tables to")

// TestDialogMatrix is every kind of page by every kind of dialog, by every way and every
// policy. Its tables are those of docs/bridge.md.
func TestDialogMatrix(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found, why := map[cell]string{}, []string{}
	asked := map[string]string{} // by page
	t.Run("on", func(t *testing.T) {
		refusing := host(t, hosted.Options{Refuse: []string{"Debugger"}})
		for _, w := range ways {
			for _, p := range policies {
				t.Run(w.name+"/"+string(p), func(t *testing.T) {
					t.Parallel()
					r := setupOn(t, chromiumtest.Shared(t))
					if w.by == "request" {
						r = refusing.setup(t)
					}
					matrixPages(r)
					k := r.task("matrix", policy(p), func(s *messages.TaskSpec) { s.Bridge = w.bridge })
					for _, c := range matrix {
						at := cell{w.name, c.name, p}
						mu.Lock()
						found[at] = "FAILED: ended the run" // if nothing else is heard of it
						mu.Unlock()
						kinds, result, failed := k.cell(c, w.bridge, w.by, p)
						mu.Lock()
						asked[c.name], found[at] = strings.Join(kinds, ", "), result
						if len(failed) > 0 {
							found[at] = "FAILED: " + strings.Join(slices.Sorted(maps.Keys(failed)), ", ")
						}
						for _, kind := range slices.Sorted(maps.Keys(failed)) {
							why = append(why, fmt.Sprintf("%s, %s, %s, %s: %v", w.name, p, c.name, kind, failed[kind]))
							t.Errorf("%s, %s: %v", c.name, kind, failed[kind])
						}
						mu.Unlock()
					}
				})
			}
		}
	})
	var b strings.Builder
	for _, w := range ways {
		fmt.Fprintf(&b, "**%s%s**\n\n| page | dialogs |", strings.ToUpper(w.name[:1]), w.name[1:])
		for _, p := range policies {
			fmt.Fprintf(&b, " %s |", p)
		}
		b.WriteString("\n|---|---|---|---|---|\n")
		for _, c := range matrix {
			fmt.Fprintf(&b, "| %s | %s |", c.name, asked[c.name])
			for _, p := range policies {
				fmt.Fprintf(&b, " %s |", cmp.Or(found[cell{w.name, c.name, p}], "not reached"))
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	tables := strings.TrimSpace(b.String())
	if *matrixTo != "" {
		if err := os.WriteFile(*matrixTo, []byte(strings.Join(append([]string{tables}, why...), "\n")+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	if docs, err := os.ReadFile("../../docs/bridge.md"); err != nil || !t.Failed() && !strings.Contains(string(docs), tables) {
		t.Errorf("docs/bridge.md does not have the tables that make dialog-matrix prints (%v)", err)
	}
}

// cell tries one kind of page. It returns the kinds of dialogs, what their page is (ok,
// none where the platform opens no dialog, native where the bridge is no way), and what
// was wrong.
func (k *task) cell(c row, bridge messages.Bridge, by messages.BridgeBy, p messages.DialogPolicy) (kinds []string, result string, failed map[string]error) {
	s := c.open(k)
	path, state, result := messages.PathBridge, messages.BridgeOn, "ok"
	switch {
	case bridge == messages.BridgeOff:
		path, state = messages.PathNative, messages.BridgeNative
	case by == "request" && c.unheard:
		path, state, result = messages.PathNative, messages.BridgeUnavailable, "native"
	}
	if c.none {
		result = "none"
	}
	page := s.where.TargetID
	if page == "" {
		page = k.snapshot().PageTargetID
	}
	k.await(c.name+": "+string(state), func(s *messages.Snapshot) bool {
		i := slices.IndexFunc(s.Pages, func(p messages.Page) bool { return p.TargetID == page })
		return i >= 0 && s.Pages[i].Bridge == state && s.Connection.BridgeBy == by
	})
	failed = map[string]error{}
	if !c.none {
		k.asks(c, s, path, p, failed, calls...)
	}
	for _, a := range calls {
		kinds = append(kinds, string(a.kind))
		if c.none {
			k.asks(c, s, path, p, failed, a)
		}
	}
	if s.leave != "" && !c.none {
		kinds = append(kinds, "beforeunload")
		if err := k.asksBefore(s); err != nil {
			failed["beforeunload"] = err
		}
	}
	return kinds, result, failed
}
