package browser_test

import (
	"bytes"
	"encoding/binary"
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

// procArguments are the bytes that macOS gives for a process.
func procArguments(count uint32, texts string) []byte {
	return append(binary.NativeEndian.AppendUint32(nil, count), texts...)
}

func TestArgumentsOfAProcessOnMacOS(t *testing.T) {
	t.Parallel()
	raw := procArguments(2, "/Applications/Chromium.app/x\x00\x00\x00\x00x\x00--user-data-dir=/s/p/0123\x00HOME=/h\x00--user-data-dir=/s/p/4567\x00")
	program, arguments, err := browser.ParseArguments(raw)
	if err != nil || program != "/Applications/Chromium.app/x" || string(arguments) != "x\x00--user-data-dir=/s/p/0123\x00" {
		t.Errorf("%q, %q, %v", program, arguments, err)
	}
	if browser.HasArgument(arguments, "--user-data-dir=/s/p/4567") {
		t.Error("a variable counts as an argument")
	}
	for _, raw := range [][]byte{nil, {1, 0, 0}, procArguments(1, "/x"), procArguments(1, "/x\x00"), procArguments(2, "/x\x00x\x00")} {
		if _, _, err := browser.ParseArguments(raw); err == nil {
			t.Errorf("%q is accepted", raw)
		}
	}
}

func FuzzParseArguments(f *testing.F) {
	f.Add(procArguments(2, "/x\x00\x00\x00x\x00y\x00HOME=/h\x00"))
	f.Add(procArguments(1<<31, "/x\x00x\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		program, arguments, err := browser.ParseArguments(raw)
		if err != nil && (program != "" || arguments != nil) {
			t.Errorf("an error with values %q, %q", program, arguments)
		}
		if !bytes.Contains(raw, []byte(program)) || !bytes.Contains(raw, arguments) {
			t.Error("more than there was")
		}
	})
}
