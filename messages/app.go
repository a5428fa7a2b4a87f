package messages

import (
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of an application's arguments.
const (
	MaxAppArgs = 64
	MaxAppArg  = 4096 // bytes, of the path too
)

// appFlags are the arguments that the node gives an application itself, or that would open
// another way to it.
var appFlags = []string{
	"--remote-debugging-port", "--remote-debugging-pipe", "--remote-debugging-address", "--remote-debugging-io-pipes", "--remote-debugging-socket-name",
	"--remote-allow-origins", "--user-data-dir", "--database", "--crash-dumps-dir", "--inspect", "--inspect-brk", "--inspect-port", "--inspect-publish-uid",
}

// App is the application that the task launches; "" for a browser.
func (s TaskSpec) App() string {
	if s.Launch == nil {
		return ""
	}
	return s.Launch.App
}

// checkApp refuses a path and arguments that no application can be launched with (W30).
func (l *LaunchSpec) checkApp() error {
	switch {
	case l == nil:
		return nil
	case l.App == "" && len(l.Args) > 0:
		return Errorf(CodeInvalidArgument, "launch.args go with launch.app; the operator sets the arguments of browsers")
	case l.App == "":
		return nil
	case l.Headless != nil:
		return Errorf(CodeInvalidArgument, "launch.headless is of browsers; an application has its own arguments")
	case len(l.App) > MaxAppArg || !filepath.IsAbs(l.App) || filepath.Clean(l.App) != l.App || strings.ContainsRune(l.App, 0):
		return Errorf(CodeInvalidArgument, "launch.app must be the absolute path of an executable file")
	case len(l.Args) > MaxAppArgs:
		return Errorf(CodeInvalidArgument, "launch.args: at most %d", MaxAppArgs)
	}
	for _, a := range l.Args {
		name, _, _ := strings.Cut(a, "=")
		// Chromium takes one dash as well, and letter case counts on some systems alone.
		name = "--" + strings.ToLower(strings.TrimLeft(name, "-/"))
		switch {
		case len(a) > MaxAppArg || strings.ContainsRune(a, 0):
			return Errorf(CodeInvalidArgument, "launch.args: at most %d bytes each", MaxAppArg)
		case slices.Contains(appFlags, name):
			return Errorf(CodeInvalidArgument, "launch.args: %s is the node's to set", name)
		case a == "--":
			return Errorf(CodeInvalidArgument, "launch.args: -- would hide the node's own arguments")
		}
	}
	return nil
}

func (l *LaunchSpec) isSameApp(o *LaunchSpec) bool {
	return l.App == o.App && slices.Equal(l.Args, o.Args)
}
