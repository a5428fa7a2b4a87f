package main

import (
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notify tells systemd, or whoever else has set NOTIFY_SOCKET. What stays in the
// environment no browser gets to see (internal/browser).
func notify(state string) error {
	_, err := daemon.SdNotify(false, state)
	return err
}

// watchdog is within which time systemd wants to hear of us; 0 is never.
func watchdog() (time.Duration, error) { return daemon.SdWatchdogEnabled(false) }
