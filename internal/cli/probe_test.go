package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"holdfast/messages"
)

// X9: what a container engine asks with.
func TestProbe(t *testing.T) {
	t.Parallel()
	t.Run("a node that takes tasks lives and is ready", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.serve()
		for line, want := range map[string]string{"probe": "ready\n", "probe ready": "ready\n", "probe live": "live\n"} {
			if out, errs := m.want(0, strings.Fields(line)...); out != want || errs != "" {
				t.Errorf("%s: %q %q", line, out, errs)
			}
		}
	})
	t.Run("one that is full or drains lives all the same", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.node.CheckList = []messages.Check{{Name: "capacity", Reason: "it is full"}}
		m.serve()
		m.want(0, "probe", "live")
		if out, errs := m.want(1, "probe", "ready"); out != "" || !strings.HasPrefix(errs, "upstream_unavailable: not ready for new tasks: capacity: it is full\n") {
			t.Errorf("%q %q", out, errs)
		}
	})
	t.Run("no token is needed, nor a good token file", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		s := m.serve()
		if err := os.Chmod(s.tokenFile, 0o644); err != nil {
			t.Fatal(err)
		}
		m.want(0, "probe")
	})
	t.Run("where there is no node it says so", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.want(3, "probe", "live")
		stranger := httptest.NewServer(http.NotFoundHandler())
		defer stranger.Close()
		m.want(3, "probe", "live", "--node", stranger.URL)
		m.want(2, "probe", "dead")
	})
}
