package acceptance_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/api"
	cdpgateway "holdfast/internal/gateway"
	"holdfast/internal/run"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// runScript runs a script on the task's main tab.
func (k *task) runScript(table *tools.Table, code string) *messages.ToolResult {
	k.Helper()
	input, err := json.Marshal(messages.RunRequest{Code: code})
	if err != nil {
		k.Fatal(err)
	}
	return table.Call(k.ctx, tools.Caller{}, k.id, "browser_run", input)
}

func (k *task) scripts() *tools.Table {
	k.Helper()
	clients := cdpgateway.New(cdpgateway.Config{Node: k.node})
	runner := run.New(run.OnGateway(clients))
	k.Cleanup(runner.Close)
	return tools.New(k.node, nil).WithScripts(runner)
}

// TestScripts shares one engine, which takes a while to make: a script drives its page by
// Puppeteer's own page and browser (T17), what it displays comes in its order (T20, T21), apart
// from its console (T38), and one that does not end is ended (T19).
func TestScripts(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("run")
	table := k.scripts()
	for name, test := range map[string]func(*testing.T, *task, *tools.Table){
		"puppeteer": scriptsDriveThePage, "display": displayKeepsItsOrder, "end": endlessScriptsEnd, "task ends": scriptsEndWithTheirTask, "omp": oneToolDoesAll, "secrets": scriptsHideSecrets,
	} {
		t.Run(name, func(t *testing.T) {
			k.goTo("http://a.test/plain")
			test(t, k, table)
		})
	}
}

// scriptsHideSecrets: a literal of a script reappears neither in its error nor on its console (W26).
func scriptsHideSecrets(t *testing.T, k *task, table *tools.Table) {
	const secret = "xoxb-0123456789-abcdefghijkl"
	r := k.runScript(table, "console.log('got "+secret+"'); throw new Error('no "+secret+"')")
	raw, err := json.Marshal(r)
	if err != nil || strings.Contains(string(raw), secret) || strings.Count(string(raw), "***") < 2 {
		t.Errorf("%s %v", raw, err)
	}
}

// oneToolDoesAll drives the task by the one tool of oh-my-pi, over MCP (T1, T4, T6, D29).
func oneToolDoesAll(t *testing.T, k *task, table *tools.Table) {
	r := *k.rig
	r.T = t
	id := r.task("omp").id // of its own: it sets how dialogs are answered
	_, over := r.inside(func(c *api.Config) { c.Tools = table })
	over.Endpoint = "http://localhost/mcp?profile=omp&task=" + string(id)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "omp", Version: "1"}, nil).Connect(r.ctx, over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	a := agent{t, c}
	for range 2 { // opened, and taken again
		a.does("browser", map[string]any{"action": "open", "name": "shop", "url": r.site.URL("http://a.test/plain"), "viewport": map[string]any{"width": 500, "height": 400, "scale": 2}, "dialogs": "accept"})
	}
	said := a.does("browser", map[string]any{"action": "run", "name": "shop", "code": "display(await page.evaluate(() => innerWidth + ' ' + devicePixelRatio + ' ' + confirm('sure?'))); return (await browser.pages()).length"})
	if !strings.Contains(said, "500 2 true") || !strings.Contains(said, "\n2\n") {
		t.Error(said)
	}
	a.does("browser", map[string]any{"action": "close", "name": "shop"})
	if text, res, err := a.call(t.Context(), "browser", map[string]any{"action": "close", "name": "shop"}); err != nil || res.Code != messages.CodeTargetNotFound {
		t.Errorf("%v %s", err, text)
	}
	// A task that has lost its last tab gets another.
	a.does("browser", map[string]any{"action": "close"})
	a.does("browser", map[string]any{"action": "open", "url": r.site.URL("http://a.test/plain")})
	if said := a.does("browser", map[string]any{"action": "run", "code": "return page.url()"}); !strings.Contains(said, "/plain") {
		t.Error(said)
	}
}

