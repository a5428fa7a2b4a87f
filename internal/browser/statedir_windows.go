package browser

import (
	"fmt"
	"os"
)

// CheckStateDir refuses a state directory that is not there. Who may write to it is its
// access list's to say, which is not read: the usual place is in the user's own profile.
func CheckStateDir(dir string) (warning string, err error) {
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	return "", nil
}
