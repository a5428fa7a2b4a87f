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
	state := fields[0][0]
	s := procStat{isEnded: state == 'Z' || state == 'X' || state == 'x'}
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

// scanAll calls visit for every process, also those that are ended.
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
		if s.Parent == os.Getpid() && s.isEnded {
			dead = append(dead, s)
		}
	})
	return dead
}

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

// commandLine returns the arguments of a process, each ended by a NUL.
func commandLine(pid int) ([]byte, error) { return os.ReadFile(procPath(pid, "cmdline")) }

// programOf returns the path of what a process runs.
func programOf(pid int) (string, error) { return os.Readlink(procPath(pid, "exe")) }

// resident is how much memory the process has, in bytes.
func (s procStat) resident() uint64 { return s.Pages * uint64(os.Getpagesize()) }

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
