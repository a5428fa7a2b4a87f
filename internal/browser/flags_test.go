package browser_test

import (
	"slices"
	"testing"

	"holdfast/internal/browser"
)

// TestT36_LaunchFlags: a proxy and its flags are for those browsers alone that have one, the
// operator's flags come before what ownership leans on, and the sandbox stays where it works.
func TestT36_LaunchFlags(t *testing.T) {
	t.Parallel()
	plain := browser.Arguments("/profile", browser.LaunchOptions{IsHeadless: true}, []string{"--lang=de"}, true)
	for _, want := range []string{"--no-first-run", "--disable-renderer-backgrounding", "--headless=new", "--lang=de", "--user-data-dir=/profile", "--remote-debugging-pipe"} {
		if !slices.Contains(plain, want) {
			t.Errorf("no %s in %q", want, plain)
		}
	}
	for _, no := range []string{"--no-sandbox", "--proxy-bypass-list=<-loopback>"} {
		if slices.Contains(plain, no) {
			t.Errorf("%s in %q", no, plain)
		}
	}
	if slices.Index(plain, "--lang=de") > slices.Index(plain, "--user-data-dir=/profile") {
		t.Errorf("the operator's flags come last: %q", plain)
	}
	proxied := browser.Arguments("/profile", browser.LaunchOptions{Proxy: "127.0.0.1:9"}, nil, false)
	for _, want := range []string{"--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--no-sandbox"} {
		if !slices.Contains(proxied, want) {
			t.Errorf("no %s in %q", want, proxied)
		}
	}
	if slices.Contains(proxied, "--headless=new") {
		t.Errorf("headless: %q", proxied)
	}
}
