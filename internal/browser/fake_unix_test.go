//go:build unix

package browser_test

import (
	"os"
	"os/exec"
	"syscall"
)

// How fake browsers end that were asked, and that were killed.
const (
	obedientEnd = "exited with status 0"
	killedEnd   = "killed"
)

// inheritedPipes are the ends that a browser has got.
func inheritedPipes([]string) (from, to *os.File, err error) {
	return os.NewFile(3, "in"), os.NewFile(4, "out"), nil
}

// leaveSession has the child begin in a session of its own, as Chromium's crash handlers
// do.
func leaveSession(child *exec.Cmd) { child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
