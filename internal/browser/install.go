package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"holdfast/internal/redact"
)

// Ensure returns the path of a browser, installing Debian's package where
// there is none and this process may: as root, on a machine with apt. In any
// other case the error of [Find] says what to do. Progress goes to out.
//
// A binary that was named but is not there is never replaced by another.
func Ensure(ctx context.Context, explicit string, out io.Writer) (string, error) {
	path, err := Find(explicit)
	if !errors.Is(err, ErrNotFound) {
		return path, err
	}
	apt, aptErr := exec.LookPath("apt-get")
	if aptErr != nil || os.Geteuid() != 0 {
		return "", err
	}
	fmt.Fprintln(out, "No Chromium found: installing Debian's package chromium (this takes a minute) …")
	for _, args := range [][]string{{"update"}, {"install", "--yes", "--no-install-recommends", "chromium"}} {
		if err := runQuietly(ctx, apt, args...); err != nil {
			return "", fmt.Errorf("no Chromium found, and apt-get %s failed: %w", args[0], err)
		}
	}
	return Find(explicit)
}

// runQuietly shows a command's output only when the command fails, and of it
// the end.
func runQuietly(ctx context.Context, name string, args ...string) error {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		tail := output.Bytes()
		tail = tail[max(0, len(tail)-2000):]
		return fmt.Errorf("%w\n%s", err, redact.Text(string(tail)))
	}
	return nil
}
