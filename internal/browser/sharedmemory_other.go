//go:build !linux

package browser

// needsSharedMemory says no: what Chromium's processes share has no fixed size here.
func needsSharedMemory() bool { return false }
