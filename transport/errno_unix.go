//go:build unix

package transport

import "syscall"

// The system's numbers of network errors that this package tells apart.
const (
	errnoRefused         = syscall.ECONNREFUSED
	errnoReset           = syscall.ECONNRESET
	errnoBrokenPipe      = syscall.EPIPE
	errnoTimedOut        = syscall.ETIMEDOUT
	errnoHostUnreachable = syscall.EHOSTUNREACH
	errnoNetUnreachable  = syscall.ENETUNREACH
	errnoNoAddress       = syscall.EADDRNOTAVAIL
	errnoProcessFiles    = syscall.EMFILE
	errnoSystemFiles     = syscall.ENFILE
	errnoNoBuffers       = syscall.ENOBUFS
	errnoNoMemory        = syscall.ENOMEM
)
