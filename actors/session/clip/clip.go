// Package clip cuts what a browser or a page says to a length.
package clip

import "strings"

// What is kept of a text that a browser or a page says, in bytes.
const (
	MaxID         = 256
	MaxURL        = 2000     // data: URLs can be megabytes, and a snapshot is read often
	MaxDialogText = 64 << 10 // Chrome's own bound is below (C2)
)

// Bytes is clip for bytes, of which it keeps none.
func Bytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && b[n]&0xC0 == 0x80 {
		n--
	}
	return b[:n]
}

// Text cuts s to at most n bytes without splitting a character, and keeps
// nothing of the rest: the address of a page may be megabytes of data.
func Text(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return strings.Clone(s[:n])
}
