package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"holdfast/internal/browser"
	"holdfast/messages"
)

// checkApp refuses an application that may not be launched (W30): a process of it runs on the
// node's machine, so that a scoped caller never may, and no other unless the operator says so.
func (n *Node) checkApp(ctx context.Context, path string) error {
	if messages.CallerOf(ctx).IsScoped {
		return errAppScoped()
	}
	_, err := n.allowedApp(path)
	return err
}

func errAppScoped() error {
	return messages.Errorf(messages.CodeForbidden, "launch.app wants the admin token: an application runs on the node's machine")
}

// allowedApp returns the file that an application's path leads to, which is what may be launched: a
// link may be turned elsewhere meanwhile. It refuses an application that the node's operator does
// not allow, also of a task that an admin has started elsewhere.
func (n *Node) allowedApp(path string) (file string, err error) {
	file, err = filepath.EvalSymlinks(path)
	if isDenied := isAmongApps(n.cfg.AppsDenied, path) || isAmongApps(n.cfg.AppsDenied, file); isDenied || !isAmongApps(n.cfg.Apps, path) || err == nil && !isAmongApps(n.cfg.Apps, file) {
		return "", messages.Errorf(messages.CodeForbidden, "this node does not launch the application; the node's operator allows paths with browser.apps")
	}
	if err != nil {
		return "", messages.Errorf(messages.CodeInvalidArgument, "launch.app: there is no such file")
	}
	switch info, err := os.Stat(file); {
	case err != nil:
		return "", messages.Errorf(messages.CodeInvalidArgument, "launch.app: the file cannot be looked at")
	case !info.Mode().IsRegular():
		return "", messages.Errorf(messages.CodeInvalidArgument, "launch.app is no file; of a bundle name the executable in it, such as NAME.app/Contents/MacOS/NAME")
	}
	return file, nil
}

// launchOptions are those of a task's browser. An application is looked at anew each time, since
// its path may lead elsewhere by then.
func (n *Node) launchOptions(spec *messages.TaskSpec) (browser.LaunchOptions, error) {
	o := browser.LaunchOptions{IsHeadless: spec.IsHeadless() && spec.App() == "", Args: spec.Launch.Args}
	if spec.App() == "" {
		return o, nil
	}
	file, err := n.allowedApp(spec.App())
	o.App = file
	return o, err
}

// checkApps refuses settings that no application would ever fit.
func checkApps(cfg Config) error {
	for _, path := range slices.Concat(cfg.Apps, cfg.AppsDenied) {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("holdfast: browser.apps: %q is no absolute path", path)
		}
	}
	return nil
}

// isAmongApps says whether a list has a file: by its path, by a directory above it that is
// written with a separator at the end, or by a link to either.
func isAmongApps(list []string, file string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		isDir := strings.HasSuffix(entry, string(filepath.Separator))
		if resolved, err := filepath.EvalSymlinks(entry); err == nil {
			if file == resolved || isDir && strings.HasPrefix(file, resolved+string(filepath.Separator)) {
				return true
			}
		}
		return file == entry || isDir && strings.HasPrefix(file, entry)
	})
}
