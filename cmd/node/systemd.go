package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// notifyTime is how long a manager may take to listen. One that does not must
// not hold up a node's end: a datagram to a full socket waits.
const notifyTime = time.Second

// notify tells systemd, or another supervisor that has set NOTIFY_SOCKET, a state as in
// sd_notify(3); without the variable it does nothing. No browser gets the variable
// (internal/browser).
func notify(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	if !strings.HasPrefix(name, "@") && !filepath.IsAbs(name) { // @: an abstract socket
		return errors.New("NOTIFY_SOCKET is no socket of this machine")
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetWriteDeadline(time.Now().Add(notifyTime)); err != nil {
		return err
	}
	_, err = c.Write([]byte(state))
	return err
}

// watchdog is within which time systemd wants to hear of us, as
// sd_watchdog_enabled(3) says; 0 is never.
func watchdog() (time.Duration, error) {
	asked := os.Getenv("WATCHDOG_USEC")
	if asked == "" {
		return 0, nil
	}
	if of := os.Getenv("WATCHDOG_PID"); of != "" && of != strconv.Itoa(os.Getpid()) {
		return 0, nil // it is for another process
	}
	usec, err := strconv.ParseUint(asked, 10, 63)
	if err != nil || usec == 0 || usec > uint64(maxWatchdog/time.Microsecond) {
		return 0, fmt.Errorf("WATCHDOG_USEC must be between 1 and %d", maxWatchdog/time.Microsecond)
	}
	return max(time.Duration(usec)*time.Microsecond, minWatchdog), nil
}

const (
	minWatchdog = 10 * time.Millisecond // or telling would be all we do
	maxWatchdog = 24 * time.Hour
)
