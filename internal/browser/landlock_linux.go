package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Rights of Landlock that the browser has everywhere but in what is closed to it, by the
// kernel's interface version: the second is for kernels before 6.2, which know neither
// truncation nor renaming between directories. Listing a directory and running a program
// are not governed: neither tells what a file holds.
const (
	fileRights landlock.AccessFSSet = llsyscall.AccessFSReadFile | llsyscall.AccessFSWriteFile
	treeRights landlock.AccessFSSet = fileRights | llsyscall.AccessFSRemoveDir | llsyscall.AccessFSRemoveFile |
		llsyscall.AccessFSMakeChar | llsyscall.AccessFSMakeDir | llsyscall.AccessFSMakeReg | llsyscall.AccessFSMakeSock |
		llsyscall.AccessFSMakeFifo | llsyscall.AccessFSMakeBlock | llsyscall.AccessFSMakeSym
	newFileRights landlock.AccessFSSet = llsyscall.AccessFSTruncate
	newTreeRights landlock.AccessFSSet = llsyscall.AccessFSTruncate | llsyscall.AccessFSRefer
)

// abiOfTruncate is the version of Landlock that governs truncation, of Linux 6.2.
const abiOfTruncate = 3

// confine takes from this process, and what it runs, the files of closed and below it,
// but for keep. It also keeps the process from looking into others (ptrace(2)), through
// whose entries in /proc those files could be reached.
//
// Landlock has no rule that denies, so everything beside the way to what is closed is
// allowed, as it is now: what is made later in one of the directories on that way, and
// not below one of their entries, is closed as well.
func confine(closed []string, keep string) error {
	version, err := llsyscall.LandlockGetABIVersion()
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	files, trees := fileRights, treeRights
	if version >= abiOfTruncate {
		files, trees = files|newFileRights, trees|newTreeRights
	}
	config, err := landlock.NewConfig(trees)
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	var whole []string
	for _, path := range closed {
		real, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // nothing to close
		}
		if err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
		whole = append(whole, real)
	}
	rules := []landlock.Rule{landlock.PathAccess(trees, keep)}
	if err := open(string(filepath.Separator), whole, files, trees, &rules); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := config.RestrictPaths(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// open allows what is in dir but for what is closed.
func open(dir string, closed []string, files, trees landlock.AccessFSSet, rules *[]landlock.Rule) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		holds := func(c string) bool { return c == path || strings.HasPrefix(c, path+string(filepath.Separator)) }
		switch {
		case slices.Contains(closed, path):
		case slices.ContainsFunc(closed, holds):
			if err := open(path, closed, files, trees, rules); err != nil {
				return err
			}
		case e.Type()&fs.ModeSymlink != 0:
			// A rule would hold for what it leads to, which may be closed; that has a rule of its own.
		case e.IsDir():
			*rules = append(*rules, landlock.PathAccess(trees, path).IgnoreIfMissing())
		default:
			*rules = append(*rules, landlock.PathAccess(files, path).IgnoreIfMissing())
		}
	}
	return nil
}
