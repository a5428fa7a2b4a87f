package transport

import (
	"errors"
	"net"
	"strings"
	"syscall"

	"holdfast/messages"
)

// Shortage names what a node had none left of when it dialled: it is its own fault,
// not the browser's.
type Shortage string

// The shortages.
const (
	ShortDescriptors Shortage = "descriptors" // EMFILE, ENFILE
	ShortPorts       Shortage = "ports"       // EADDRNOTAVAIL
	ShortBuffers     Shortage = "buffers"     // ENOBUFS, ENOMEM
)

// Shortages lists every shortage.
func Shortages() []Shortage { return []Shortage{ShortDescriptors, ShortPorts, ShortBuffers} }

// Sentence says to people what is missing, and where to look.
func (s Shortage) Sentence() string {
	switch s {
	case ShortDescriptors:
		return "this node has no file descriptor left (LimitNOFILE)"
	case ShortPorts:
		return "this machine has no local port left for another connection (net.ipv4.ip_local_port_range)"
	}
	return "this machine has no memory left for another socket"
}

// ShortageError is a dial that failed for want of something of the node's own. It
// wraps a [*messages.Error] and holds no credential.
type ShortageError struct {
	Of  Shortage
	err *messages.Error
}

// Error implements error.
func (e *ShortageError) Error() string { return e.err.Error() }

// Unwrap gives the [*messages.Error].
func (e *ShortageError) Unwrap() error { return e.err }

// isToIPv4 says that err is of a connection to an IPv4 address. Where a machine has no
// IPv6, every connection to an address of it is refused in the words for want of a port.
func isToIPv4(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return false
	}
	addr, ok := op.Addr.(*net.TCPAddr)
	return ok && addr.IP.To4() != nil
}

// shortageIn is what err says the node has none left of, or "". The resolver keeps of
// an error its text alone.
func shortageIn(err error, dns *net.DNSError) Shortage {
	is := func(numbers ...syscall.Errno) bool {
		for _, n := range numbers {
			if errors.Is(err, n) || dns != nil && strings.Contains(dns.Err, n.Error()) {
				return true
			}
		}
		return false
	}
	switch {
	case is(errnoProcessFiles, errnoSystemFiles):
		return ShortDescriptors
	case is(errnoNoAddress) && isToIPv4(err):
		return ShortPorts
	case is(errnoNoBuffers, errnoNoMemory):
		return ShortBuffers
	}
	return ""
}
