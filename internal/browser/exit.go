package browser

import (
	"errors"
	"os/exec"
	"syscall"
)

// Exit says how a launched browser has ended.
type Exit string

// The ways.
const (
	ExitStopped Exit = "stopped"       // we ended it
	ExitExited  Exit = "exited"        // it ended by itself
	ExitSignal  Exit = "signal"        // another process killed it, the kernel for its memory perhaps
	ExitLaunch  Exit = "launch_failed" // it never was ready
)

// Exits lists them.
func Exits() []Exit { return []Exit{ExitStopped, ExitExited, ExitSignal, ExitLaunch} }

func (m *Manager) exited(how Exit) {
	if m.options.OnExit != nil {
		m.options.OnExit(how)
	}
}

func (p *Process) becomeReady() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isReady = true
	// Now it is the browser itself, and not a script that starts it. Without this its
	// processes are told by their arguments alone.
	l := p.lease
	if program, err := programOf(p.cmd.Process.Pid); err == nil && !p.isReaped {
		l.Program = program
		if err := p.manager.store.write(l); err != nil {
			p.manager.log.Warn("browser lease not completed", "pid", p.cmd.Process.Pid, "err", err)
		}
	}
}

// exitLocked tells from what the leader ended with how it did.
func (p *Process) exitLocked(err error) Exit {
	var status *exec.ExitError
	switch {
	case !p.isReady:
		return ExitLaunch
	case p.isAsked:
		return ExitStopped
	case errors.As(err, &status):
		if w, ok := status.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			return ExitSignal
		}
	}
	return ExitExited
}
