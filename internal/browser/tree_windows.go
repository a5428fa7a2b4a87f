package browser

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is the processes of one browser, which are a job. The job ends with its last
// handle, and all of its processes with it: a node that dies takes its browsers along.
type tree struct {
	leader int

	mu  sync.Mutex
	job windows.Handle // 0 once it is closed
}

// newTree makes a job, and has cmd begin suspended: not one process may be outside. A
// process group of its own keeps Ctrl-C from it.
func newTree(cmd *exec.Cmd) (*tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("job: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
	return &tree{job: job}, nil
}

// begin takes in cmd, which was started suspended, and has it run.
func (t *tree) begin(cmd *exec.Cmd) error {
	t.leader = cmd.Process.Pid
	var assigned error
	err := cmd.Process.WithHandle(func(process uintptr) {
		assigned = windows.AssignProcessToJobObject(t.job, windows.Handle(process))
	})
	if err := errors.Join(err, assigned); err != nil {
		return fmt.Errorf("put the browser into its job: %w", err)
	}
	if err := resume(uint32(t.leader)); err != nil {
		return fmt.Errorf("run the browser: %w", err)
	}
	return nil
}

// resume has the threads of a suspended process run: there is one.
func resume(pid uint32) error {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(list)
	resumed := 0
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(list, &entry); err == nil; err = windows.Thread32Next(list, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		if err := errors.Join(err, windows.CloseHandle(thread)); err != nil {
			return err
		}
		resumed++
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return err
	}
	if resumed == 0 {
		return errors.New("it has no thread")
	}
	return nil
}

// hasAsked asks nothing: Windows has no signal for a browser without a window. Its profile
// goes with it, so that nothing is lost.
func (t *tree) hasAsked() bool { return false }

// kill ends every process of the browser.
func (t *tree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
	}
}

// maxMembers bounds the processes that are looked at; a browser has dozens.
const maxMembers = 4096

// jobProcesses is JOBOBJECT_BASIC_PROCESS_ID_LIST.
type jobProcesses struct {
	assigned, listed uint32
	pids             [maxMembers]uintptr
}

// members returns what tells whether a process is one of the browser's, as of now.
func (t *tree) members() func(procStat) bool {
	in := map[int]bool{}
	t.mu.Lock()
	defer t.mu.Unlock()
	list := new(jobProcesses)
	if t.job != 0 && windows.QueryInformationJobObject(t.job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(list)), uint32(unsafe.Sizeof(*list)), nil) == nil {
		for _, pid := range list.pids[:min(list.listed, maxMembers)] {
			in[int(pid)] = true
		}
	}
	return func(s procStat) bool { return in[s.PID] }
}

// close gives up the tree, and ends what is left of it.
func (t *tree) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.CloseHandle(t.job)
		t.job = 0
	}
}
