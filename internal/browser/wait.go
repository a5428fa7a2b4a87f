package browser

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"
)

// children are the pids this package waits for itself. ReapOrphans leaves
// them alone.
var children = struct {
	// starting is held for reading while a child is born and not yet listed;
	// a child may end before its pid is known to anybody.
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

const (
	idPID  = 1 // P_PID of waitid(2)
	noWait = 0x01000000
)

// awaitExit returns when the child has ended and leaves it to be reaped, so
// that its pid, and the group that bears its number, stay reserved.
func awaitExit(pid int) {
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|noWait, 0, 0)
		if !errors.Is(errno, syscall.EINTR) {
			return
		}
	}
}
