package acceptance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/node"
	"holdfast/messages"
)

const canary = "canary-of-the-state-directory"

// reads navigates to a file and returns what the page shows.
func (k *task) reads(path string) string {
	k.Helper()
	_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: "file://" + path})
	switch messages.CodeOf(err) {
	case "", messages.CodeCDPError:
	case messages.CodePageWedged: // its renderer is slow to start, on a loaded machine
		k.await("the page", func(s *messages.Snapshot) bool { return s.PageState == messages.PageOK })
	default:
		k.Fatalf("%s: %v", path, err)
	}
	return k.eval("", "String(document.documentElement?.innerText)")
}

// TestALaunchedBrowserCannotReadTheNodesFiles: not by an address, not by way of the
// node's process, and not by a file input; by the admin's own task neither.
func TestALaunchedBrowserCannotReadTheNodesFiles(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"auto", "off"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			var state string
			secret := filepath.Join(t.TempDir(), "elsewhere")
			r := setupOn(t, nil, func(c *node.Config) {
				state = c.StateDir
				c.SecretFiles = []string{secret}
				if isolation == "off" {
					c.BrowserIsolation = node.BrowserNotIsolated
				}
			})
			for _, path := range []string{filepath.Join(state, "token"), secret} {
				if err := os.WriteFile(path, []byte(canary), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := r.node.GetOrStart(r.ctx, "reader", messages.TaskSpec{Launch: &messages.LaunchSpec{}}); err != nil {
				t.Fatal(err)
			}
			k := &task{r, "reader"}
			proc := fmt.Sprintf("/proc/%d/root", os.Getpid())
			paths := []string{
				filepath.Join(state, "token"), filepath.Join(proc, state, "token"),
				fmt.Sprintf("/proc/%d/cwd%s/token", os.Getpid(), filepath.Join("/..", "..", "..", "..", "..", "..", "..", state)), secret,
			}
			seen := 0
			for _, path := range paths {
				if strings.Contains(k.reads(path), canary) {
					seen++
					if isolation != "off" {
						t.Errorf("a page shows %s", path)
					}
				}
			}
			if leases := k.reads(filepath.Join(state, "leases") + "/"); isolation != "off" && strings.Contains(leases, ".json") {
				t.Errorf("a page lists the leases: %s", leases)
			}
			if isolation == "off" {
				if seen < 2 {
					t.Errorf("without isolation %d of the files are seen: the test shows nothing", seen)
				}
				return
			}
			if n := r.log.lines("can read the node's files"); n != 0 {
				t.Errorf("%d warnings that the browser is not isolated", n)
			}
			if os.Geteuid() == 0 && r.log.lines("browser launched", "isolation=user") != 1 {
				t.Errorf("root's browser has no user of its own:\n%s", r.log)
			}
			// A file input reads what the browser can.
			k.goTo("data:text/html,<input type=file id=f>")
			var doc struct {
				Root struct {
					NodeID int `json:"nodeId"`
				} `json:"root"`
			}
			if err := json.Unmarshal(k.cdp("", "DOM.getDocument", "{}"), &doc); err != nil {
				t.Fatal(err)
			}
			var input struct {
				NodeID int `json:"nodeId"`
			}
			if err := json.Unmarshal(k.cdp("", "DOM.querySelector", fmt.Sprintf(`{"nodeId":%d,"selector":"#f"}`, doc.Root.NodeID)), &input); err != nil {
				t.Fatal(err)
			}
			k.cdp("", "DOM.setFileInputFiles", fmt.Sprintf(`{"nodeId":%d,"files":[%q]}`, input.NodeID, filepath.Join(state, "token")))
			if got := k.evalPromise("", "f.files[0].text().catch(e => 'refused ' + e.name)"); strings.Contains(got, canary) {
				t.Errorf("a file input read %s", got)
			}
		})
	}
}
