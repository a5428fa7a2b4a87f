package browser

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// identity names a process beyond the reuse of its pid: the start time, in
// clock ticks since boot, differs for every later process of the same number.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// procStat is the part of /proc/PID/stat that ownership needs.
type procStat struct {
	identity
	State  byte
	Parent int
	Group  int
	Pages  uint64 // of memory, resident
}

// ended says that only the table entry is left, which holds no resource and
// goes when the parent asks for it.
func (s procStat) ended() bool { return s.State == 'Z' || s.State == 'X' || s.State == 'x' }

// readStat returns fs.ErrNotExist for a process that is gone.
func readStat(pid int) (procStat, error) {
	raw, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return procStat{}, gone(err)
	}
	return parseStat(raw)
}

// parseStat reads a line of /proc/PID/stat. The second field is the command
// in parentheses and may itself hold spaces and parentheses, hence the search
// from the right.
func parseStat(raw []byte) (procStat, error) {
	bad := errors.New("unreadable stat of a process")
	open, shut := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 1 || shut < open {
		return procStat{}, bad
	}
	fields := strings.Fields(string(raw[shut+1:]))
	if len(fields) < 22 || len(fields[0]) != 1 {
		return procStat{}, bad
	}
	s := procStat{State: fields[0][0]}
	var errs [5]error
	s.PID, errs[0] = strconv.Atoi(strings.TrimSpace(string(raw[:open])))
	s.Parent, errs[1] = strconv.Atoi(fields[1])
	s.Group, errs[2] = strconv.Atoi(fields[2])
	s.Start, errs[3] = strconv.ParseUint(fields[19], 10, 64)
	s.Pages, errs[4] = strconv.ParseUint(fields[21], 10, 64)
	if errors.Join(errs[:]...) != nil {
		return procStat{}, bad
	}
	return s, nil
}

// carries says whether the command line of pid holds flag as a whole
// argument. Processes that Chromium forks from its zygote write their
// arguments as one string with spaces, so both separators end an argument.
func carries(pid int, flag string) bool {
	raw, err := os.ReadFile(procPath(pid, "cmdline"))
	if err != nil {
		return false
	}
	return hasArgument(raw, flag)
}

func hasArgument(cmdline []byte, flag string) bool {
	for rest := cmdline; ; {
		i := bytes.Index(rest, []byte(flag))
		if i < 0 {
			return false
		}
		end := i + len(flag)
		startsOne := i == 0 && len(rest) == len(cmdline) || i > 0 && separates(rest[i-1])
		if startsOne && (end == len(rest) || separates(rest[end])) {
			return true
		}
		rest = rest[i+1:]
	}
}

func separates(b byte) bool { return b == 0 || b == ' ' }

// scan calls visit for every process that is not ended.
func scan(visit func(procStat)) error {
	return scanAll(func(s procStat) {
		if !s.ended() {
			visit(s)
		}
	})
}

func scanAll(visit func(procStat)) error {
	proc, err := os.Open("/proc")
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if stat, err := readStat(pid); err == nil {
			visit(stat)
		}
	}
	return nil
}

// deadChildren are the children of this process that ended and were not
// waited for.
func deadChildren() []procStat {
	var dead []procStat
	_ = scanAll(func(s procStat) {
		if s.Parent == os.Getpid() && s.State == 'Z' {
			dead = append(dead, s)
		}
	})
	return dead
}

// alive says whether the very process id still runs.
func (id identity) alive() bool {
	stat, err := readStat(id.PID)
	return err == nil && stat.Start == id.Start && !stat.ended()
}

// signalIf sends sig to id when proof holds. The handle (a pidfd) is opened
// first: if the process ends and its number is given away between proof and
// signal, the signal goes nowhere.
func (id identity) signalIf(sig os.Signal, proof func() bool) bool {
	handle, err := os.FindProcess(id.PID)
	if err != nil {
		return false
	}
	defer handle.Release()
	if !id.alive() || !proof() {
		return false
	}
	return handle.Signal(sig) == nil
}

// self is this process.
var self = sync.OnceValues(func() (identity, error) {
	stat, err := readStat(os.Getpid())
	return stat.identity, err
})

// boot names the running kernel and the pid namespace: pids of another boot
// or another namespace mean nothing here.
var boot = sync.OnceValues(func() (bootIdentity, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return bootIdentity{}, err
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return bootIdentity{}, err
	}
	return bootIdentity{ID: strings.TrimSpace(string(id)), PIDNamespace: ns}, nil
})

type bootIdentity struct {
	ID           string `json:"id"`
	PIDNamespace string `json:"pid_namespace"`
}

func procPath(pid int, file string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), file)
}

// gone folds the errors that a vanishing process gives into fs.ErrNotExist.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "no such process") {
		return fs.ErrNotExist
	}
	return err
}
