package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes.
type Size int64

// sizeUnits are what a size can be written in, the largest first within its
// family: a size prints in the first one that divides it.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
}

var errSize = errors.New("not a size")

// ParseSize reads a whole number of bytes, or of a unit: KiB, MiB, GiB, TiB are
// powers of 1024, kB, MB, GB, TB powers of 1000. Letters' case does not matter.
func ParseSize(s string) (Size, error) {
	number, unit := s, int64(1)
	for _, u := range sizeUnits {
		if cut := len(s) - len(u.name); cut > 0 && strings.EqualFold(s[cut:], u.name) {
			number, unit = strings.TrimRight(s[:cut], " "), u.bytes
			break
		}
	}
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return 0, errSize
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return 0, errSize
	}
	return Size(n * unit), nil
}

// String writes the size in the largest binary unit that divides it.
func (s Size) String() string {
	if s > 0 {
		for _, u := range sizeUnits[:4] {
			if int64(s)%u.bytes == 0 {
				return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
			}
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
