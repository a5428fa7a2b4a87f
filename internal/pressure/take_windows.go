package pressure

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// Take reads the host's memory. A limit of a job is not read, and Windows does not
// tell how long threads wait for a processor.
func Take() Sample {
	return Sample{Memory: hostMemory(), CPU: Level{Err: ErrUnreadable}}
}

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is MEMORYSTATUSEX; sizes are in bytes.
type memoryStatus struct {
	size, load                         uint32
	total, available                   uint64
	totalPageFile, availablePageFile   uint64
	totalVirtual, availableVirtual     uint64
	availableExtendedVirtualAlwaysZero uint64
}

func hostMemory() Level {
	var m memoryStatus
	m.size = uint32(unsafe.Sizeof(m))
	ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&m)))
	if ok == 0 || m.total == 0 || m.available > m.total {
		return Level{Err: ErrUnreadable}
	}
	used := m.total - m.available
	return Level{Used: float64(used) / float64(m.total), Bytes: used, Limit: m.total, Source: SourceHost}
}
