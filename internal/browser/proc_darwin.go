package browser

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

const isZombie = 5 // SZOMB of sys/proc.h

// readStat returns fs.ErrNotExist for a process that is gone.
func readStat(pid int) (procStat, error) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return procStat{}, fs.ErrNotExist // the kernel answers with nothing for one that is gone
	}
	return statOf(p), nil
}

func statOf(p *unix.KinfoProc) procStat {
	begun := p.Proc.P_starttime
	return procStat{
		identity: identity{PID: int(p.Proc.P_pid), Start: uint64(begun.Sec)*1e6 + uint64(begun.Usec)},
		Parent:   int(p.Eproc.Ppid), Group: int(p.Eproc.Pgid), isEnded: p.Proc.P_stat == isZombie,
	}
}

// scanAll calls visit for every process, also those that are ended.
func scanAll(visit func(procStat)) error {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	for i := range all {
		visit(statOf(&all[i]))
	}
	return nil
}

// commandLine returns the arguments of a process, each ended by a NUL. The kernel gives
// those of the own user's processes alone.
func commandLine(pid int) ([]byte, error) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	_, arguments, err := parseArguments(raw)
	return arguments, err
}

// programOf returns the path of what a process runs.
func programOf(pid int) (string, error) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return "", err
	}
	program, _, err := parseArguments(raw)
	return program, err
}

// boot is the same for every boot: a start time here is one of the calendar, so that no
// process of another boot has it.
func boot() (bootIdentity, error) { return bootIdentity{ID: "darwin"}, nil }

// resident is 0: without cgo macOS does not tell of another process's memory.
func (s procStat) resident() uint64 { return 0 }
