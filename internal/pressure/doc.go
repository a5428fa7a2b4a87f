// Package pressure reads how much of the machine's memory and processors is in
// use, as the process may use them: within its control group, and where there
// is none, or none with a limit, of the whole host.
//
//	cgroup v2   memory.current less inactive_file, of memory.max, at every level
//	            up the tree; cpu.pressure
//	cgroup v1   memory.usage_in_bytes less total_inactive_file, of
//	            memory.limit_in_bytes, likewise
//	host        MemTotal less MemAvailable, of MemTotal; /proc/pressure/cpu
//
// On macOS and Windows it is the host's memory alone; nothing is read of processors
// there.
//
// What is reckoned in use is what Kubernetes calls the working set: file pages
// that were not touched lately are given back for the asking. Of several levels
// the one that is closest to its limit counts, for each can end the process.
//
// It decides nothing: thresholds are its callers'.
package pressure
