package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// signals turns the signals of the process into requests to a command:
//
//   - the first SIGTERM or SIGINT asks for an orderly end, the second for an end
//     at once, the third is one. No default disposition is leaned on: to pid 1
//     of a container the kernel delivers none.
//   - SIGHUP asks a daemon to read its configuration again. It ends any other
//     command, and a daemon whose terminal has gone.
//   - SIGPIPE ends no daemon: a log without a reader is no reason to leave
//     browsers behind.
//
// Windows has none of these but by Go's translation: Ctrl-C is SIGINT; a console that
// is closed, and a user that logs off, are SIGTERM. There the configuration is read at
// the start alone.
type signals struct {
	end    func(by syscall.Signal)
	hurry  chan struct{}
	reload chan struct{} // room for one: what is asked for twice is read once
	daemon atomic.Bool
	// hasTerminal says that there was one to hang up.
	hasTerminal bool
}

// hurryTime is what an end at once may take.
const hurryTime = 2 * time.Second

// listen hears signals from here on; end is called for the first one that asks
// for an end.
func listen(end func(by syscall.Signal)) *signals {
	s := &signals{end: end, hurry: make(chan struct{}), reload: make(chan struct{}, 1), hasTerminal: hasTerminal()}
	in := make(chan os.Signal, 8)
	signal.Notify(in, ending()...)
	go s.hear(in)
	return s
}

// hear never ends: neither does the wish to end.
func (s *signals) hear(in <-chan os.Signal) {
	asked := 0
	for sig := range in {
		if sig == syscall.SIGHUP {
			if s.daemon.Load() && !(s.hasTerminal && !hasTerminal()) {
				select {
				case s.reload <- struct{}{}:
				default:
				}
				continue
			}
			if asked > 0 {
				continue // a terminal that goes says so by way of its shell, too
			}
		}
		switch asked++; asked {
		case 1:
			by, _ := sig.(syscall.Signal)
			s.end(by)
		case 2:
			close(s.hurry)
			time.AfterFunc(hurryTime, func() { os.Exit(1) })
		default:
			os.Exit(1)
		}
	}
}

// becomeDaemon changes what SIGHUP and SIGPIPE mean.
func (s *signals) becomeDaemon() (reload <-chan struct{}) {
	s.daemon.Store(true)
	// Heard and dropped, not ignored: browsers would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s.reload
}

// heeded are the signals that a node acts on.
var heeded = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// ending are the signals that end a command. One that the process was started
// to ignore, as nohup does with a hangup, stays ignored.
func ending() []os.Signal {
	var out []os.Signal
	for _, s := range heeded {
		if !signal.Ignored(s) {
			out = append(out, s)
		}
	}
	return out
}

// ignored are the names of the signals that the process was started to ignore.
func ignored() []string {
	var out []string
	for _, s := range heeded {
		if signal.Ignored(s) {
			out = append(out, signalName(s))
		}
	}
	return out
}

// receivedError is the end that a signal asked for.
type receivedError syscall.Signal

// Error names the signal.
func (e receivedError) Error() string { return "received " + signalName(syscall.Signal(e)) }

// signalName is the usual name of a signal in heeded.
func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGINT:
		return "SIGINT"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return s.String()
}

// hasTerminal says whether the process has a controlling terminal; one that
// was hung up is none any more.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	_ = tty.Close()
	return true
}
