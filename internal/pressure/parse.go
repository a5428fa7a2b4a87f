package pressure

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// groups are the paths of the process's control groups, "" for none.
type groups struct{ unified, memory string }

// parseGroups reads /proc/self/cgroup: lines of ID:CONTROLLERS:PATH.
func parseGroups(b []byte) groups {
	var g groups
	for line := range strings.Lines(string(b)) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		if !ok || !strings.HasPrefix(path, "/") {
			continue
		}
		if id == "0" && controllers == "" {
			g.unified = path
		}
		for c := range strings.SplitSeq(controllers, ",") {
			if c == "memory" {
				g.memory = path
			}
		}
	}
	return g
}

// parseBytes reads a file with one number. "max" is none.
func parseBytes(b []byte) (uint64, bool) {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	return n, err == nil
}

// parseStat returns a line of memory.stat, 0 where it is not there.
func parseStat(b []byte, name string) uint64 {
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, " "); ok && key == name {
			n, _ := parseBytes([]byte(value))
			return n
		}
	}
	return 0
}

// parseMeminfo reads /proc/meminfo, whose numbers are in KiB.
func parseMeminfo(b []byte) (Level, error) {
	total, totalOK := kib(b, "MemTotal:")
	available, availableOK := kib(b, "MemAvailable:")
	if !totalOK || !availableOK || total == 0 || available > total {
		return Level{}, ErrUnreadable
	}
	return Level{
		Used: float64(total-available) / float64(total), Bytes: total - available, Limit: total, Source: SourceHost,
	}, nil
}

func kib(b []byte, name string) (uint64, bool) {
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name && fields[2] == "kB" {
			n, err := strconv.ParseUint(fields[1], 10, 64)
			return n << 10, err == nil && n <= math.MaxUint64>>10
		}
	}
	return 0, false
}

// parseStall reads a file of pressure stall information: how much of the last
// ten seconds some thread was stalled, as a share of 1.
func parseStall(b []byte) (float64, bool) {
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "some" {
			continue
		}
		percent, ok := strings.CutPrefix(fields[1], "avg10=")
		if !ok {
			return 0, false
		}
		f, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(f >= 0 && f <= 100) {
			return 0, false
		}
		return f / 100, true
	}
	return 0, false
}
