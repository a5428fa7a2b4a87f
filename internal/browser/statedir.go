package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// prepareStateDir makes the directories of leases and profiles. A user who can write there
// can put a lease, a profile or a token of their own in place, so it refuses what is
// not safe, or warns of it.
func prepareStateDir(dir string) (warning string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	warning, err = CheckStateDir(dir)
	if err != nil {
		return "", err
	}
	for _, sub := range []string{leasesDir, profilesDir} {
		path := filepath.Join(dir, sub)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("state directory: %w", err)
		}
		// No symbolic link in its place: profiles are removed recursively.
		info, err := os.Lstat(path)
		if err != nil {
			return "", fmt.Errorf("state directory: %w", err)
		}
		if !info.IsDir() {
			return "", fmt.Errorf("%s is not a directory", path)
		}
		if owner := ownerOf(info); owner != os.Geteuid() {
			return "", fmt.Errorf("%s belongs to user %d: remove it, or name another state directory", path, owner)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return "", fmt.Errorf("state directory: %w", err)
		}
	}
	return warning, nil
}
