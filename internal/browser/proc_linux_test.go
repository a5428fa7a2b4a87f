package browser_test

import (
	"testing"

	"holdfast/internal/browser"
)

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("10982 (chromium) S 10979 10982 10982 0 -1 4194560 1 2 3 4 5 6 7 8 20 -1 30 0 123456 1 2 3"))
	f.Add([]byte("7 (a) b) (c) Z 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 -1 30 0 99"))
	f.Add([]byte("7 )("))
	f.Fuzz(func(t *testing.T, raw []byte) {
		pid, start, err := browser.ParseStat(raw)
		if err != nil && (pid != 0 || start != 0) {
			t.Errorf("an error with values %d, %d", pid, start)
		}
	})
}
