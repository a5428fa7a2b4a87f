//go:build unix

package browser

import (
	"os/exec"
	"syscall"
)

// tree is the processes of one browser, which are a process group. It may be signalled
// until its leader is reaped: after that the group's number may be another's.
type tree struct{ leader int }

// newTree has cmd begin as the leader of a new group.
func newTree(cmd *exec.Cmd) (*tree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &tree{}, nil
}

// begin takes in cmd, which was started.
func (t *tree) begin(cmd *exec.Cmd) error {
	t.leader = cmd.Process.Pid
	return nil
}

// hasAsked asks the browser to end, and says whether it can be asked.
func (t *tree) hasAsked() bool { return syscall.Kill(-t.leader, syscall.SIGTERM) == nil }

// kill ends every process of the browser.
func (t *tree) kill() { _ = syscall.Kill(-t.leader, syscall.SIGKILL) }

// members returns what tells whether a process is one of the browser's.
func (t *tree) members() func(procStat) bool {
	return func(s procStat) bool { return s.Group == t.leader }
}

// close gives up the tree.
func (t *tree) close() {}
