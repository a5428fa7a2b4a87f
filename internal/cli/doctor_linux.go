package cli

import (
	"fmt"
	"syscall"
)

const (
	mendIsolation = "run the node as root, or let its user make user namespaces (in a container: a seccomp profile that allows unshare), or use a kernel with Landlock; browser.isolation: require refuses to launch without"
	mendSandbox   = "let unprivileged users make user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns), or run the node as a user that may; browser.sandbox: require refuses to launch without"
)

// sharedMemory is where Chromium keeps what its processes share.
const (
	sharedMemory    = "/dev/shm"
	minSharedMemory = 512 << 20
)

// checkShared looks at what Chromium shares between its processes.
func checkShared() []finding { return []finding{checkSharedMemory()} }

func checkSharedMemory() finding {
	f := finding{Check: "shared memory", Status: statusWarning}
	const mend = "give the container more (docker run --shm-size=1g); until then browsers are launched without it, and are slower"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(sharedMemory, &fs); err != nil {
		f.Found, f.Mend = sharedMemory+" cannot be used", mend
		return f
	}
	size := fs.Blocks * uint64(fs.Bsize)
	f.Found = fmt.Sprintf("%s has %d MiB", sharedMemory, size>>20)
	if size < minSharedMemory {
		f.Mend = mend
		return f
	}
	f.Status = statusOK
	return f
}
