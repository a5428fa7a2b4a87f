//go:build unix

package browser

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// versionDeadline bounds [Version] for a binary that never ends.
const versionDeadline = 10 * time.Second

// Version asks the binary at path for its version, one line such as
// "Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)".
func Version(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = environment(nil)
	cmd.WaitDelay = time.Second
	var out strings.Builder
	cmd.Stdout = &limitedWriter{w: &out, left: 4096}
	done, err := start(cmd)
	if err != nil {
		return "", fmt.Errorf("browser version: %w", err)
	}
	defer done()
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("browser version: %w", err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	if line == "" {
		return "", fmt.Errorf("browser version: %s printed none", path)
	}
	return strings.TrimSpace(line), nil
}
