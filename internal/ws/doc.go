// Package ws is the client's side of WebSocket (RFC 6455), as much of it as CDP
// needs: the handshake, and frames in buffers that belong to the caller. There
// are no extensions, no streams and no goroutines in it.
//
// A connection of a library keeps a buffer for each direction for as long as it
// lives, passes every message through both, and writes only on a goroutine that
// may be held up. With thousands of links that are idle nearly always, a link
// here holds no buffer while it is idle ([Conn.Read]), a message is looked at
// where the kernel put it, and a command goes out on the goroutine of whoever
// gives it as long as the socket takes it at once ([Conn.TryWrite]).
package ws
