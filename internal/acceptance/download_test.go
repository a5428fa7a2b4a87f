package acceptance_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"holdfast/internal/node"
	"holdfast/messages"
)

// downloads clicks on a link to a file of the page's own making.
func (k *task) downloads(name, text string) {
	k.Helper()
	k.eval("", "Object.assign(document.createElement('a'), {download: "+quoted(name)+", href: URL.createObjectURL(new Blob(["+quoted(text)+"]))}).click()")
}

// arrives waits until a file holds the text.
func (k *task) arrives(path, text string) {
	k.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		got, err := os.ReadFile(path)
		if err == nil && string(got) == text {
			return
		}
		if time.Now().After(deadline) {
			k.Fatalf("%s holds %q: %v", path, got, err)
		}
	}
}

// TestALaunchedTaskDownloadsIntoADirectoryOfItsOwn: whatever directory a scoped token
// names, over a reconnect, and until the task ends.
func TestALaunchedTaskDownloadsIntoADirectoryOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, scope := range []messages.Scope{messages.ScopeBrowser, messages.ScopeOwn} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			var state string
			r := setupOn(t, nil, func(c *node.Config) {
				c.AllowChaos = true
				c.ChromeArgs = []string{"--host-resolver-rules=MAP *.test 127.0.0.1"}
				state = c.StateDir
			})
			if _, _, err := r.node.GetOrStart(r.ctx, "downloads", messages.TaskSpec{Launch: &messages.LaunchSpec{}, Scope: scope}); err != nil {
				t.Fatal(err)
			}
			k := &task{r, "downloads"}
			k.bothLinks()
			k.goTo("http://a.test/plain")
			dirs, err := filepath.Glob(filepath.Join(state, "profiles", "*", "downloads"))
			if err != nil || len(dirs) != 1 {
				t.Fatalf("directories %v: %v", dirs, err)
			}
			k.downloads("first.txt", "one")
			k.arrives(filepath.Join(dirs[0], "first.txt"), "one")
			elsewhere := t.TempDir()
			if err := os.Chmod(elsewhere, 0o777); err != nil {
				t.Fatal(err)
			}
			scoped := messages.WithCaller(r.ctx, messages.Caller{IsScoped: true})
			for _, params := range []string{`{"behavior":"allow","downloadPath":` + quoted(elsewhere) + `}`, `{"behavior":"allow"}`} {
				if err := k.configures(scoped, params); err != nil {
					t.Fatal(err)
				}
				k.downloads("second.txt", params)
				k.arrives(filepath.Join(dirs[0], "second.txt"), params)
				if err := os.Remove(filepath.Join(dirs[0], "second.txt")); err != nil {
					t.Fatal(err)
				}
			}
			k.kills(messages.LinksPrimary)
			k.downloads("third.txt", "three")
			k.arrives(filepath.Join(dirs[0], "third.txt"), "three")
			if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
				t.Errorf("elsewhere: %v, %v", left, err)
			}
			if err := r.node.StopTask(r.ctx, k.id); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dirs[0]); !os.IsNotExist(err) {
				t.Errorf("the directory of a task that has ended: %v", err)
			}
		})
	}
}

func (k *task) configures(ctx context.Context, params string) error {
	_, err := k.node.CDP(ctx, k.id, messages.CDPRequest{Method: "Browser.setDownloadBehavior", Params: []byte(params)})
	return err
}
