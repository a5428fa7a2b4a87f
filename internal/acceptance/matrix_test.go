package acceptance_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

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
	open func(k *task) spot
}

func visit(url string) func(*task) spot {
	return func(k *task) spot {
		k.goTo(url)
		return spot{where: messages.CDPRequest{TargetID: k.snapshot().PageTargetID}, leave: "http://a.test/matrix-left"}
	}
}

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

var matrix = []row{
	{name: "http", open: visit("http://a.test/matrix")},
	{name: "https", open: visit("https://a.test/matrix")},
	{name: "CSP connect-src 'self'", open: visit("https://a.test/matrix-csp-self")},
	{name: "CSP connect-src 'none'", open: visit("https://a.test/matrix-csp-none")},
	{name: "CSP default-src 'none'", open: visit("https://a.test/matrix-csp-all")},
	{name: "trusted types", open: visit("https://a.test/matrix-trusted")},
	{name: "COOP, COEP", open: visit("https://a.test/matrix-isolated")},
	{name: "sync-xhr=()", open: visit("https://a.test/matrix-nosync")},
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
	{name: "frame, same origin", open: below("https://a.test/matrix-holds-same", "/matrix")},
	{name: "frame, other process", open: below("https://a.test/matrix-holds-other", "/matrix")},
	{name: "frame, https in http", open: below("http://a.test/matrix-holds-other", "/matrix")},
	{name: "frame, srcdoc", open: below("https://a.test/matrix-holds-srcdoc", "about:srcdoc")},
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
	{name: "frame used at once", open: inPage("https://a.test/matrix", "document.documentElement.appendChild(document.createElement('iframe')).contentWindow.")},
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
	holds("data", `<script>addEventListener('message', e => { window.got = e.data })</script><iframe src="data:text/html,<script>addEventListener('message', e => { const v = eval(e.data); parent.postMessage(typeof v + ' ' + v, '*') })</script>"></iframe>`)
	holds("blob", `<script>const f = document.createElement('iframe'); f.src = URL.createObjectURL(new Blob(['<p>'], {type: 'text/html'})); document.documentElement.append(f)</script>`)
	holds("modals", `<iframe sandbox="allow-scripts allow-modals" src="/matrix"></iframe>`)
	holds("sandbox", `<iframe sandbox="allow-scripts" src="/matrix"></iframe>`)
	holds("sandbox-same", `<iframe sandbox="allow-scripts allow-same-origin" src="/matrix"></iframe>`)
}

// cell is one kind of dialog on one kind of page.
func (k *task) cell(c row, s spot, kind, path string, p messages.DialogPolicy) error {
	run := func(expression string) (string, error) {
		return evalOn(k.ctx, k.node, k.id, s.where, expression)
	}
	before := len(k.snapshot().RecentDialogs)
	var last messages.DialogID
	if before > 0 {
		last = k.snapshot().RecentDialogs[before-1].ID
	}
	call := map[string]string{"alert": "alert('m')", "confirm": "confirm('m')", "prompt": "prompt('m', 'd')"}[kind]
	script := "window.got = undefined; setTimeout(() => { const v = " + s.in + call + "; window.got = typeof v + ' ' + v }); 0"
	if s.relay {
		script = "window.got = undefined; frames[0].postMessage(" + strconv.Quote(call) + ", '*'); 0"
	}
	if _, err := run(script); err != nil {
		return err
	}
	want := map[string]string{"alert": "undefined undefined", "confirm": "boolean true", "prompt": "string d"}[kind]
	switch {
	case c.none:
		want = map[string]string{"alert": "undefined undefined", "confirm": "boolean false", "prompt": "object null"}[kind]
	case p == messages.PolicyAutoDismiss:
		want = map[string]string{"alert": "undefined undefined", "confirm": "boolean false", "prompt": "object null"}[kind]
	case p == messages.PolicyMustRespond:
		d := k.dialog()
		if d.Path != path || d.Type != kind || d.Message != "m" {
			return fmt.Errorf("dialog %+v", d)
		}
		answer := messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID}
		if kind == "prompt" {
			answer.PromptText, want = text("t"), "string t"
		}
		k.respond(answer)
	}
	var got string
	until(k.T, "the page's own account", func() bool {
		var err error
		got, err = run("window.got")
		return err == nil && got != "undefined"
	})
	if got != `"`+want+`"` {
		return fmt.Errorf("the page received %s, want %q", got, want)
	}
	newest := func(s *messages.Snapshot) (d messages.ClosedDialog) {
		if n := len(s.RecentDialogs); n > 0 {
			d = s.RecentDialogs[n-1]
		}
		return d
	}
	if c.none {
		if d := newest(k.snapshot()); d.ID != last {
			return fmt.Errorf("a dialog was told of: %+v", d)
		}
		return nil
	}
	// The page may be faster than the record of a policy's answer.
	d := newest(k.await("the record", func(s *messages.Snapshot) bool { return newest(s).ID != last }))
	if d.Path != path || d.Type != kind {
		return fmt.Errorf("history says %+v", d)
	}
	return nil
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

// TestDialogMatrix is every kind of page by every kind of dialog, natively and over
// the bridge, by every policy. With -v it prints the table.
func TestDialogMatrix(t *testing.T) {
	t.Parallel()
	kinds := []string{"alert", "confirm", "prompt", "beforeunload"}
	policies := []messages.DialogPolicy{messages.PolicyMustRespond, messages.PolicyAutoAccept, messages.PolicyAutoDismiss}
	var mu sync.Mutex
	table := map[string]string{} // row, kind, path → what failed
	t.Run("on", func(t *testing.T) {
		for _, path := range []string{messages.PathNative, messages.PathBridge} {
			for _, p := range policies {
				t.Run(path+"/"+string(p), func(t *testing.T) {
					t.Parallel()
					r := setup(t)
					matrixPages(r)
					k := r.task("matrix", policy(p), func(s *messages.TaskSpec) {
						s.Bridge = map[string]string{messages.PathNative: messages.BridgeOff, messages.PathBridge: messages.BridgeOn}[path]
					})
					for _, c := range matrix {
						s := c.open(k)
						for _, kind := range kinds {
							var err error
							switch {
							case kind != "beforeunload":
								err = k.cell(c, s, kind, path, p)
							case s.leave != "" && !c.none:
								err = k.asksBefore(s)
							default:
								continue
							}
							mu.Lock()
							cell := c.name + "|" + kind + "|" + path
							if _, ok := table[cell]; !ok {
								table[cell] = "ok"
							}
							if err != nil {
								table[cell] = "FAILED"
								t.Errorf("%s, %s: %v", c.name, kind, err)
							} else if c.none {
								table[cell] = "none"
							}
							mu.Unlock()
						}
					}
				})
			}
		}
	})
	if !testing.Verbose() {
		return
	}
	fmt.Print("\n| page | " + strings.Join(kinds, " | ") + " |\n|---|---|---|---|---|\n")
	for _, c := range matrix {
		fmt.Printf("| %s |", c.name)
		for _, kind := range kinds {
			native, bridge := table[c.name+"|"+kind+"|native"], table[c.name+"|"+kind+"|bridge"]
			if native == bridge {
				fmt.Printf(" %s |", native)
			} else {
				fmt.Printf(" native %s, bridge %s |", native, bridge)
			}
		}
		fmt.Println()
	}
}
