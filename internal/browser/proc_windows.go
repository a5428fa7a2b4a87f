package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

const queryRights = windows.PROCESS_QUERY_LIMITED_INFORMATION

// readStat returns fs.ErrNotExist for a process that is gone.
func readStat(pid int) (procStat, error) {
	h, err := openProcess(pid, queryRights|windows.SYNCHRONIZE)
	if err != nil {
		return procStat{}, err
	}
	defer windows.CloseHandle(h)
	var begun, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &begun, &ended, &kernel, &user); err != nil {
		return procStat{}, err
	}
	state, err := windows.WaitForSingleObject(h, 0)
	return procStat{
		identity: identity{PID: pid, Start: uint64(begun.HighDateTime)<<32 | uint64(begun.LowDateTime)},
		isEnded:  err == nil && state == windows.WAIT_OBJECT_0,
	}, nil
}

func openProcess(pid int, rights uint32) (windows.Handle, error) {
	if pid <= 0 {
		return 0, fs.ErrNotExist
	}
	h, err := windows.OpenProcess(rights, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) { // there is no such process
		return 0, fs.ErrNotExist
	}
	return h, err
}

// scanAll calls visit for every process that this user may look at, also those that are
// ended.
func scanAll(visit func(procStat)) error {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	defer windows.CloseHandle(list)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(list, &entry); err == nil; err = windows.Process32Next(list, &entry) {
		if s, err := readStat(int(entry.ProcessID)); err == nil {
			s.Parent = int(entry.ParentProcessID)
			visit(s)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return fmt.Errorf("list processes: %w", err)
	}
	return nil
}

// maxCommandLine bounds a command line, in bytes: 32,767 characters and a header.
const maxCommandLine = 2*32767 + 64

// commandLine returns the arguments of a process, each ended by a NUL.
func commandLine(pid int) ([]byte, error) {
	h, err := openProcess(pid, queryRights)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(h)
	words := make([]uint64, maxCommandLine/8+1) // aligned for the header
	var used uint32
	err = windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&words[0]), maxCommandLine, &used)
	if err != nil {
		return nil, err
	}
	line := (*windows.NTUnicodeString)(unsafe.Pointer(&words[0])).String()
	arguments, err := windows.DecomposeCommandLine(line)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Join(arguments, "\x00") + "\x00"), nil
}

// programOf returns the path of what a process runs.
func programOf(pid int) (string, error) {
	h, err := openProcess(pid, queryRights)
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(h)
	var path [windows.MAX_LONG_PATH]uint16
	length := uint32(len(path))
	if err := windows.QueryFullProcessImageName(h, 0, &path[0], &length); err != nil {
		return "", err
	}
	return windows.UTF16ToString(path[:length]), nil
}

// boot is the same for every boot: a start time here is one of the calendar, so that no
// process of another boot has it.
func boot() (bootIdentity, error) { return bootIdentity{ID: "windows"}, nil }

var getProcessMemoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// memoryCounters is PROCESS_MEMORY_COUNTERS; sizes are in bytes.
type memoryCounters struct {
	size, pageFaults               uint32
	peakWorkingSet, workingSet     uintptr
	peakPagedPool, pagedPool       uintptr
	peakNonPagedPool, nonPagedPool uintptr
	pagefile, peakPagefile         uintptr
}

// resident is how much memory the process has, in bytes.
func (s procStat) resident() uint64 {
	h, err := openProcess(s.PID, queryRights)
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(h)
	var m memoryCounters
	m.size = uint32(unsafe.Sizeof(m))
	if ok, _, _ := getProcessMemoryInfo.Call(uintptr(h), uintptr(unsafe.Pointer(&m)), uintptr(m.size)); ok == 0 {
		return 0
	}
	return uint64(m.workingSet)
}
