package acceptance_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/api"
	"holdfast/internal/mcp"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// profiled is an agent whose tools are those of another system, over stdio, on a task of the rig's.
func (r *rig) profiled(id messages.TaskID, profile, dir string) agent {
	r.Helper()
	k := r.task(id, func(s *messages.TaskSpec) { s.Blockers = messages.AskAboutBlockers() })
	table := k.scripts()
	node, _ := r.inside(func(c *api.Config) { c.Tools = table })
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		defer toClient.Close()
		ended <- mcp.Serve(context.Background(), node, mcp.Config{Table: tools.Info().Tools, Profile: profile, Dir: dir}, mcp.OwnTask{ID: id, Spec: r.spec()}, fromClient, toClient)
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).Connect(r.ctx, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		_ = c.Close()
		if err := <-ended; err != nil {
			r.Error(err)
		}
	})
	return agent{r.T, c}
}

const profilePage = `<!doctype html><title>profile</title>
<style>p { color: red } @media (prefers-color-scheme: dark) { p { color: blue } } @media print { p { color: green } }</style>
<p>Text</p><nav aria-label=Shelf><button id=buy onclick="this.textContent = 'held ' + [event.shiftKey, event.ctrlKey, event.altKey]">Buy</button></nav>
<img src="/a.png" alt="A cat"><img src="data:image/png;base64,AAAA" alt=inline>
<label>File <input type=file id=file onchange="document.title = this.files[0].name + this.files[0].size"></label>
<div id=zone ondragover="event.preventDefault()" ondrop="event.preventDefault(); (async t => {
  this.textContent = t.getData('text/plain') + '/' + (t.files[0] ? t.files[0].name + await t.files[0].text() : '') })(event.dataTransfer)">zone</div>
<script>fetch('/api?x=1')</script>`

// TestPlaywrightsTools drives a page as a prompt for @playwright/mcp does.
func TestPlaywrightsTools(t *testing.T) {
	t.Parallel()
	r := setup(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cv.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.site.Set("/profile", profilePage)
	a := r.profiled("profile-pw", "playwright", dir)
	says := func(tool string, input map[string]any, want string) string {
		t.Helper()
		said := a.does(tool, input)
		if !strings.Contains(said, want) {
			t.Errorf("%s %v: %s\nwant %s", tool, input, said, want)
		}
		return said
	}
	value := func(function string) string { return a.does("browser_evaluate", map[string]any{"function": function}) }
	a.does("browser_navigate", map[string]any{"url": r.site.URL("http://a.test/profile")})
	found := says("browser_find", map[string]any{"text": "buy"}, `navigation "Shelf"`)
	ref := regexp.MustCompile(`button "Buy" \[(e\d+)\]`).FindStringSubmatch(found)
	if ref == nil {
		t.Fatal(found)
	}
	a.does("browser_click", map[string]any{"element": "Buy", "target": ref[1], "modifiers": []string{"Shift", "ControlOrMeta"}})
	says("browser_evaluate", map[string]any{"function": "e => e.textContent", "element": "Buy", "target": ref[1]}, "held true,true,false")
	says("browser_evaluate", map[string]any{"function": "e => e.id", "target": "#buy"}, "buy")
	a.does("browser_resize", map[string]any{"width": 640, "height": 480})
	if said := value("() => innerWidth + 'x' + innerHeight"); !strings.Contains(said, "640x480") {
		t.Error(said)
	}
	color := "() => getComputedStyle(document.querySelector('p')).color"
	for _, c := range []struct {
		input map[string]any
		want  string
	}{
		{map[string]any{"colorScheme": "dark"}, "rgb(0, 0, 255)"},
		{map[string]any{"reducedMotion": "reduce"}, "rgb(0, 0, 255)"}, // what is left out stays
		{map[string]any{"media": "print"}, "rgb(0, 128, 0)"},
		{map[string]any{"media": nil, "colorScheme": nil}, "rgb(255, 0, 0)"},
	} {
		a.does("browser_emulate_media", c.input)
		if said := value(color); !strings.Contains(said, c.want) {
			t.Errorf("%v: %s", c.input, said)
		}
	}
	if said := value("() => matchMedia('(prefers-reduced-motion: reduce)').matches"); !strings.Contains(said, "true") {
		t.Errorf("reduced motion: %s", said)
	}
	says("browser_drop", map[string]any{"target": "#zone", "data": map[string]any{"text/plain": "dragged"}, "paths": []string{filepath.Join(dir, "cv.txt")}}, "Dropped")
	says("browser_wait_for", map[string]any{"text": "dragged/cv.txthello"}, "Found")
	says("browser_click", map[string]any{"target": "#file"}, "browser_file_upload")
	a.does("browser_file_upload", map[string]any{"paths": []string{filepath.Join(dir, "cv.txt")}})
	if said := value("() => document.title"); !strings.Contains(said, "cv.txt5") {
		t.Error(said)
	}
	a.does("browser_click", map[string]any{"target": "#file"})
	says("browser_file_upload", map[string]any{}, "Gave no file")
	list := says("browser_network_requests", map[string]any{"static": false, "filter": `/api\?x=\d`}, "/api?x=1 =>")
	if strings.Contains(list, "/profile") {
		t.Error(list)
	}
	says("browser_network_request", map[string]any{"index": 1}, "navigation "+r.site.URL("http://a.test/profile")+" => [200]")
	says("browser_network_request", map[string]any{"index": 1, "part": "response-body"}, "fetch('/api?x=1')")
	says("browser_run_code_unsafe", map[string]any{"code": "async (page) => { await page.click('#buy'); return await page.title() + page.url(); }"}, "cv.txt5http")
}

// TestHermesSees has the tools of Hermes list a page's images, and show the page.
func TestHermesSees(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.site.Set("/profile", profilePage)
	a := r.profiled("profile-hermes", "hermes", "")
	a.does("browser_navigate", map[string]any{"url": r.site.URL("http://a.test/profile")})
	if said := a.does("browser_get_images", nil); !strings.Contains(said, `"alt":"A cat"`) || !strings.Contains(said, `"count":1`) {
		t.Error(said)
	}
	res, err := a.CallTool(r.ctx, &sdk.CallToolParams{Name: "browser_vision", Arguments: map[string]any{"question": "what is there?"}})
	if err != nil || res.IsError || len(res.Content) != 2 {
		t.Fatalf("%v %+v", err, res)
	}
	if picture, ok := res.Content[1].(*sdk.ImageContent); !ok || len(picture.Data) < 500 {
		t.Errorf("%+v", res.Content[1])
	}
}
