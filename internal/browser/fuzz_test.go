package browser_test

import (
	"testing"

	"holdfast/internal/browser"
)

func TestArgumentsAreMatchedWhole(t *testing.T) {
	t.Parallel()
	const flag = "--user-data-dir=/s/p/0123"
	for cmdline, want := range map[string]bool{
		"chromium\x00--user-data-dir=/s/p/0123\x00about:blank\x00": true,
		"chromium --type=renderer --user-data-dir=/s/p/0123 --x":   true, // forked from the zygote
		"chromium\x00--user-data-dir=/s/p/0123":                    true,
		"--user-data-dir=/s/p/0123\x00":                            true,
		"chromium\x00--user-data-dir=/s/p/01234\x00":               false,
		"chromium\x00--user-data-dir=/s/p/0123/sub\x00":            false,
		"chromium\x00x--user-data-dir=/s/p/0123\x00":               false,
		"x--user-data-dir=/s/p/0123 --user-data-dir=/s/p/0123\x00": true,
		"": false,
	} {
		if got := browser.HasArgument([]byte(cmdline), flag); got != want {
			t.Errorf("HasArgument(%q) = %v, want %v", cmdline, got, want)
		}
	}
}

func FuzzParseLease(f *testing.F) {
	f.Add([]byte(`{"version":1,"nonce":"0123456789abcdef","profile":"/s/profiles/0123456789abcdef","boot":{"id":"b","pid_namespace":"n"},"owner":{"pid":7,"start":9},"browser":{"pid":8,"start":10},"process_group":8}`))
	f.Add([]byte(`{"version":1,"owner":{"pid":-1}}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		// Whatever the file says, a lease of this name is only accepted for
		// the profile of this name.
		if browser.ParseLease("/elsewhere", "0123456789abcdef", raw) == nil &&
			browser.ParseLease("/s", "0123456789abcdef", raw) == nil {
			t.Error("one lease for two profiles")
		}
	})
}
