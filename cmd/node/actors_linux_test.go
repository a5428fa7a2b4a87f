package main

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"holdfast/chaos"
)

// TestProgramsOnActorsDriveTheCluster: the example, on stock hollywood, through three nodes by
// their certificates, and through nodes that want none.
func TestProgramsOnActorsDriveTheCluster(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "remoting")
	if out, err := exec.Command("go", "build", "-o", program, "../../examples/remoting").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, how := range []string{"mtls", "plain"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			_, url := fake(t, chaos.Options{Pages: 1})
			c := newTrio(t)
			var doors []string
			for _, name := range []string{"a", "b", "c"} {
				c.start(name, "--cluster-remoting", how)
				doors = append(doors, net.JoinHostPort(c.hosts[name], strconv.Itoa(c.port+3)))
			}
			for _, name := range []string{"a", "b", "c"} {
				c.await(name, "held held held")
			}
			args := []string{"-nodes", strings.Join(doors, ","), "-spec", fmt.Sprintf(`{"cdp_url":%q}`, url)}
			if how == "mtls" {
				in := func(file string) string { return filepath.Join(c.dir, "certs", file) }
				args = append(args, "-cert", in("a.crt"), "-key", in("a.key"), "-ca", in("ca.crt"))
			}
			out, err := exec.Command(program, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s\n%s", err, out, c.nodes["a"].log)
			}
			for _, line := range []string{"started\n", "a dialog is open\n", `"closed_by":"agent"`, "listed in JSON\n", "stopped\n"} {
				if !strings.Contains(string(out), line) {
					t.Errorf("it never said %q: %s", line, out)
				}
			}
		})
	}
}
