package browser

import (
	"bytes"
	"os"
	"sync"
)

// identity names a process beyond the reuse of its pid: the start time, in
// the system's own unit, differs for every later process of the same number.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// procStat is what ownership needs to know of a process.
type procStat struct {
	identity
	Parent  int
	Group   int    // 0 on Windows, which has none
	Pages   uint64 // of memory, resident; 0 where the system has another way to tell
	isEnded bool   // see ended
}

// hasEnded says that only the table entry is left, which holds no resource and
// goes when the parent asks for it.
func (s procStat) hasEnded() bool { return s.isEnded }

// hasFlag says whether the command line of pid holds flag as a whole
// argument. Processes that Chromium forks from its zygote write their
// arguments as one string with spaces, so both separators end an argument.
func hasFlag(pid int, flag string) bool {
	raw, err := commandLine(pid)
	return err == nil && hasArgument(raw, flag)
}

func hasArgument(cmdline []byte, flag string) bool {
	for rest := cmdline; ; {
		i := bytes.Index(rest, []byte(flag))
		if i < 0 {
			return false
		}
		end := i + len(flag)
		startsOne := i == 0 && len(rest) == len(cmdline) || i > 0 && isSeparator(rest[i-1])
		if startsOne && (end == len(rest) || isSeparator(rest[end])) {
			return true
		}
		rest = rest[i+1:]
	}
}

func isSeparator(b byte) bool { return b == 0 || b == ' ' }

// scan calls visit for every process that is not ended.
func scan(visit func(procStat)) error {
	return scanAll(func(s procStat) {
		if !s.hasEnded() {
			visit(s)
		}
	})
}

// isAlive says whether the very process id still runs.
func (id identity) isAlive() bool {
	stat, err := readStat(id.PID)
	return err == nil && stat.Start == id.Start && !stat.hasEnded()
}

// hasKilled kills id when proof holds. On Linux and Windows the handle is opened first: if
// the process ends and its number is given away between proof and signal, the signal
// reaches no process. macOS has no such handle; there a few microseconds are unguarded.
func (id identity) hasKilled(proof func() bool) bool {
	handle, err := os.FindProcess(id.PID)
	if err != nil {
		return false
	}
	defer handle.Release()
	if !id.isAlive() || !proof() {
		return false
	}
	return handle.Kill() == nil
}

// self is this process.
var self = sync.OnceValues(func() (identity, error) {
	stat, err := readStat(os.Getpid())
	return stat.identity, err
})

// bootIdentity names the running kernel and the pid namespace: process ids of another
// boot or another namespace mean nothing here.
type bootIdentity struct {
	ID           string `json:"id"`
	PIDNamespace string `json:"pid_namespace"`
}
