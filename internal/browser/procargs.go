package browser

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// parseArguments reads what macOS has under kern.procargs2: the number of arguments in
// four bytes, the program's path, NULs up to a word's end, the arguments, and the
// environment, which is left out. All texts end with a NUL. It stands in a file of every
// system so that it is fuzzed on Linux.
func parseArguments(raw []byte) (program string, arguments []byte, err error) {
	errUnreadable := errors.New("unreadable arguments of a process")
	if len(raw) < 4 {
		return "", nil, errUnreadable
	}
	count := binary.NativeEndian.Uint32(raw)
	path, rest, isFound := bytes.Cut(raw[4:], []byte{0})
	if !isFound {
		return "", nil, errUnreadable
	}
	rest = bytes.TrimLeft(rest, "\x00")
	length := 0
	for range count {
		end := bytes.IndexByte(rest[length:], 0)
		if end < 0 {
			return "", nil, errUnreadable
		}
		length += end + 1
	}
	return string(path), rest[:length], nil
}