func scriptsDriveThePage(t *testing.T, k *task, table *tools.Table) {
	for _, c := range []struct{ name, code, want string }{
		{"a value", "return 6 * 7", "42"},
		{"the page", "return await page.evaluate(() => location.pathname)", "/plain"},
		{"the page's objects", "const h = await page.evaluateHandle(() => ({a: [1, 2]})); return await h.evaluate(o => o.a.length)", "2"},
		{"elements", "await page.setContent('<button onclick=\"this.textContent=`done`\">go</button><input id=i>'); await page.click('button'); await page.type('#i', 'hello'); return await page.$eval('button', b => b.textContent) + await page.$eval('#i', i => i.value)", "donehello"},
		{"a locator", "await page.setContent('<p>later'); setTimeout(() => page.evaluate(() => { document.body.innerHTML = '<b>now</b>' }), 50); await page.locator('b').wait(); return page.$eval('b', b => b.textContent)", "now"},
		{"its own pages", "return (await browser.pages()).length", "1"},
		{"a new page", "const p = await browser.newPage(); await p.close(); return (await browser.pages()).length", "1"},
		{"a dialog", "page.once('dialog', d => d.accept('typed')); return page.evaluate(() => prompt('q'))", "typed"},
		{"the node's tools", "return (await tab.evaluate({expression: '1 + 1'})).data.value", "2"},
		{"what there is to read", "await page.setContent('<title>t</title><main>Some words</main>'); const e = (await tab.extract()).data; await page.setContent(''); return e.from + e.content + (await tab.extract()).data", "readabilitySome wordsnull"},
		{"addresses and buffers", "return new URL('/x?a=1', 'http://h.test').searchParams.get('a') + Buffer.from('hi').toString('hex') + new TextDecoder().decode(new TextEncoder().encode('ü'))", "16869ü"},
		{"TypeScript", "const one: number = await page.evaluate(() => 1) as number; interface A { b?: number } enum C { d = 2 }\nreturn one + (C.d satisfies number)", "3"},
		{"timers", "let n = 0; const i = setInterval(() => n++, 1); while (n < 3) await wait(1); clearInterval(i); return n >= 3", "true"},
		{"what a page intercepts", "await page.setRequestInterception(true); page.on('request', r => r.isNavigationRequest() ? r.respond({status: 200, contentType: 'text/html', body: '<title>mine</title>'}) : r.abort()); await page.goto('http://a.test/none'); await page.setRequestInterception(false); return page.title()", "mine"},
	} {
		if r := k.runScript(table, c.code); !r.OK || r.Text != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.name, r.Text, c.want, r.Error)
		}
	}
}

func displayKeepsItsOrder(t *testing.T, k *task, table *tools.Table) {
	r := k.runScript(table, "display('one'); display({two: 2}); display(await page.screenshot()); display(undefined); console.log('aside'); return 'end'")
	out, ok := r.Data.(messages.RunOutput)
	if !ok || !r.OK || len(out.Output) != 4 || out.Output[2].MIMEType != "image/png" || len(out.Output[2].Base64) < 100 {
		t.Fatalf("%+v", r)
	}
	if r.Text != "one\n{\"two\":2}\n[image/png]\nundefined\nend" || strings.Join(out.Console, "") != "log: aside" {
		t.Errorf("%q, console %q", r.Text, out.Console)
	}
	if r := k.runScript(table, "display('kept'); throw new TypeError('no')"); r.OK || r.Code != messages.CodeScriptError || !strings.Contains(r.Error.Message, "TypeError: no") || len(r.Data.(messages.RunOutput).Output) != 1 {
		t.Errorf("%+v", r)
	}
	if r := k.runScript(table, "assert(1 > 2, 'less')"); r.Code != messages.CodeScriptError || !strings.Contains(r.Error.Message, "AssertionError: less") {
		t.Errorf("%+v", r.Error)
	}
	if r := k.runScript(table, "this is no script"); r.Code != messages.CodeScriptError || !strings.Contains(r.Error.Message, "SyntaxError") {
		t.Errorf("%+v", r.Error)
	}
}

func endlessScriptsEnd(t *testing.T, k *task, table *tools.Table) {
	for name, code := range map[string]string{"a loop": "while (true) {}", "a wait": "await new Promise(() => {})", "the page": "await page.evaluate(() => new Promise(() => {}))"} {
		input, _ := json.Marshal(messages.RunRequest{Code: code, TimeoutS: 1})
		if r := table.Call(k.ctx, tools.Caller{}, k.id, "browser_run", input); r.Code != messages.CodeDeadline {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := k.runScript(table, "return 1"); r.Text != "1" {
		t.Errorf("behind it: %+v", r)
	}
}

// scriptsEndWithTheirTask whether they have a connection to it or not.
func scriptsEndWithTheirTask(t *testing.T, k *task, table *tools.Table) {
	for name, code := range map[string]string{"connected": "void page;", "unconnected": ""} {
		other := k.rig.task(messages.TaskID("script-" + name))
		ended := make(chan *messages.ToolResult, 1)
		go func() {
			ended <- other.runScript(table, code+"tab.navigate({url: '"+k.site.URL("http://a.test/plain")+"'}).catch(() => {}); await new Promise(() => {})")
		}()
		// An address, since no event tells of a title (C66).
		other.await("the script has begun", func(s *messages.Snapshot) bool {
			return len(s.Pages) > 0 && strings.HasSuffix(s.Pages[0].URL, "/plain")
		})
		if err := other.node.StopTask(other.ctx, other.id); err != nil {
			t.Fatal(err)
		}
		if r := <-ended; r.Code != messages.CodeUpstreamUnavailable {
			t.Errorf("%s: %+v", name, r.Error)
		}
	}
}
