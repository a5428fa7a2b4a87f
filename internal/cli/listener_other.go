//go:build !linux

package cli

// takeWaiting takes in no connection: the runtime alone accepts here, and a connection
// that was not accepted yet is reset with the listener.
func (d *drainingListener) takeWaiting() error { return nil }
