//go:build !linux

package browser

// lacksSharedMemory says no: what Chromium's processes share has no fixed size here.
func lacksSharedMemory() bool { return false }
