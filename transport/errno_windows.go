package transport

import "golang.org/x/sys/windows"

// The system's numbers of network errors that this package tells apart. Sockets of
// Windows give those of Winsock, which are not the ones of package syscall.
const (
	errnoRefused         = windows.WSAECONNREFUSED
	errnoReset           = windows.WSAECONNRESET
	errnoBrokenPipe      = windows.WSAECONNABORTED
	errnoTimedOut        = windows.WSAETIMEDOUT
	errnoHostUnreachable = windows.WSAEHOSTUNREACH
	errnoNetUnreachable  = windows.WSAENETUNREACH
	errnoNoAddress       = windows.WSAEADDRNOTAVAIL
	errnoProcessFiles    = windows.WSAEMFILE
	errnoSystemFiles     = windows.ERROR_TOO_MANY_OPEN_FILES
	errnoNoBuffers       = windows.WSAENOBUFS
	errnoNoMemory        = windows.ERROR_NOT_ENOUGH_MEMORY
)
