package acceptance_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/artifact"
	cdpgateway "holdfast/internal/gateway"
	"holdfast/internal/run"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// TestX25_StateMovesToAnotherBrowserContext: who is logged in, by a cookie that no script reads and by
// local storage, is so in a new context too, and no file on disk shows either.
func TestX25_StateMovesToAnotherBrowserContext(t *testing.T) {
	t.Parallel()
	r := setup(t)
	isolated := func(s *messages.TaskSpec) { s.Isolation = messages.IsolationContext }
	dir := t.TempDir()
	store, err := artifact.New(filepath.Join(dir, "artifacts"), artifact.DefaultBounds())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.UseKey(filepath.Join(dir, "key")); err != nil {
		t.Fatal(err)
	}
	runner := run.New(run.OnGateway(cdpgateway.New(cdpgateway.Config{Node: r.node})))
	t.Cleanup(runner.Close)
	table := tools.New(r.node, nil).WithScripts(runner).WithArtifacts(store)
	visits := 0
	r.site.Handle("/login", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "planted-cookie", HttpOnly: true, MaxAge: 1000, Path: "/"})
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>login</title><script>localStorage.setItem("basket", "planted \"basket\"")</script>`)
	}))
	r.site.Handle("/", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits++ }))
	r.site.Handle("/home", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		c, err := q.Cookie("session")
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%t</title>`, err == nil && c.Value == "planted-cookie")
	}))
	one := r.task("x25-one", isolated)
	one.goTo("http://a.test/login")
	from := &hands{one, table}
	made := from.use("browser_state", `{"action":"export"}`)
	if len(made.Artifacts) != 1 || made.Artifacts[0].Kind != messages.ArtifactSavedState || strings.Contains(fmt.Sprintf("%+v", made), "planted") {
		t.Fatalf("%+v", made)
	}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte("planted")) {
			t.Errorf("%s shows it", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}

	two := r.task("x25-two", isolated)
	const who = `document.title + " " + localStorage.getItem("basket")`
	two.goTo("http://a.test/home")
	if got := two.eval("", who); got != `"false null"` {
		t.Fatalf("before: %s", got)
	}
	to := &hands{two, table}
	read := to.use("browser_state", `{"action":"import","artifact_id":"`+string(made.Artifacts[0].ArtifactID)+`","from":"x25-one"}`)
	two.goTo("http://a.test/home")
	if got := two.eval("", who); got != `"true planted \"basket\""` {
		t.Errorf("after %s: %s", read.Text, got)
	}
	if n := len(two.snapshot().Pages); n != 1 || visits != 0 {
		t.Errorf("%d pages, %d visits of the server", n, visits)
	}

	// A task that shares the browser's cookies with others exports none.
	shared := &hands{r.task("x25-shared", func(s *messages.TaskSpec) { s.Isolation = messages.IsolationShared }), table}
	shared.goTo("http://a.test/plain")
	if res := shared.try("browser_state", `{"action":"export"}`); res.Code != messages.CodeForbidden {
		t.Errorf("shared: %s %s", res.Code, res.Text)
	}
	for input, want := range map[string]messages.Code{
		`{"action":"import"}`: messages.CodeArtifactNotFound,
		`{"action":"import","artifact_id":"a-0000000000000000"}`: messages.CodeArtifactNotFound,
		`{"action":"export","from":"x"}`:                         messages.CodeInvalidArgument,
		`{"action":"keep"}`:                                      messages.CodeInvalidArgument,
	} {
		if res := to.try("browser_state", input); res.Code != want {
			t.Errorf("%s: %s %s", input, res.Code, res.Text)
		}
	}
	other := table.Call(r.ctx, tools.Caller{Allows: func(id messages.TaskID) bool { return id == two.id }}, two.id, "browser_state",
		[]byte(`{"action":"import","artifact_id":"`+string(made.Artifacts[0].ArtifactID)+`","from":"x25-one"}`))
	if other.Code != messages.CodeForbidden {
		t.Errorf("of a task beyond the token: %s %s", other.Code, other.Text)
	}
}
