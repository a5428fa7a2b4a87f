package browser

import (
	"os/exec"
	"sync"
)

// children are the pids this package waits for itself. ReapOrphans leaves
// them alone.
var children = struct {
	// starting is held for reading while a child is born and not yet listed;
	// a child may end before its pid is known here.
	starting sync.RWMutex
	mu       sync.Mutex
	pids     map[int]*exec.Cmd
}{pids: map[int]*exec.Cmd{}}

// start starts cmd and lists it; release unlists it, after Wait, when the pid
// may already be that of a later child.
func start(cmd *exec.Cmd) (release func(), err error) {
	children.starting.RLock()
	defer children.starting.RUnlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	children.mu.Lock()
	children.pids[pid] = cmd
	children.mu.Unlock()
	return func() {
		children.mu.Lock()
		if children.pids[pid] == cmd {
			delete(children.pids, pid)
		}
		children.mu.Unlock()
	}, nil
}

func isChild(pid int) bool {
	children.mu.Lock()
	defer children.mu.Unlock()
	_, ok := children.pids[pid]
	return ok
}
