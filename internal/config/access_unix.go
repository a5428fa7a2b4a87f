//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnAlone says whether a file is the process's user's, who alone may read it.
func isOwnAlone(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
