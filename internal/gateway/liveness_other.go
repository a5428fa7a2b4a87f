//go:build !linux

package gateway

import (
	"net"
	"time"
)

// limitUnacked is Linux's own. Elsewhere the kernel's retransmissions end the connection.
func limitUnacked(*net.TCPConn, time.Duration) {}
