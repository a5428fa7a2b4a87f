//go:build unix

package token

import (
	"io/fs"
	"os"
	"syscall"
)

// openWithoutWait opens a pipe at once that has no writer.
const openWithoutWait = syscall.O_NONBLOCK

// access returns whose a file is, and whether it is its owner's alone.
func access(info fs.FileInfo) (owner int, isPrivate bool) {
	self := os.Geteuid()
	owner = self
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = int(st.Uid)
	}
	return owner, isPrivateMode(info.Mode().Perm(), owner, self)
}
