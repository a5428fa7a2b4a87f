//go:build !linux

package gateway

import "net"

// hasNothingUnsent is known on Linux alone.
func hasNothingUnsent(*net.TCPConn) bool { return false }
