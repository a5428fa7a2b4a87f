//go:build !linux

package browser

import "time"

// exitPoll is how often a child is looked at where the system does not report its end.
const exitPoll = 100 * time.Millisecond

// pollExit returns when the child has ended.
func pollExit(pid int) {
	for {
		if s, err := readStat(pid); err != nil || s.hasEnded() {
			return
		}
		time.Sleep(exitPoll)
	}
}
