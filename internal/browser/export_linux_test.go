package browser

// ParseStat is parseStat, for its fuzz test.
func ParseStat(raw []byte) (pid int, start uint64, err error) {
	s, err := parseStat(raw)
	return s.PID, s.Start, err
}

// DefunctChildren is how many children of this process are dead and not
// waited for.
func DefunctChildren() int { return len(deadChildren()) }
