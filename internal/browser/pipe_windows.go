package browser

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// connectPipes gives cmd two handles, and names them to Chromium in a flag, as
// chromedriver does. Started has to be called once cmd was started, or was not.
func connectPipes(cmd *exec.Cmd) (ends *pipeEnds, started func(), err error) {
	to, theirsIn, err := oneWayPipe(windows.PIPE_ACCESS_OUTBOUND, windows.GENERIC_READ)
	if err != nil {
		return nil, nil, err
	}
	from, theirsOut, err := oneWayPipe(windows.PIPE_ACCESS_INBOUND, windows.GENERIC_WRITE)
	if err != nil {
		_, _ = to.Close(), windows.CloseHandle(theirsIn)
		return nil, nil, err
	}
	cmd.SysProcAttr.AdditionalInheritedHandles = []syscall.Handle{syscall.Handle(theirsIn), syscall.Handle(theirsOut)}
	// Before the page that is opened, the last argument.
	cmd.Args = slices.Insert(cmd.Args, len(cmd.Args)-1, fmt.Sprintf("--remote-debugging-io-pipes=%d,%d", uint32(theirsIn), uint32(theirsOut)))
	return &pipeEnds{from: from, to: to}, func() {
		_, _ = windows.CloseHandle(theirsIn), windows.CloseHandle(theirsOut)
	}, nil
}

// oneWayPipe makes a pipe of one direction. Our end is known to the runtime's poller,
// so that it has deadlines; the browser's blocks and is inherited. Anonymous pipes have
// no deadlines, hence a named one; its name is a secret, and it takes one client alone,
// which is connected before the function returns.
func oneWayPipe(direction, theirRights uint32) (ours *os.File, theirs windows.Handle, err error) {
	name, err := windows.UTF16PtrFromString(`\\.\pipe\holdfast-` + rand.Text())
	if err != nil {
		return nil, 0, fmt.Errorf("pipe: %w", err)
	}
	server, err := windows.CreateNamedPipe(
		name, direction|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_READMODE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS,
		1, pipeCapacity, pipeCapacity, 0, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("pipe: %w", err)
	}
	inherited := windows.SecurityAttributes{InheritHandle: 1}
	inherited.Length = uint32(unsafe.Sizeof(inherited))
	theirs, err = windows.CreateFile(name, theirRights, 0, &inherited, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		_ = windows.CloseHandle(server)
		return nil, 0, fmt.Errorf("pipe: %w", err)
	}
	// It is connected already, which the call says in an error.
	if err := windows.ConnectNamedPipe(server, new(windows.Overlapped)); err != nil && !errors.Is(err, windows.ERROR_PIPE_CONNECTED) {
		_, _ = windows.CloseHandle(server), windows.CloseHandle(theirs)
		return nil, 0, fmt.Errorf("pipe: %w", err)
	}
	return os.NewFile(uintptr(server), "pipe"), theirs, nil
}
