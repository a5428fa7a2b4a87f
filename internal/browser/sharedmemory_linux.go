package browser

import "syscall"

// minSharedMemory is what /dev/shm must have for Chromium to use it, in bytes;
// renderers die of SIGBUS below that (containers give 64 MiB).
const minSharedMemory = 1 << 30

// needsSharedMemory says whether /dev/shm is too small for Chromium.
func needsSharedMemory() bool { return sharedMemory() < minSharedMemory }

// sharedMemory is what /dev/shm has free, in bytes; 0 when there is none.
func sharedMemory() uint64 {
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err != nil {
		return 0
	}
	return fs.Bavail * uint64(fs.Bsize)
}
