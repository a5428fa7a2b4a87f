package browser_test

import (
	"fmt"
	"os"
	"os/exec"
)

// How fake browsers end that were asked, and that were killed: both are killed here.
const (
	obedientEnd = "exit status 1"
	killedEnd   = "exit status 1"
)

// inheritedPipes are the ends that a browser has got.
func inheritedPipes(args []string) (from, to *os.File, err error) {
	named, _ := has(args, "remote-debugging-io-pipes")
	var in, out uintptr
	if _, err := fmt.Sscanf(named, "%d,%d", &in, &out); err != nil {
		return nil, nil, fmt.Errorf("the pipes are %q: %w", named, err)
	}
	return os.NewFile(in, "in"), os.NewFile(out, "out"), nil
}

// leaveSession does nothing: there are no sessions to leave.
func leaveSession(*exec.Cmd) {}
