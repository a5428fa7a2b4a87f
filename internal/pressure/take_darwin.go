package pressure

import "golang.org/x/sys/unix"

// Take reads the host's memory. macOS has no limit for a group of processes, and does
// not tell how long threads wait for a processor.
func Take() Sample {
	return Sample{Memory: hostMemory(), CPU: Level{Err: ErrUnreadable}}
}

// hostMemory is what the command memory_pressure shows: kern.memorystatus_level is the
// share of memory that is available, in percent.
func hostMemory() Level {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil || total == 0 {
		return Level{Err: ErrUnreadable}
	}
	available, err := unix.SysctlUint32("kern.memorystatus_level")
	if err != nil || available > 100 {
		return Level{Err: ErrUnreadable}
	}
	used := float64(100-available) / 100
	return Level{Used: used, Bytes: uint64(used * float64(total)), Limit: total, Source: SourceHost}
}
