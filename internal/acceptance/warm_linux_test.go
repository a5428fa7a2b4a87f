package acceptance_test

import (
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

var launchedPID = regexp.MustCompile(`msg="browser launched" pid=(\d+)`)

// awaitWarm waits until a browser is ready for a task to come.
func (r *rig) awaitWarm() {
	r.Helper()
	until(r.T, "a browser ready", func() bool {
		w := httptest.NewRecorder()
		r.node.MetricsHandler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return strings.Contains(w.Body.String(), "\nholdfast_browsers_warm 1\n")
	})
}

// TestAWarmBrowserServesOneTask: a task has the browser that was ready, and the next task another.
func TestAWarmBrowserServesOneTask(t *testing.T) {
	t.Parallel()
	r := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) {
		c.WarmBrowsers, c.ChromeArgs = 1, []string{"--host-resolver-rules=MAP *.test 127.0.0.1"}
	})
	launch := func(s *messages.TaskSpec) { *s = messages.TaskSpec{Launch: &messages.LaunchSpec{}} }
	r.awaitWarm()
	first, err := strconv.Atoi(launchedPID.FindStringSubmatch(r.log.String())[1])
	if err != nil {
		t.Fatal(err)
	}
	k := r.task("warm", launch)
	if pid := k.mainProcess(); pid != first {
		t.Errorf("the task has process %d, and %d was ready", pid, first)
	}
	k.goTo("http://a.test/plain")
	k.eval("", "document.cookie = 'a=1'")
	r.awaitWarm()
	other := r.task("next", launch)
	other.goTo("http://a.test/plain")
	if pid, got := other.mainProcess(), other.eval("", "document.cookie"); pid == first || got != `""` {
		t.Errorf("the next task has process %d and cookies %s", pid, got)
	}
}
