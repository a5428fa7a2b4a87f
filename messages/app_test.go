package messages_test

import (
	"strings"
	"testing"

	"holdfast/messages"
)

func TestW30_AnApplicationsArguments(t *testing.T) {
	t.Parallel()
	app := func(path string, args ...string) messages.TaskSpec {
		return messages.TaskSpec{Launch: &messages.LaunchSpec{App: path, Args: args}}
	}
	for _, s := range []messages.TaskSpec{app("/opt/app"), app("/opt/app", "--lang=de", "file.txt", "-v")} {
		if err := s.Validate(); err != nil {
			t.Errorf("%v: %v", s.Launch, err)
		}
	}
	isHeadless := true
	for _, s := range []messages.TaskSpec{
		app("opt/app"), app("/opt/../app"), app("/opt/app\x00"), app("", "--lang=de"), app("/" + strings.Repeat("a", messages.MaxAppArg)),
		app("/opt/app", "--remote-debugging-port=9222"), app("/opt/app", "-remote-debugging-port=1"), app("/opt/app", "--user-data-dir", "/x"),
		app("/opt/app", "--Inspect=0.0.0.0:1"), app("/opt/app", "--"), app("/opt/app", "a\x00b"), app("/opt/app", make([]string, messages.MaxAppArgs+1)...),
		{Launch: &messages.LaunchSpec{App: "/opt/app", Headless: &isHeadless}},
		{Launch: &messages.LaunchSpec{App: "/opt/app"}, Isolation: messages.IsolationContext},
	} {
		if err := s.Validate(); messages.CodeOf(err) != messages.CodeInvalidArgument {
			t.Errorf("%v: %v", s.Launch, err)
		}
	}
	if one := app("/opt/app", "a"); one.IsSameBrowser(app("/opt/app", "b")) || one.IsSameBrowser(app("/opt/other", "a")) || !one.IsSameBrowser(app("/opt/app", "a")) {
		t.Error("what is the same application")
	}
}
