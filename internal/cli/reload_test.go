package cli_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"holdfast/internal/cli"
	"holdfast/messages"
)

// TestX22Reload is SIGHUP.
func TestX22Reload(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	manager := m.manager()
	limits := make(chan messages.Limits, 8)
	var refuse error
	m.started = func(n *cli.RunningNode) error {
		n.SetLimits = func(l messages.Limits) error { limits <- l; return refuse }
		return nil
	}
	file := m.write("config.yaml", "limits:\n  max_tasks: 7\n")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reload := func() {
		t.Helper()
		select {
		case m.reload <- struct{}{}:
		case <-time.After(patience):
			t.Fatal("nobody reloads")
		}
		if s := manager.await(t, "RELOADING=1\nMONOTONIC_USEC="); len(strings.TrimLeft(s[len("RELOADING=1\nMONOTONIC_USEC="):], "0123456789")) > 0 {
			t.Error(s)
		}
		manager.await(t, "READY=1")
	}
	m.env["HOLDFAST_IDLE_TIMEOUT"] = "5m"
	s := m.serve("--config", file, "--max-life", "2h")
	manager.await(t, "READY=1")

	write("listen: 127.0.0.1:1\nlimits:\n  max_tasks: 9\n  queue_length: 0\n  idle_timeout: 1m\n  max_life: 1h\n")
	reload()
	got := await(t, "new limits", limits)
	if got.MaxTasks != 9 || got.QueueLength != -1 || got.IdleTimeout != 5*time.Minute || got.MaxLife != 2*time.Hour {
		t.Errorf("%+v", got)
	}
	for _, broken := range []string{"limits:\n  max_tasks: planted\n", "limits: [", "max_tasks: 1\n"} {
		write(broken)
		reload()
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	reload()
	write("limits:\n  max_tasks: 9\n  queue_length: 0\n")
	reload() // nothing has changed
	refuse = messages.Errorf(messages.CodeInvalidArgument, "not these")
	write("limits:\n  max_tasks: 10\n")
	reload()
	await(t, "new limits", limits)
	refuse = nil
	reload()
	if got := await(t, "what was refused is tried again", limits); got.MaxTasks != 10 {
		t.Errorf("%+v", got)
	}
	m.want(0, "task", "ls")
	if code := s.stop(); code != 0 {
		t.Fatal(code, s.log)
	}
	log := s.log.String()
	for want, times := range map[string]int{
		`msg="configuration reloaded" state=serving changes=2 limits.max_tasks="7 → 9" limits.queue_length="100 → 0"`: 1,
		`msg="configuration reloaded" state=serving changes=0`:                                                        1,
		`msg="a changed setting waits for the next start" state=serving setting=listen`:                               0, // the flag wins over it
		`msg="configuration not reloaded"`:                                                                            5,
		"planted":                                                                                                     0,
		":2:14: limits.max_tasks must be a whole number":                                                              1,
	} {
		if n := strings.Count(log, want); n != times {
			t.Errorf("%q is there %d times, want %d, in\n%s", want, n, times, log)
		}
	}
	if left := len(limits); left != 0 {
		t.Errorf("limits were set %d times too often", left)
	}
}

// TestX22LogLevel: SIGHUP changes what is logged from then on, and names what it
// does not change.
func TestX22LogLevel(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	manager := m.manager()
	delete(m.env, "HOLDFAST_LOG_LEVEL")
	file := m.write("config.yaml", "logging: {level: error}\n")
	s := m.serveAt("", "--config", file)
	manager.await(t, "READY=1")
	m.want(0, "task", "ls")
	if err := os.WriteFile(file, []byte("logging: {level: debug, format: json}\ncdp_url_override: ws://h.test/planted\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.reload <- struct{}{}
	manager.await(t, "RELOADING=1")
	manager.await(t, "READY=1")
	m.want(0, "task", "ls")
	s.stop()
	log := s.log.String()
	if strings.Count(log, "msg=request") != 1 || !strings.Contains(log, `logging.level="error → debug"`) || strings.Contains(log, "planted") {
		t.Error(log)
	}
	for _, key := range []string{"logging.format", "cdp_url_override"} {
		if !strings.Contains(log, `waits for the next start" state=serving setting=`+key) {
			t.Error(key, "is not named in", log)
		}
	}
}
